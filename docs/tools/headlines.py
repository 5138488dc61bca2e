"""The benchmarks in README and on the benchmark page, from the committed results: a table and five charts.

``python docs/tools/pictures.py`` writes them again; tests compare them with the results.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_records import Record, load, peer

PAGE = Path(__file__).parents[1] / "benchmarks.md"
BEGIN, END = "<!-- speeds -->", "<!-- end of speeds -->"


@dataclass(frozen=True)
class Headline:
    """A benchmark by the name of its method: its record, and the peers."""

    title: str
    file: str
    name: str
    dtype: str
    peers: tuple[str, ...]
    where: tuple[tuple[str, Any], ...] = ()

    def records(self) -> list[Record]:
        """Return the record against each peer, if there is one."""
        mine = [
            r
            for r in load(self.file)
            if r["name"] == self.name
            and r["dtype"].replace(" ", "") == self.dtype
            and all(r.get(key) == value for key, value in self.where)
        ]
        first = {r["peer"]: r for r in reversed(mine)}
        return [first[who] for who in self.peers if who in first]


KEYS = "groupby.{}, 10⁶ keys in any order"
CPU, GPU, CUB = ("pandas", "polars"), ("cudf",), ("cub",)
SHUFFLES = ("dask", "dask, tasks")
ON_CPUS = (
    Headline("cumsum", "cpu", "cumsum", "float64", CPU),
    Headline("ffill, 10 % null", "cpu", "ffill, 10 % NaN", "float64", CPU),
    Headline("ewm(…).mean", "cpu", "ewm_mean", "float64", CPU),
    Headline("rolling(1000).sum", "cpu", "rolling_sum_1000", "float64", CPU),
    Headline("rolling(1000).median", "cpu", "rolling_median_1000", "float64", CPU),
    Headline("filter, half kept", "cpu", "frame filter", "float64", CPU, (("predicate", "text"),)),
    Headline("rle", "cpu", "frame rle", "int64", CPU),
    Headline("groupby(clustered=True).sum", "cpu", "frame groupby sum", "int64,float64", CPU),
    Headline("groupby(clustered=True).cumsum", "cpu", "frame groupby cumsum", "int64,float64", CPU),
    Headline(KEYS.format("sum"), "cpu", "groupby_unsorted_sum_1000000", "int32,float64", CPU),
    Headline(KEYS.format("cumsum"), "cpu", "groupby_unsorted_cumsum_1000000", "int32,float64", CPU),
    Headline("sort_values", "cpu", "frame_sort_values", "int32", CPU),
    Headline("rank", "cpu", "series_rank", "float64", CPU),
    Headline("merge_asof", "cpu", "merge_asof", "int64,float64", CPU, (("keys", 0),)),
)
ON_A_GPU = (
    Headline("cumsum", "h200", "series_cumsum", "float64", GPU),
    Headline("ffill, 10 % null", "h200", "series_ffill", "float64", GPU),
    Headline("rolling(1000).sum", "h200", "rolling_sum_1000", "float64", GPU),
    Headline(
        "filter, half kept", "h200", "frame_filter", "2int32,2float64", GPU, (("share", 0.5),)
    ),
    Headline("rle", "h200", "frame_rle", "int32", GPU),
    Headline("groupby(clustered=True).sum", "h200", "frame_groupby_sum", "int32,float64", GPU),
    Headline(
        "groupby(clustered=True).cumsum", "h200", "frame_groupby_cumsum", "int32,float64", GPU
    ),
    Headline(KEYS.format("sum"), "h200", "groupby_unsorted_sum_1000000", "int32,float64", GPU),
    Headline(
        KEYS.format("cumsum"), "h200", "groupby_unsorted_cumsum_1000000", "int32,float64", GPU
    ),
    Headline("sort_values", "h200", "series_sort_values", "float64", GPU),
    Headline("rank", "h200", "series_rank", "float64", GPU),
    Headline("sessionize, by key", "h200", "frame_sessionize", "int32,datetime64[ns]", GPU),
)
OVER_PARTITIONS = (
    Headline(
        "cumsum, 500 partitions, 2 threads",
        "cpu",
        "cumsum of one column, threads",
        "float64",
        ("dask",),
    ),
    Headline(
        "cumsum, 500 partitions, 2 processes",
        "cpu",
        "cumsum of one column, local cluster",
        "float64",
        ("dask",),
    ),
    Headline("filter, 64 partitions", "cpu", "frame filter, 64 partitions", "float64", ("dask",)),
    Headline(
        "groupby(clustered=True).sum, 64 partitions",
        "cpu",
        "frame groupby sum, 64 partitions",
        "int64,float64",
        ("dask",),
    ),
    Headline(
        "groupby(clustered=True).cumsum, 64 partitions",
        "cpu",
        "frame groupby cumsum, 64 partitions",
        "int64,float64",
        ("dask",),
    ),
    Headline("sort_values, 64 partitions", "cpu", "dask_sort_values", "int32", SHUFFLES),
    Headline(
        "cumsum, 512 partitions, 1 GPU",
        "h200",
        "dask_cumsum_512",
        "float64",
        ("dask-cudf",),
        (("gpus", 1),),
    ),
    Headline(
        "cumsum, 512 partitions, 2 GPUs",
        "h200",
        "dask_cumsum_512",
        "float64",
        ("dask-cudf",),
        (("gpus", 2),),
    ),
)
OF_MEMORY = (
    Headline("running sum", "h200", "scan_sum", "float64", CUB),
    Headline("running maximum", "h200", "scan_max", "float64", CUB),
    Headline("an operator in Python", "h200", "scan_python", "float64", CUB),
    Headline("filter, half kept", "h200", "select_50", "int32", CUB),
    Headline("run lengths, runs of 500", "h200", "run_length_encode_500", "int32", CUB),
    Headline("sum of each run, runs of 500", "h200", "reduce_by_key_500", "int32,float32", CUB),
)


def times(ratio: float) -> str:
    """Return a ratio with two digits."""
    return f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}"


IN_README = ("cumsum", "filter, half kept", "groupby(clustered=True).sum")
IN_README += ("groupby(clustered=True).cumsum", "sort_values")
"""The methods in README's chart, which were measured against pandas, polars, Dask and cuDF."""

OF_DASK = {
    "cumsum, 500 partitions, 2 threads": "cumsum",
    "filter, 64 partitions": "filter, half kept",
    "groupby(clustered=True).sum, 64 partitions": "groupby(clustered=True).sum",
    "groupby(clustered=True).cumsum, 64 partitions": "groupby(clustered=True).cumsum",
    "sort_values, 64 partitions": "sort_values",
}
"""Headlines over partitions, and their methods in README's chart."""


def in_readme() -> dict[str, dict[str, float]]:
    """Return the time of each library over ours, by method; for Dask, that of the faster of its two shuffles."""
    found: dict[str, dict[str, float]] = {title: {} for title in IN_README}
    for each in (*ON_CPUS, *OVER_PARTITIONS, *ON_A_GPU):
        row = found.get(OF_DASK.get(each.title, each.title))
        for r in each.records() if row is not None else ():
            who = peer(r["peer"]).partition(",")[0]
            row[who] = min(r["ratio"], row.get(who, r["ratio"]))
    return found


def table() -> str:
    """Return the page's table of speeds."""
    rows: dict[str, dict[str, str]] = {}
    for each in (*ON_CPUS, *ON_A_GPU):
        for r in each.records():
            rows.setdefault(each.title, {})[r["peer"]] = times(r["ratio"])
    columns = (*CPU, *GPU)
    head = ["times as fast as", *map(peer, columns)]
    lines = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * len(columns)]
    for title, cells in rows.items():
        method, comma, how = title.partition(", ")
        shown = [f"`{method}`{comma}{how}", *(cells.get(who, "") for who in columns)]
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def put_in(text: str) -> str:
    """Return a page with a new table of speeds."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"
