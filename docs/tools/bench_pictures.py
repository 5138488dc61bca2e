"""Draw groups of records: bars of times, of ratios and of a copy's rate, and rates over sizes."""

from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from bench_records import Group, peer
from drawing import Theme
from headlines import times
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def colour(theme: Theme, who: str) -> str:
    """Return the colour of a bar: one for ours, one for limits, and one for others."""
    if who == "ours":
        return theme.answer
    if who in ("memcpy", "floor"):
        return theme.faint
    return {
        "cupy": theme.aggregate,
        "numpy": theme.aggregate,
        "polars": theme.text,
        "dask-cudf": theme.aggregate,
        "pyarrow": theme.faint,
    }.get(who, theme.prefix)


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
    """Draw one bar for each benchmark and contender; a line marks the reference of all."""
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
            name = peer(who) if who not in shown else None
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
        [g for g in groups if g.limit],
        lambda g, who: 100 * (g.limit or 0.0) / g.times[who],
        "percent of the rate of a plain copy (sums: of a plain read)",
        line=(100, "memcpy"),
        skip=("memcpy",),
    )


def milliseconds(theme: Theme, groups: list[Group]) -> Figure:
    return bars(
        theme, groups, lambda g, who: g.times[who], "milliseconds", skip=("one column", "one scan")
    )


def microseconds(theme: Theme, groups: list[Group]) -> Figure:
    return bars(
        theme, groups, lambda g, who: 1e3 * g.times[who], "microseconds a call", text="{:.1f}"
    )


def times_ours(theme: Theme, groups: list[Group]) -> Figure:
    return bars(
        theme,
        [g for g in groups if g.ratios],
        lambda g, who: g.ratios[who],
        "times as long as dask-gpuscan takes",
        text="{:.1f}",
        line=(1, "dask-gpuscan"),
        skip=("ours",),
    )


def speeds(theme: Theme, ratios: dict[str, dict[str, float]]) -> Figure:
    """Draw how many times as long libraries take, by method, on an axis of doublings."""
    shades = {
        "pandas": theme.prefix,
        "polars": theme.text,
        "Dask": theme.aggregate,
        "cuDF": theme.answer,
    }
    ax = frame(theme, 3.9)
    for row, found in enumerate(ratios.values()):
        for place, (who, shade) in enumerate(shades.items()):
            y = row + 0.2 * (place - 1.5)
            ax.barh(y, found[who] - 1, 0.17, left=1, color=shade, label=None if row else who)
            ax.annotate(
                times(found[who]),
                (found[who], y),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                color=theme.text,
                fontsize=8,
            )
    ax.set_xscale("log", base=2)
    ax.set_xlim(1, 32)
    ax.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    ax.set_xticks([], minor=True)
    ax.set_yticks(range(len(ratios)), list(ratios))
    ax.set_ylim(len(ratios) - 0.5, -0.5)
    ax.set_xlabel(
        "how many times as long as dask-gpuscan the same call takes", color=theme.text, fontsize=9.5
    )
    legend(ax, theme, len(shades))
    return ax.figure


def efficiency(theme: Theme, groups: list[Group]) -> Figure:
    """Draw the share of the ideal speed that several GPUs reach, for ours and for the floor."""
    fields = {"ours": "measured_efficiency", "floor": "measured_floor_efficiency"}
    return bars(
        theme,
        [g for g in groups if "measured_efficiency" in g.first],
        lambda g, who: 100 * float(g.first[fields[who]]),
        "percent of the speed of one GPU, times the number of GPUs",
        line=(100, "ideal"),
    )


def sizes(theme: Theme, groups: list[Group]) -> Figure:
    """Draw the rate over the number of elements, one panel for each dtype."""
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
                label=peer(who),
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
