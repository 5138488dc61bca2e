"""Draw the benchmarks and write their tables, from ``benchmarks/results/*.json``.

``python docs/plot_benchmarks.py [FOLDER]`` writes the pictures, light and dark, and one Markdown file a section, which
docs/benchmarks.md includes; the Sphinx build does it by itself. No figure on that page is written by hand.
"""

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from drawing import DARK, LIGHT, Theme
from matplotlib.axes import Axes
from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
LARGE, SMALL = 1 << 24, 10_000

NAMES = {
    "scan_sum": "running sum",
    "scan_sum_classic": "running sum, schedule for older GPUs",
    "scan_max": "running maximum",
    "scan_sum_exclusive": "exclusive",
    "scan_sum_reverse": "reverse",
    "scan_python": "an operator in Python",
    "scan_sum_nulls": "running sum, 10 % null",
    "scan_last_nulls": "forward fill, 10 % null",
    "scan_sum_widening": "running sum to int64",
    "scan_sum_misaligned": "running sum of a slice [1:]",
    "scan_product": "running product, in order",
    "scan_add": "running sum",
    "scan_maximum": "running maximum",
    "scan_affine": "recurrence a y + b",
    "scan_welford": "running variance",
    "scan_sum_axis0": "2-D, along axis 0",
    "scan_sum_axis1": "2-D, along axis 1",
    "scan_sum_rows_of_256": "2-D, rows of 256",
    "scan_sum_rows_of_32": "2-D, rows of 32",
    "reduce_sum": "sum",
    "host_scan": "kernel call alone",
    "host_scan_with_carry": "kernel call, with its carry-out",
    "host_reduce": "kernel call, sum",
    "series_cumsum": "Series.gpuscan.cumsum()",
    "series_cummax": "Series.gpuscan.cummax()",
    "series_ffill": "Series.gpuscan.ffill()",
    "series_ewm": "Series.gpuscan.ewm().mean()",
    "series_cumsum_1000": "Series.gpuscan.cumsum()",
    "array_cumsum": "cumsum of a CuPy array",
    "array_cumsum_1000": "cumsum of a CuPy array",
    "dask_cumsum_512": "running sum, one column",
    "dask_cumsum_512_x3": "running sum, three columns",
    "dask_array_cumsum": "running sum, array of CuPy blocks",
    "dask_groupby_sum_64": "groupby().sum()",
    "dask_groupby_cumsum_64": "groupby().cumsum()",
    "frame_filter": "filter()",
    "frame_groupby_sum": "groupby().sum()",
    "frame_groupby_cumsum": "groupby().cumsum()",
    "frame_rle": "rle()",
    "frame_unique_consecutive": "unique_consecutive()",
    "frame_sessionize": "sessionize()",
    "select_50": "filter, 50 % kept",
    "select_1": "filter, 1 % kept",
    "partition_50": "partition, 50 % kept",
}
BY_KEY = {
    "run_length_encode": "run lengths",
    "unique": "first row of each run",
    "reduce_by_key": "sum of each run",
    "scan_by_key": "running sum of each run",
}
NAMES |= {
    f"{name}_{run}": f"{title}, runs of {run:,}"
    for name, title in BY_KEY.items()
    for run in (2, 500, 1_000_000)
}
COMPACTION = ("select", "partition", *BY_KEY)
PEERS = {
    "cub": "CUB",
    "cudf": "cuDF",
    "cudf, filled": "cuDF, filled",
    "cupy": "CuPy",
    "numpy": "NumPy",
    "dask": "Dask",
}

Record = dict[str, Any]


@dataclass
class Group:
    """The records of one benchmark, one a peer; where ours was timed anew for a peer, the first counts."""

    label: str
    records: list[Record] = field(default_factory=list)

    @property
    def first(self) -> Record:
        return self.records[0]

    @property
    def times(self) -> dict[str, float]:
        """Milliseconds that ours and the peers took."""
        peers = {r["peer"]: r["peer_ms"] for r in self.records if r["peer"] not in (None, "limit")}
        return {"ours": self.first["ours_ms"], **peers}

    @property
    def ratios(self) -> dict[str, float]:
        """Time of a peer over that of ours in its own record."""
        return {r["peer"]: r["ratio"] for r in self.records if r["peer"] not in (None, "limit")}

    def of_limit(self, who: str) -> float:
        """Return how much of the rate of a plain copy is reached, in percent."""
        return 100 * self.first["limit_ms"] / self.times[who]


def grouped(records: Iterable[Record], label: Callable[[Record], str]) -> list[Group]:
    """Bring the records of a benchmark together."""
    groups: dict[str, Group] = {}
    for record in records:
        groups.setdefault(label(record), Group(label(record))).records.append(record)
    return list(groups.values())


def label(record: Record) -> str:
    """Name a benchmark, its dtype and what else sets it apart."""
    parts = [NAMES.get(record["name"], record["name"]), record["dtype"]]
    if record.get("nulls"):
        parts.append(f"{100 * record['nulls']:.0f} % null")
    if record.get("share"):
        parts.append(f"{100 * record['share']:.0f} % kept")
    if record.get("predicate"):
        parts.append(f"by {record['predicate']}")
    if record.get("mean_run", 500) != 500:
        parts.append(f"mean run {record['mean_run']}")
    return ", ".join(parts)


def on_gpus(record: Record) -> str:
    """Name a benchmark of partitions and its GPUs."""
    return f"{NAMES.get(record['name'], record['name'])}, {gpus(record)}"


def gpus(record: Record) -> str:
    return "1 GPU" if record["gpus"] == 1 else f"{record['gpus']} GPUs"


# --- pictures ---------------------------------------------------------------------------------------------------------


def colour(theme: Theme, who: str) -> str:
    """Return the colour of a bar: ours, what can hardly be beaten, and the others."""
    if who == "ours":
        return theme.answer
    if who in ("memcpy", "floor"):
        return theme.faint
    return {
        "cupy": theme.aggregate,
        "numpy": theme.aggregate,
        "polars": theme.text,
        "pyarrow": theme.faint,
    }.get(who, theme.prefix)


def told(who: str) -> str:
    return "dask-gpuscan" if who == "ours" else PEERS.get(who, who)


def frame(theme: Theme, height: float) -> Axes:
    """Return axes without a box on a transparent background, as wide as a page."""
    figure = plt.figure(figsize=(9.2, height))
    ax = figure.add_subplot()
    for side in ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.tick_params(colors=theme.text, length=0, labelsize=9)
    ax.grid(axis="x", color=theme.faint, alpha=0.35, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def legend(ax: Axes, theme: Theme, columns: int) -> None:
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        labelcolor=theme.text,
        fontsize=9.5,
    )


def bars(
    theme: Theme,
    groups: list[Group],
    value: Callable[[Group, str], float],
    axis: str,
    *,
    text: str = "{:.0f}",
    line: tuple[float, str] | None = None,
    skip: tuple[str, ...] = (),
) -> Figure:
    """Draw one bar a benchmark and contender; a line marks what all are measured by."""
    found = dict.fromkeys(who for g in groups for who in g.times if who not in skip)
    order = sorted(found, key=lambda who: who != "ours")
    tall = 0.26
    ticks, y = [], 0.0
    ax = frame(theme, 0.75 + sum(0.09 + 0.19 * len(g.times.keys() - set(skip)) for g in groups))
    shown = set()
    for group in groups:
        top = y
        for who in (w for w in order if w in group.times):
            shade = colour(theme, who)
            name = told(who) if who not in shown else None
            shown.add(who)
            size = value(group, who)
            ax.barh(y, size, height=tall * 0.86, color=shade, label=name)
            ax.annotate(
                text.format(size),
                (size, y),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                color=theme.text,
                fontsize=7.5,
            )
            y += tall
        ticks.append((top + y - tall) / 2)
        y += 0.14
    ax.set_yticks(ticks, [g.label for g in groups])
    ax.set_ylim(y - 0.14 - tall / 2, -tall)
    ax.set_xlabel(axis, color=theme.text, fontsize=9.5)
    if line is not None:
        ax.axvline(line[0], color=theme.text, linewidth=1.1, linestyle=(0, (4, 3)), label=line[1])
    legend(ax, theme, len(shown) + 1)
    return ax.figure


def of_limit(theme: Theme, groups: list[Group]) -> Figure:
    return bars(
        theme,
        groups,
        Group.of_limit,
        "percent of the rate of a plain copy (sums: of a plain read)",
        line=(100, "memcpy"),
        skip=("memcpy",),
    )


def milliseconds(theme: Theme, groups: list[Group]) -> Figure:
    return bars(theme, groups, lambda g, who: g.times[who], "milliseconds", skip=("one column",))


def microseconds(theme: Theme, groups: list[Group]) -> Figure:
    return bars(
        theme, groups, lambda g, who: 1e3 * g.times[who], "microseconds a call", text="{:.1f}"
    )


def times_ours(theme: Theme, groups: list[Group]) -> Figure:
    return bars(
        theme,
        groups,
        lambda g, who: g.ratios[who],
        "time over the time of dask-gpuscan",
        text="{:.1f}",
        line=(1, "dask-gpuscan"),
        skip=("ours",),
    )


def sizes(theme: Theme, groups: list[Group]) -> Figure:
    """Draw the rate over the number of elements, one panel a dtype."""
    dtypes = list(dict.fromkeys(g.first["dtype"] for g in groups))
    figure = plt.figure(figsize=(9.2, 3.2))
    for place, dtype in enumerate(dtypes):
        ax = figure.add_subplot(1, len(dtypes), place + 1)
        for side in ("top", "right", "left", "bottom"):
            ax.spines[side].set_visible(False)
        ax.tick_params(colors=theme.text, length=0, labelsize=9, which="both")
        ax.grid(color=theme.faint, alpha=0.35, linewidth=0.8)
        mine = sorted((g for g in groups if g.first["dtype"] == dtype), key=lambda g: g.first["n"])
        for who in ("memcpy", "cub", "ours"):
            points = [g for g in mine if who in g.times]
            ax.plot(
                [g.first["n"] for g in points],
                [g.first["n"] / g.times[who] / 1e6 for g in points],
                color=colour(theme, who),
                label=told(who),
                marker="o",
                markersize=4,
                linewidth=2,
            )
        ax.set_xscale("log", base=2)
        ax.set_ylim(bottom=0)
        ax.set_xlabel(f"elements, {dtype}", color=theme.text, fontsize=9.5)
        if place == 0:
            ax.set_ylabel("billion elements a second", color=theme.text, fontsize=9.5)
            legend(ax, theme, 3)
    return figure


# --- tables -----------------------------------------------------------------------------------------------------------


def duration(ms: float | None) -> str:
    """Return a time as a reader wants it: three digits and a fitting unit."""
    if ms is None:
        return ""
    for unit, size in (("s", 1e3), ("ms", 0.1), ("µs", 0.0)):
        if ms >= size:
            scaled = ms * {"s": 1e-3, "ms": 1.0, "µs": 1e3}[unit]
            whole = len(str(int(scaled))) if scaled >= 1 else 0
            return f"{scaled:.{max(0, 3 - whole)}f} {unit}"
    return ""


def table(groups: list[Group], limited: bool) -> str:
    """Return one row a benchmark and peer; `limited` ones with their part of the rate of a copy, not its time."""
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
                cells.append(f"{100 * r['limit_ms'] / r['ours_ms']:.0f} %")
            if r["peer"] in (None, "limit", "memcpy"):
                cells += [""] * 3
            else:
                cells += [told(r["peer"]), duration(r["peer_ms"]), f"{r['ratio']:.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
            name = ["", ""]
    return "\n".join(lines)


def ran_on(records: list[Record]) -> str:
    """Tell which machine, commit and versions the records are of."""
    contexts: dict[str, None] = {}
    for r in records:
        versions = ", ".join(f"{name} {number}" for name, number in r["versions"].items())
        contexts[f"{r['machine']}; commit `{r['commit'][:12]}`; {versions}"] = None
    return "Measured on:\n\n" + "\n".join(f"- {context}" for context in contexts)


def missed(groups: list[Group]) -> str:
    """Name what was aimed at and not reached."""
    return "\n".join(
        f"- {group.label}, against {told(r['peer'])}: `{r['target']}` was aimed at, and missed"
        for group in groups
        for r in group.records
        if r.get("met") is False
    )


def speedups(groups: list[Group]) -> str:
    """Tell how much faster several GPUs are than one, for ours and for the floor."""
    alone = {g.first["name"]: g for g in groups if g.first.get("gpus") == 1}
    lines = []
    for group in groups:
        name, count = group.first["name"], group.first.get("gpus", 1)
        if count > 1 and name in alone:
            gains = [
                f"{told(who)} {alone[name].times[who] / ms:.2f}"
                for who, ms in group.times.items()
                if who in alone[name].times and who != "one column"
            ]
            lines.append(f"- {NAMES[name]}, {count} GPUs, times as fast as one: {', '.join(gains)}")
    return "\n".join(lines)


# --- sections ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """A picture, and a table of the same figures."""

    name: str
    alt: str
    groups: list[Group]
    draw: Callable[[Theme, list[Group]], Figure]

    def write(self, folder: Path) -> None:
        """Write the pictures and the Markdown that shows them."""
        records = [r for g in self.groups for r in g.records]
        parts = ["Not measured yet.\n"]
        if self.groups:
            for theme in (LIGHT, DARK):
                figure = self.draw(theme, self.groups)
                figure.savefig(
                    folder / f"bench-{self.name}-{theme.name}.svg",
                    transparent=True,
                    bbox_inches="tight",
                    metadata={"Date": None},
                )
                plt.close(figure)
            parts = [
                f"```{{image}} _drawn/bench-{self.name}-{theme.name}.svg\n"
                f":class: picture only-{theme.name}\n:alt: {self.alt}\n```\n"
                for theme in (LIGHT, DARK)
            ]
            parts.append(table(self.groups, self.draw is of_limit) + "\n")
            notes = (speedups(self.groups), missed(self.groups), ran_on(records))
            parts += [note + "\n" for note in notes if note]
        (folder / f"bench-{self.name}.md").write_text("\n".join(parts), encoding="utf-8")


def once(groups: list[Group]) -> list[Group]:
    """Keep float64 where a benchmark was run with several dtypes, but all dtypes of running sums."""
    kept = []
    for g in groups:
        name = g.first["name"]
        same = [o.first["dtype"] for o in groups if o.first["name"] == name]
        if name == "scan_sum" or g.first["dtype"] == ("float64" if "float64" in same else same[0]):
            kept.append(g)
    return kept


def sections() -> list[Section]:
    """Sort the records into pictures."""
    gpu = json.loads((RESULTS / "h200.json").read_text())
    cpu = json.loads((RESULTS / "cpu.json").read_text())

    def named(*starts: str) -> list[Record]:
        return [r for r in gpu if r["name"].startswith(starts)]

    compaction = [r for r in named(*COMPACTION) if r["n"] >= LARGE]
    kernels = [r for r in named("scan_", "reduce_") if r["n"] >= LARGE and r not in compaction]
    sums = [
        r
        for r in named("scan_sum")
        if r["name"] == "scan_sum" and r["dtype"] in ("int32", "float64")
    ]
    columns = [r for r in named("series_", "array_") if r["n"] >= LARGE]
    frames = [r for r in named("frame_") if r["n"] >= LARGE]
    small = [r for r in named("series_", "array_", "host_") if r["n"] < SMALL]
    scans = named("dask_cumsum", "dask_array")
    partitions = [r for r in cpu if r.get("partitions")]
    rest = [r for r in cpu if not r.get("partitions") and r["peer"] and "graph" not in r["name"]]
    rest.sort(key=lambda r: r["name"] != "cumsum")
    groups = [r for r in rest if r["name"].startswith(("frame ", *COMPACTION))]
    rest = [r for r in rest if r not in groups]

    def of_size(record: Record) -> str:
        return f"running sum, {record['dtype']}, {record['n']:,}"

    limit = "Horizontal bars: how much of the rate of a plain copy each benchmark reaches."
    time = "Horizontal bars: the time of each benchmark, and of its peers."
    over = "Horizontal bars: times over ours."
    return [
        Section("kernels", limit, once(grouped(kernels, label)), of_limit),
        Section("compaction", limit, grouped(compaction, label), of_limit),
        Section(
            "sizes",
            "Lines: elements a second over the number of elements, for a copy, CUB and dask-gpuscan.",
            [g for g in grouped(sums, of_size) if {"cub", "memcpy"} <= g.times.keys()],
            sizes,
        ),
        Section("columns", limit, grouped(columns, label), of_limit),
        Section("frames", limit, grouped(frames, label), of_limit),
        Section("small", time, grouped(small, label), microseconds),
        Section("dask-gpu", time, grouped(scans, on_gpus), milliseconds),
        Section("dask-groups", time, grouped(named("dask_groupby"), on_gpus), milliseconds),
        Section("cpu", over, grouped(rest, label), times_ours),
        Section("cpu-groups", over, grouped(groups, label), times_ours),
        Section("cpu-dask", time, grouped(partitions, lambda r: r["name"]), milliseconds),
    ]


def others() -> str:
    """Tell the graph and the run out of core, which are no comparisons of one kind."""
    lines = ["| benchmark | rows or partitions | time | |", "| --- | --- | --- | --- |"]
    shown = {
        "tasks_a_partition": "tasks a partition",
        "peer_tasks_a_partition": "tasks a partition in Dask's own",
        "times_memory": "times the worker's memory",
        "peak_mib": "MiB at the most",
        "restarts": "restarts",
    }
    records = [
        r
        for r in json.loads((RESULTS / "cpu.json").read_text())
        if not r.get("partitions") and (not r["peer"] or "graph" in r["name"])
    ]
    for r in records:
        notes = "; ".join(f"{r[key]} {name}" for key, name in shown.items() if key in r)
        lines.append(f"| {r['name']} | {r['n']:,} | {duration(r['ours_ms'])} | {notes} |")
    return "\n".join([*lines, "", ran_on(records), ""])


def main(folder: Path) -> None:
    """Write every picture in every theme, and every table."""
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "dask-gpuscan"  # the same picture gives the same bytes
    for section in sections():
        section.write(folder)
    (folder / "bench-cpu-other.md").write_text(others(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "_drawn")
