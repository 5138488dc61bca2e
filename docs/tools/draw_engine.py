"""Draw the engine as SVG: the look-back of a GPU, its two schedules, and how a kernel is made.

``python docs/tools/pictures.py`` writes them.
"""

from dataclasses import dataclass

from drawing import Theme, arrow, box, canvas, filled, label, plain
from matplotlib.axes import Axes
from matplotlib.figure import Figure

AGGREGATES = [6, 5, 7, 6, 8, 5, 9, 5, 4, 3, 6, 2]
BLOCK = 4  # tiles of a block in the picture; 32 on the GPU
ASKING = 10
TILE_STEP = 0.68


def draw_tree(theme: Theme) -> Figure:
    """Draw the look-back of tile 10: aggregates of blocks, and those of the tiles of its own block."""
    ax = canvas(4.0)
    tiles, blocks, carry, out = 3.55, 2.55, 1.35, 0.4
    label(ax, tiles, "aggregates of tiles", "published as soon as reduced", theme)
    label(ax, blocks, "aggregates of blocks", f"of 32 tiles (here {BLOCK})", theme)
    label(ax, carry, "look back", "a fixed tree of combinations", theme)
    label(ax, out, f"prefix of tile {ASKING}", "the same bits on every run", theme)
    first = ASKING // BLOCK * BLOCK
    middle = (first / 2 + 1) * TILE_STEP
    for i, size in enumerate(AGGREGATES):
        x = i * TILE_STEP
        if i == ASKING:
            plain(ax, x, tiles, "…", theme, width=0.56)
        else:
            filled(ax, x, tiles, str(size), theme.aggregate, theme, width=0.56)
        if first <= i < ASKING:
            arrow(ax, (x, tiles - 0.25), (middle + 1.1, carry + 0.26), theme.aggregate)
    for block in range(first // BLOCK):
        start = block * BLOCK
        x = (start + (BLOCK - 1) / 2) * TILE_STEP
        for i in range(start, start + BLOCK):
            arrow(ax, (i * TILE_STEP, tiles - 0.25), (x, blocks + 0.26), theme.faint, strong=False)
        total = sum(AGGREGATES[start : start + BLOCK])
        filled(ax, x, blocks, str(total), theme.prefix, theme, width=0.7)
        arrow(ax, (x, blocks - 0.25), (middle - 1.0 + 0.7 * block, carry + 0.26), theme.prefix)
    terms = [sum(AGGREGATES[b : b + BLOCK]) for b in range(0, first, BLOCK)]
    inner = " + ".join(map(str, AGGREGATES[first:ASKING]))
    total = sum(AGGREGATES[:ASKING])
    text = f"({' + '.join(map(str, terms))}) + ({inner})  =  {total}"
    ax.text(middle, carry, text, ha="center", va="center", color=theme.text, fontsize=11.5)
    arrow(ax, (middle + 2.0, carry), (ASKING * TILE_STEP, out + 0.26), theme.answer, bend=-0.2)
    filled(ax, ASKING * TILE_STEP, out, str(total), theme.answer, theme, width=0.7)
    return ax.figure


@dataclass(frozen=True)
class Job:
    """A job on a tile, with its worker, start and duration."""

    who: str
    begins: float
    lasts: float
    colour: str


def draw_schedules(theme: Theme) -> Figure:
    """Draw the jobs of tiles: one after another (classic), or at the same time as those of other tiles (pipelined)."""
    ax = canvas(6.1)
    unit, tiles = 0.62, 5
    classic = [
        Job("load and reduce", 0.0, 1.5, theme.aggregate),
        Job("look back", 1.5, 1.0, theme.prefix),
        Job("scan and write", 2.5, 1.5, theme.answer),
    ]
    top = 5.75
    label(ax, top - 0.3, "classic", "a block does all of a tile", theme)
    for block in range(2):
        y = top - 0.6 * block
        for tile in range(block, 2 * 3, 2):
            for job in classic:
                start = (tile // 2) * 4.2 + job.begins + 0.5 * block
                bar(ax, theme, start * unit, y, job.lasts * unit, str(tile), job.colour)
    y, left = top - 1.25, 0.0
    for job in classic:
        box(ax, left, y, "", face=job.colour, edge=job.colour, colour=theme.text, width=0.22)
        ax.text(left + 0.2, y, job.who, ha="left", va="center", color=theme.text, fontsize=8.5)
        left += 2.2
    pipelined = [
        Job("feeder warp", 0.0, 1.0, theme.faint),
        Job("aggregate squad", 1.05, 1.0, theme.aggregate),
        Job("look-back warps", 2.1, 1.0, theme.prefix),
        Job("scan squad", 3.15, 1.0, theme.answer),
        Job("unloader warp", 4.2, 1.0, theme.faint),
    ]
    notes = ["copies tiles into stages", "reduces and publishes", "finds the prefix"]
    notes += ["scans in shared memory", "copies results out"]
    for row, (job, note) in enumerate(zip(pipelined, notes, strict=True)):
        y = 3.25 - 0.68 * row
        label(ax, y, job.who, note, theme)
        for tile in range(tiles + 3):
            start = (job.begins + tile * 1.05) * unit
            bar(ax, theme, start, y, job.lasts * unit, str(tile), job.colour)
    label(ax, 3.9, "pipelined", "a block has one squad for each job", theme)
    arrow(ax, (-0.3, 0.08), (7.6, 0.08), theme.faint)
    ax.text(7.7, 0.08, "time", ha="left", va="center", color=theme.text, fontsize=9)
    return ax.figure


def bar(
    ax: Axes, theme: Theme, left: float, y: float, width: float, text: str, colour: str
) -> None:
    """Draw a box that begins at `left`."""
    on = theme.text if colour == theme.faint else theme.on_colour
    middle = left + width / 2 - 0.2
    box(ax, middle, y, text, face=colour, edge=colour, colour=on, width=width - 0.04)


def draw_kernel(theme: Theme) -> Figure:
    """Draw how an operator's functions and the engine become machine code, on the CPU and on a GPU."""
    ax = canvas(4.6)
    rows = {"given": 4.15, "compiler": 3.1, "between": 2.05, "linker": 1.15, "kept": 0.35}
    for name, title, note in (
        ("given", "what is given", "the engine and a user"),
        ("compiler", "compilers", "once a kernel and machine"),
        ("between", "between", "in memory"),
        ("linker", "linker", "inlines the operator"),
        ("kept", "on disk", "for later processes"),
    ):
        label(ax, rows[name], title, note, theme)
    wide = 2.0
    operator, cpu, gpu = 3.55, 0.55, 6.6
    filled(ax, operator, rows["given"], "operator (Python)", theme.answer, theme, width=wide)
    plain(ax, cpu, rows["given"], "cpu/engine.py", theme, width=wide)
    plain(ax, gpu, rows["given"], "cuda/*/*.cuh", theme, width=wide)
    filled(ax, cpu + 0.3, rows["compiler"], "Numba", theme.aggregate, theme, width=1.3)
    filled(ax, operator + 0.6, rows["compiler"], "Numba-CUDA", theme.aggregate, theme, width=1.5)
    filled(ax, gpu, rows["compiler"], "NVRTC", theme.aggregate, theme, width=1.3)
    plain(ax, operator + 0.6, rows["between"], "LTO-IR", theme, width=1.2)
    plain(ax, gpu, rows["between"], "LTO-IR", theme, width=1.2)
    filled(ax, 5.4, rows["linker"], "nvJitLink", theme.prefix, theme, width=1.5)
    plain(ax, cpu + 0.3, rows["kept"], "machine code", theme, width=1.7)
    plain(ax, 5.4, rows["kept"], "cubin", theme, width=1.2)
    for start, end in (
        ((cpu, "given"), (cpu + 0.2, "compiler")),
        ((operator - 0.6, "given"), (cpu + 0.6, "compiler")),
        ((operator + 0.3, "given"), (operator + 0.6, "compiler")),
        ((gpu, "given"), (gpu, "compiler")),
        ((operator + 0.6, "compiler"), (operator + 0.6, "between")),
        ((gpu, "compiler"), (gpu, "between")),
        ((operator + 0.6, "between"), (5.0, "linker")),
        ((gpu, "between"), (5.8, "linker")),
        ((5.4, "linker"), (5.4, "kept")),
        ((cpu + 0.3, "compiler"), (cpu + 0.3, "kept")),
    ):
        (x, above), (to, below) = start, end
        arrow(ax, (x, rows[above] - 0.25), (to, rows[below] + 0.26), theme.text, strong=False)
    return ax.figure


PICTURES = {"tree": draw_tree, "schedules": draw_schedules, "kernel": draw_kernel}
