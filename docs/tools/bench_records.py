"""The records of ``benchmarks/results/*/*.json``, with readable names.

A record is one benchmark against one peer; benchmarks/README.md describes its fields.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"

Record = dict[str, Any]

NAMES = {
    # kernels
    "scan_sum": "running sum",
    "directory_commits": "running sum of groups to a directory that goes on",
    "directory_one_new_file": "one new file among many, to a directory that goes on",
    "directory_redo_day_180": "a directory of a year, with day 180 corrected",
    "directory_redo_short_days": "the same, of days of 20,000 rows",
    "scan_sum_classic": "running sum, schedule for older GPUs",
    "scan_sum_exclusive": "running sum, exclusive",
    "scan_sum_reverse": "running sum, reverse",
    "scan_sum_nulls": "running sum, 10 % null",
    "scan_sum_widening": "running sum to int64",
    "scan_sum_misaligned": "running sum of a slice [1:]",
    r"scan_sum_axis(\d)": "running sum of a 2-D array, axis {0}",
    r"scan_sum_axis0_of_(\d+)": "running sum of a 2-D array, axis 0, {0} columns",
    r"scan_sum_rows_of_(\d+)": "running sum of a 2-D array, rows of {0}",
    "scan_max|scan_maximum": "running maximum",
    "scan_min": "running minimum",
    "scan_add": "running sum",
    "scan_python": "an operator in Python",
    "scan_last_nulls": "forward fill, 10 % null",
    "scan_product": "running product",
    "scan_affine": "recurrence a y + b",
    "scan_welford": "running variance",
    "reduce_sum": "sum",
    "scan_sum_run_to_run": "running sum, the same on every run",
    "reduce_sum_run_to_run": "sum, the same on every run",
    "scan_sum_reproducible": "running sum, reproducible",
    "reduce_sum_reproducible": "sum, reproducible",
    r"select_(\d+)": "filter, {0} % kept",
    r"select_by_flags_(\d+)": "filter by a mask, {0} % kept",
    r"partition_(\d+)": "partition, {0} % kept",
    r"run_length_encode_(\d+)": "run lengths, runs of {0}",
    r"unique_(\d+)": "first row of each run, runs of {0}",
    r"reduce_by_key_(\d+)": "sum of each run, runs of {0}",
    r"scan_by_key_(\d+)": "running sum of each run, runs of {0}",
    "select": "filter",
    "select, predicate x > 0": "filter by x > 0",
    "unique": "first row of each run",
    "run_length_encode": "run lengths",
    "reduce_by_key": "sum of each run",
    "scan_by_key": "running sum of each run",
    r"interval_(expand|gather|move)": "intervals: {0}",
    "summed_area_table": "summed_area_table() of an image",
    "box_filter": "box_filter() of an image, radius 15",
    "sort_keys": "sort",
    "sort_pairs": "sort of keys and values",
    "argsort": "argsort",
    r"argsort_of_(\d+)": "argsort, {0} distinct keys",
    # calls on a few rows
    "first_scan_python": "first call of an operator in Python",
    "host_scan": "kernel call alone",
    "host_scan_with_carry": "kernel call, with its carry-out",
    "host_reduce": "kernel call, sum",
    "host_cumsum_of_array": "cumsum() of a CuPy array, CuPy's own allocator",
    # whole calls
    r"series_(cumsum|cummax|ffill|rank|shift|diff|sort_values)(?:_1000)?": "{0}()",
    "series_ewm|ewm_mean": "ewm().mean()",
    r"array_cumsum(?:_1000)?": "cumsum() of a CuPy array",
    r"expanding_(mean|std)": "expanding().{0}()",
    r"rolling_(sum|max|std|median|rank|nunique)_(\d+)": "rolling(…).{0}(), {1} rows",
    "rolling_sum_10 of 1,000 rows": "rolling(…).sum(), 10 rows, of a Series of 1,000",
    "rolling_time_sum": "rolling(…).sum(), of time",
    r"groupby_rolling_sum_(\d+)": "groupby().rolling(…).sum(), {0} rows",
    "groupby_shift": "groupby().shift()",
    r"groupby_unsorted_(cumsum|sum|ffill|cumcount)_(\d+)": "groupby().{0}(), {1} keys in any order",
    "merge_asof": "merge_asof()",
    r"(drop_duplicates|value_counts|factorize)": "{0}()",
    "frame_sort_values": "sort_values() of a frame",
    "rle_decode": "rle_decode()",
    r"frame[_ ](filter|rle|unique_consecutive|sessionize)": "{0}()",
    r"frame[_ ]groupby[_ ](sum|cumsum)": "groupby(clustered=True).{0}()",
    r"frame (filter), 64 partitions": "{0}(), 64 partitions",
    r"frame groupby (sum|cumsum), 64 partitions": "groupby(clustered=True).{0}(), 64 partitions",
    "list_cumsum": "list.cumsum() of lists",
    "explode": "explode() of lists",
    # partitions
    "dask_cumsum_512": "cumsum(), one column, 512 partitions",
    "dask_cumsum_512_x3": "cumsum(), three columns, 512 partitions",
    "dask_array_cumsum": "cumsum() of an array, 512 blocks",
    r"dask_groupby_(sum|cumsum)_64": "groupby(clustered=True).{0}(), 64 partitions",
    "dask_sort_values": "sort_values(), 64 partitions",
    "dask_merge_asof": "merge_asof(), 64 partitions",
    "stream_merge_asof": "merge_asof() of two streams in memory",
    "dask_rolling_sum_1000": "rolling(…).sum(), 1,000 rows",
    "fused_scan_2": "scan() of a sum and a maximum in one pass",
    r"scaling_(weak|strong)_floor": "{0}: the floor",
    r"scaling_(weak|strong)_cumsum": "{0}: cumsum(), one column",
    r"scaling_(weak|strong)_cumsum_x3": "{0}: cumsum(), three columns",
    r"scaling_(weak|strong)_groupby_sum": "{0}: groupby(clustered=True).sum()",
    r"scaling_(weak|strong)_rolling_sum_100": "{0}: rolling(100).sum()",
    r"scaling_(weak|strong)_(filter|rle|sort_values)": "{0}: {1}()",
    r"scaling_(weak|strong)_sort_values_ucx": "{0}: sort_values(), workers joined by UCX",
    "scaling_kills_groupby_sum": "workers killed: groupby(clustered=True).sum()",
    r"scaling_kills_(\w+)": "workers killed: {0}()",
    # those that were recorded with names
    r"(graph of 10,000 partitions|out of core, Parquet to Parquet)": "{0}",
    "out of core, sort_values": "out of core, sort_values()",
    "stream_groupby_cumsum(_500m)?": "stream, Parquet to Parquet, groupby().cumsum()",
    "stream_groupby_cumsum_wide": "stream, Parquet to Parquet, groupby().cumsum(), keys of a wide range",
    "stream_groupby_cumsum_text": "stream, Parquet to Parquet, groupby().cumsum(), strings as keys",
    r"stream_(cumsum|ffill)": "stream, Parquet to Parquet, {0}()",
    "stream_ewm": "stream, Parquet to Parquet, ewm().mean()",
    r"cumsum of (one column|three columns), (.*)": "cumsum(), {0}, 500 partitions, {1}",
    r"scan, Python operator (.*)": "an operator in Python: {0}",
    r"(cumsum|cummax|ffill)( limit=2)?(, 10 % .*| of .*)?": "{0}(){1}{2}",
    r"(ewm|expanding) (mean|var)(, 10 % NaN)": "{0}().{1}(){2}",
}
"""The readable names of benchmarks; if a name is a pattern, its groups are filled in."""

DETAILS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("nulls", lambda share: f"{100 * share:.0f} % null"),
    ("share", lambda share: f"{100 * share:.0f} % kept"),
    ("predicate", lambda kind: f"by a {kind}"),
    ("mean_list", lambda items: f"{items:,} items a list"),
    ("mean_run", lambda rows: "" if rows == 500 else f"runs of {rows:,}"),
    ("intervals", str),
    ("clustered", lambda yes: "clustered" if yes else "rows in any order"),
    ("keys", lambda keys: f"by {keys:,} keys" if keys else ""),
    ("distinct", lambda values: "" if values == "all" else f"{values:,} distinct values"),
)
"""Other details that distinguish benchmarks, by the field of the record."""

PEERS = {
    "ours": "dask-gpuscan",
    "ours, plain": "dask-gpuscan, plain sums",
    "cub": "CUB",
    "cub of the toolkit": "CUB of the toolkit",
    "cuda.compute": "cuda.compute",
    "cudf": "cuDF",
    "cudf, filled": "cuDF, nulls filled first",
    "cupy": "CuPy",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "dask": "Dask",
    "dask, tasks": "Dask, shuffle by tasks",
    "copy": "a plain copy",
    "limit": "the limit",
    "floor": "the floor",
    "undisturbed": "undisturbed",
}

UNITS = {
    "ratio": "{} times as fast",
    "times_floor": "{} times the time of the floor",
    "times_one_column": "{} times the time of one column",
    "times_one_scan": "{} times the time of one scan",
    "ours_ms": "{} ms",
    "tasks_a_partition": "{} tasks a partition",
    "times_memory": "{} times the memory of the worker",
    "restarts": "{} restarts",
    "measured_longest": "{} times an even partition",
    "measured_partition_bytes": "{} bytes of partitions moved",
    "measured_behind_floor": "{} less of the ideal speed than the floor",
    "measured_equal": "{} equal answers",
}
BOUNDS = {">=": "at least", "<=": "at most"}


def spaced(text: str) -> str:
    """Return a number in a name in readable form."""
    return f"{int(text):,}" if text.isdigit() else text


def readable(name: str) -> str:
    """Return the readable name of a benchmark.

    Raises
    ------
    KeyError
        If `NAMES` has no row for it.
    """
    for pattern, title in NAMES.items():
        found = re.fullmatch(pattern, name)
        if found or name == pattern:
            groups = found.groups() if found else ()
            return title.format(*(spaced(each or "") for each in groups))
    raise KeyError(f"docs/tools/bench_records.py: NAMES has no row for {name!r}")


def label(record: Record) -> str:
    """Return the name of a benchmark, with its dtype and other details."""
    name = readable(record["name"])
    parts = [name, ", ".join(part.strip() for part in record["dtype"].split(","))]
    for key, told in DETAILS:
        if key in record and (detail := told(record[key])) and detail not in name:
            parts.append(detail)
    return ", ".join(parts)


def on_gpus(record: Record) -> str:
    """Return the name of a benchmark of partitions, with the number of GPUs."""
    gpus = "1 GPU" if record["gpus"] == 1 else f"{record['gpus']} GPUs"
    return f"{readable(record['name'])}, {gpus}"


def of_partitions(record: Record) -> str:
    """Return the name of a benchmark of partitions, with their number."""
    name = readable(record["name"])
    return name if "partitions" in name else f"{name}, {record['partitions']:,} partitions"


def peer(who: str) -> str:
    """Return the readable name of a contender."""
    return PEERS.get(who, who)


def aim(record: Record) -> str:
    """Return the target of a benchmark in words."""
    if record["target"] == "ratio >= 1":
        return "at least as fast"
    terms = []
    for term in record["target"].split(" and "):
        key, sign, number = term.split()
        unit = "{} of the limit" if key == "ratio" and record["peer"] == "limit" else UNITS[key]
        terms.append(f"{BOUNDS[sign]} {unit.format(number)}")
    return " and ".join(terms)


def load(name: str) -> list[Record]:
    """Return the records of a file of results."""
    records: list[Record] = json.loads((RESULTS / name / "records.json").read_text())
    return records


@dataclass
class Group:
    """The records of one benchmark, one for each peer; if ours was timed again for a peer, the first time counts."""

    label: str
    records: list[Record] = field(default_factory=list)

    @property
    def first(self) -> Record:
        return self.records[0]

    @property
    def times(self) -> dict[str, float]:
        """The milliseconds of ours and of the peers, except peers that were stopped."""
        return {"ours": self.first["ours_ms"], **self._of_peers("peer_ms")}

    @property
    def ratios(self) -> dict[str, float]:
        """The time of each peer over that of ours in the same record."""
        return self._of_peers("ratio")

    @property
    def limit(self) -> float | None:
        """The milliseconds of a plain copy; None if no record of the benchmark has them."""
        return next((r["limit_ms"] for r in self.records if r["limit_ms"] is not None), None)

    def _of_peers(self, key: str) -> dict[str, float]:
        """Return a field of the records of peers that have it."""
        named = (r for r in self.records if r["peer"] not in (None, "limit"))
        return {r["peer"]: r[key] for r in named if r[key] is not None}


def grouped(records: Iterable[Record], label: Callable[[Record], str]) -> list[Group]:
    """Group records by benchmark."""
    groups: dict[str, Group] = {}
    for record in records:
        groups.setdefault(label(record), Group(label(record))).records.append(record)
    return list(groups.values())
