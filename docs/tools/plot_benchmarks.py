"""Draw the benchmarks and write their tables, from ``benchmarks/results/*/*.json``.

The Sphinx build writes the pictures and one Markdown file for each section, which docs/benchmarks-in-full.md includes.
No figure on that page is written by hand.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench_pictures import efficiency, microseconds, milliseconds, of_limit, sizes, times_ours
from bench_records import (
    Group,
    Record,
    aim,
    grouped,
    label,
    load,
    of_partitions,
    on_gpus,
    peer,
    readable,
)
from drawing import Theme, write
from matplotlib.figure import Figure

LARGE, SMALL = 1 << 24, 10_000

# --- tables -----------------------------------------------------------------------------------------------------------


def duration(ms: float | None) -> str:
    """Return a time with three digits and a suitable unit."""
    if ms is None:
        return ""
    for unit, size in (("s", 1e3), ("ms", 0.1), ("µs", 0.0)):
        if ms >= size:
            scaled = ms * {"s": 1e-3, "ms": 1.0, "µs": 1e3}[unit]
            whole = len(str(int(scaled))) if scaled >= 1 else 0
            return f"{scaled:.{max(0, 3 - whole)}f} {unit}"
    return ""


def table(groups: list[Group], limited: bool) -> str:
    """Return a row for each benchmark and peer; `limited` ones have their share of the copy rate, not its time."""
    heads = ["benchmark", "elements", "dask-gpuscan", "peer", "its time", "ratio"]
    if limited:
        heads.insert(3, "of a copy's rate")
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    for group in groups:
        name = [group.label, f"{group.first['n']:,}"]
        shown = [r for r in group.records if not limited or r["peer"] != "memcpy"]
        for r in shown or group.records[:1]:
            cells = [*name, duration(r["ours_ms"])]
            if limited:
                cells.append(f"{100 * group.limit / r['ours_ms']:.0f} %" if group.limit else "")
            if r["peer"] in (None, "limit", "memcpy"):
                cells += [""] * 3
            elif r["peer_ms"] is None:  # the peer was stopped
                stopped = duration(1e3 * r["measured_stopped_after_s"])
                cells += [peer(r["peer"]), f"over {stopped}", ""]
            else:
                cells += [peer(r["peer"]), duration(r["peer_ms"]), f"{r['ratio']:.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
            name = ["", ""]
    return "\n".join(lines)


def ran_on(records: list[Record]) -> str:
    """Return the machines, commits and versions of records."""
    contexts: dict[str, None] = {}
    for r in records:
        versions = ", ".join(f"{name} {number}" for name, number in r["versions"].items())
        contexts[f"{r['machine']}; commit `{r['commit'][:12]}`; {versions}"] = None
    return "Measured on:\n\n" + "\n".join(f"- {context}" for context in contexts)


def missed(groups: list[Group]) -> str:
    """Return the targets that were missed."""
    lines = "\n".join(
        f"- {group.label}, against {peer(r['peer'])}: aimed at {aim(r)}"
        for group in groups
        for r in group.records
        if r.get("met") is False
    )
    return f"Not reached:\n\n{lines}" if lines else ""


def speedups(groups: list[Group]) -> str:
    """Return how much faster several GPUs are than one, for ours and for the floor."""
    alone = {g.first["name"]: g for g in groups if g.first.get("gpus") == 1}
    lines = []
    for group in groups:
        name, count = group.first["name"], group.first.get("gpus", 1)
        if count > 1 and name in alone and alone[name].first["n"] == group.first["n"]:
            gains = [
                f"{peer(who)} {alone[name].times[who] / ms:.2f}"
                for who, ms in group.times.items()
                if who in alone[name].times and who != "one column"
            ]
            lines.append(
                f"- {readable(name)}, {count} GPUs, times as fast as one: {', '.join(gains)}"
            )
    return "\n".join(lines)


def moved(groups: list[Group]) -> str:
    """Return the bytes that workers sent each other."""
    lines = "\n".join(
        f"- {group.label}: {group.first['measured_moved_bytes']:,} bytes in all,"
        f" {group.first['measured_partition_bytes']:,} of partitions"
        for group in groups
        if group.first.get("gpus", 1) > 1 and "measured_moved_bytes" in group.first
    )
    return f"What workers sent each other:\n\n{lines}" if lines else ""


# --- sections ---------------------------------------------------------------------------------------------------------

LIMIT = "Horizontal bars: how much of the rate of a plain copy each benchmark reaches."
TIME = "Horizontal bars: the time of each benchmark, and of its peers."
EFFICIENCY = "Horizontal bars: the speed of several GPUs in percent of the ideal, for each job and for the floor."
OVER = "Horizontal bars: how many times as long as dask-gpuscan each peer takes."


@dataclass(frozen=True)
class Section:
    """A picture and a table of the records with matching names that are in no earlier section."""

    name: str
    file: str
    pattern: str
    draw: Callable[[Theme, list[Group]], Figure]
    alt: str
    label: Callable[[Record], str] = label
    kept: Callable[[Record], bool] = lambda r: True
    thins: bool = False
    """Whether only float64 is shown if a benchmark was run with several dtypes."""

    def groups(self, records: list[Record]) -> list[Group]:
        """Return the groups of records that are shown."""
        groups = grouped(records, self.label)
        return once(groups) if self.thins else groups


SECTIONS = (
    Section(
        "sizes",
        "h200",
        "scan_sum",
        sizes,
        "Lines: elements a second over the number of elements, for a copy, CUB and dask-gpuscan.",
        lambda r: f"running sum, {r['dtype']}, {r['n']:,}",
        lambda r: SMALL < r["n"] < LARGE and r["dtype"] in ("int32", "float64"),
    ),
    Section(
        "compaction",
        "h200",
        r"(select|partition|unique|run_length|reduce_by|scan_by).*",
        of_limit,
        LIMIT,
    ),
    Section("reproducible", "h200", r"(scan|reduce)_sum_reproducible", times_ours, OVER),
    Section(
        "kernels",
        "h200",
        r"(scan|reduce)_.*",
        of_limit,
        LIMIT,
        kept=lambda r: r["n"] >= LARGE,
        thins=True,
    ),
    Section(
        "sorts",
        "h200",
        r"(sort|argsort|series_sort|series_rank|frame_sort).*",
        times_ours,
        OVER,
        kept=lambda r: r["n"] >= LARGE,
    ),
    Section(
        "small",
        "h200",
        r"(series|array|host|first|sort)_.*",
        microseconds,
        TIME,
        lambda r: label(r) + (f", {r['n']:,} keys" if r["n"] > SMALL else ""),
        lambda r: r["n"] < LARGE,
    ),
    Section("columns", "h200", r"(series|array)_(cum|ffill).*", of_limit, LIMIT),
    Section(
        "windows",
        "h200",
        r"(rolling|groupby_rolling|expanding|ewm|series_ewm|series_shift|series_diff|merge_asof).*",
        times_ours,
        OVER,
    ),
    Section("frames", "h200", r"frame_.*", of_limit, LIMIT),
    Section("any-order", "h200", r"groupby_unsorted_.*", times_ours, OVER),
    Section("dask-groups", "h200", r"dask_groupby_.*", milliseconds, TIME, on_gpus),
    Section("dask-gpu", "h200", r"dask_(cumsum|array|rolling).*", milliseconds, TIME, on_gpus),
    Section("scaling", "h200", r"scaling_.*", efficiency, EFFICIENCY, on_gpus),
    Section(
        "cpu-dask", "cpu", ".*", milliseconds, TIME, of_partitions, lambda r: "partitions" in r
    ),
    Section("cpu-sorts", "cpu", r"(sort|argsort|series_rank|frame_sort).*", times_ours, OVER),
    Section(
        "cpu-windows",
        "cpu",
        r"(rolling|groupby_rolling|groupby_shift|expanding_|ewm_|series_|merge_asof).*",
        times_ours,
        OVER,
    ),
    Section("cpu-any-order", "cpu", r"groupby_unsorted_.*", times_ours, OVER),
    Section(
        "cpu-groups",
        "cpu",
        r"(frame|select|unique|run_length|reduce_by|scan_by).*",
        times_ours,
        OVER,
    ),
    Section("cpu", "cpu", r"(?!graph|out of core).*", times_ours, OVER),
)
"""The sections of docs/benchmarks-in-full.md."""


def once(groups: list[Group]) -> list[Group]:
    """Keep only float64 of benchmarks with several dtypes, but all dtypes of running sums."""
    kept = []
    for g in groups:
        name = g.first["name"]
        same = [o.first["dtype"] for o in groups if o.first["name"] == name]
        if name == "scan_sum" or g.first["dtype"] == ("float64" if "float64" in same else same[0]):
            kept.append(g)
    return kept


def drawn(
    folder: Path,
    name: str,
    draw: Callable[[Theme, list[Group]], Figure],
    groups: list[Group],
    alt: str,
) -> str:
    """Draw a picture; return the Markdown that shows it."""
    write(folder, {f"bench-{name}": lambda theme: draw(theme, groups)})
    return f"![{alt}](_drawn/bench-{name}-light.svg)\n"


def sections() -> list[tuple[Section, list[Group]]]:
    """Sort the records into sections; raise an error if one is in no section."""
    out = []
    rest = {file: [r for r in load(file) if not is_other(r)] for file in ("h200", "cpu")}
    for section in SECTIONS:
        mine = [
            r
            for r in rest[section.file]
            if re.fullmatch(section.pattern, r["name"]) and section.kept(r)
        ]
        rest[section.file] = [r for r in rest[section.file] if r not in mine]
        out.append((section, section.groups(mine)))
    return out


def is_other(record: Record) -> bool:
    """Return whether a record is of a graph or of a run out of core, which are not compared in a picture."""
    return record["name"].startswith(("graph", "out of core"))


def others() -> str:
    """Return the text about the graph and the runs out of core."""
    lines = ["| benchmark | rows or partitions | time | |", "| --- | --- | --- | --- |"]
    shown = {
        "tasks_a_partition": "tasks a partition",
        "peer_tasks_a_partition": "tasks a partition in Dask's own",
        "times_memory": "times the worker's memory",
        "peak_mib": "MiB at the most",
        "restarts": "restarts",
        "measured_longest": "times an even share in the longest partition",
    }
    records = [r for r in load("cpu") if is_other(r)]
    for r in records:
        notes = "; ".join(f"{r[key]} {name}" for key, name in shown.items() if key in r)
        lines.append(f"| {readable(r['name'])} | {r['n']:,} | {duration(r['ours_ms'])} | {notes} |")
    return "\n".join([*lines, "", ran_on(records), ""])


def write_sections(folder: Path) -> None:
    """Write every picture in every theme, and every table."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"cpu-other": others()}
    for section, groups in sections():
        records = [r for g in groups for r in g.records]
        if not records:
            pages[section.name] = "Not measured yet.\n"
            continue
        notes = (speedups(groups), moved(groups), missed(groups), ran_on(records))
        parts = [drawn(folder, section.name, section.draw, groups, section.alt)]
        parts.append(table(groups, section.draw is of_limit) + "\n")
        parts += [note + "\n" for note in notes if note]
        pages[section.name] = "\n".join(parts)
    for name, text in pages.items():
        (folder / f"bench-{name}.md").write_text(text, encoding="utf-8")
