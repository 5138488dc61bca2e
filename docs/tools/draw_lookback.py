"""Draw the two look-back levels, tiles within a partition and partitions across the graph, and the halo, as SVG.

The first two show the same numbers, so that they can be compared: eight pieces of three values, a running
sum, and the moment at which piece 6 looks back for its carry. ``python docs/tools/pictures.py`` writes them.
"""

from drawing import STEP, WIDTH, Theme, arrow, canvas, filled, label, plain
from matplotlib.figure import Figure

PIECES = [(3, 1, 2), (4, 0, 1), (2, 2, 3), (1, 5, 0), (3, 3, 2), (0, 1, 4), (2, 6, 1), (1, 2, 2)]
SUMS = [sum(piece) for piece in PIECES]
ASKING = 6  # the piece that looks back
KNOWN = 2  # the last tile with a known prefix
WINDOW = 4  # partitions of a window


def spaced(values: tuple[int, ...]) -> str:
    """Return the text of a piece's box."""
    return "  ".join(str(v) for v in values)


def running(piece: tuple[int, ...], carry: int) -> tuple[int, ...]:
    """Return the running sum of a piece from a carry."""
    return tuple(carry + sum(piece[: i + 1]) for i in range(len(piece)))


def draw_tiles(theme: Theme) -> Figure:
    """Draw tiles within a partition: tile 6 combines the aggregates A back to the nearest known prefix P."""
    ax = canvas(4.1)
    data, state, carry, out = 3.7, 2.8, 1.25, 0.4
    label(ax, data, "tiles of a partition", "each read from memory once", theme)
    label(ax, state, "published so far", "A  aggregate     P  prefix", theme)
    label(ax, carry, "look back", "fold what lies before, in order", theme)
    label(ax, out, "answer of tile 6", "each written once", theme)
    for i, piece in enumerate(PIECES):
        x = i * STEP
        plain(ax, x, data, spaced(piece), theme)
        arrow(ax, (x, data - 0.25), (x, state + 0.25), theme.faint, strong=False)
        if i <= KNOWN:
            filled(ax, x, state, f"P  {sum(SUMS[: i + 1])}", theme.prefix, theme)
        elif i <= ASKING:
            filled(ax, x, state, f"A  {SUMS[i]}", theme.aggregate, theme)
        else:
            plain(ax, x, state, "…", theme)

    asking = ASKING * STEP
    for i in range(KNOWN, ASKING):
        colour = theme.prefix if i == KNOWN else theme.aggregate
        arrow(
            ax,
            (asking - 0.3 + 0.17 * (ASKING - 1 - i), state - 0.25),
            (i * STEP + 0.05, state - 0.27),
            colour,
            bend=-0.34 + 0.02 * (ASKING - i),
        )
    terms = [sum(SUMS[: KNOWN + 1]), *SUMS[KNOWN + 1 : ASKING]]
    total = sum(terms)
    middle = (KNOWN + ASKING) / 2 * STEP
    ax.text(
        middle,
        carry,
        f"{' + '.join(str(t) for t in terms)}  =  {total}",
        ha="center",
        va="center",
        color=theme.text,
        fontsize=11.5,
    )
    arrow(ax, (middle + 1.3, carry), (asking, out + 0.26), theme.answer, bend=-0.25)
    filled(ax, asking, out, spaced(running(PIECES[ASKING], total)), theme.answer, theme)
    return ax.figure


def draw_partitions(theme: Theme) -> Figure:
    """Draw partitions across the graph: out[6] takes a window's prefix and the aggregates after it."""
    ax = canvas(4.5)
    data, state, window, out = 4.1, 3.15, 1.85, 0.4
    label(ax, data, "partitions", "each loaded once", theme)
    label(ax, state, "aggregate[i]", "one small value", theme)
    label(ax, window, "prefix[g]", f"one task for {WINDOW} partitions", theme)
    label(ax, out, "out[i]", "the partition, scanned", theme)
    first = WINDOW * (ASKING // WINDOW)
    gap = (first - 0.5) * STEP
    base = sum(SUMS[:first])
    carry = sum(SUMS[:ASKING])
    for i, piece in enumerate(PIECES):
        x = i * STEP
        used = first <= i < ASKING
        plain(ax, x, data, spaced(piece), theme)
        filled(ax, x, state, str(SUMS[i]), theme.aggregate, theme, width=0.5)
        arrow(ax, (x, data - 0.25), (x, state + 0.25), theme.faint, strong=False)
        if i < first:
            arrow(ax, (x, state - 0.25), (gap - 0.5 + 0.3 * i, window + 0.26), theme.aggregate)
        if i == ASKING:
            filled(ax, x, out, spaced(running(piece, carry)), theme.answer, theme)
        else:
            plain(ax, x, out, spaced(running(piece, sum(SUMS[:i]))), theme)
        if used:
            end = ASKING * STEP - 0.18 + 0.1 * (i - first)
            arrow(ax, (x, state - 0.25), (end, out + 0.26), theme.aggregate)
        if i >= first and i != ASKING:
            arrow(
                ax,
                (gap + 0.2 + 0.07 * i, window - 0.25),
                (x, out + 0.25),
                theme.faint,
                strong=False,
            )

    filled(ax, gap, window, f"prefix[1]   {base}", theme.prefix, theme, width=1.45)
    arrow(ax, (gap + 0.62, window - 0.25), (ASKING * STEP - 0.36, out + 0.26), theme.prefix)
    asking = ASKING * STEP
    arrow(ax, (asking + 0.37, data - 0.25), (asking + 0.37, out + 0.26), theme.answer)
    return ax.figure


def draw_halo(theme: Theme) -> Figure:
    """Draw rolling sums of four rows: a partition gets the three rows before it, wherever they are."""
    ax = canvas(4.4)
    pieces = [(3, 1, 2), (4, 0, 1), (2,), (), (1, 5, 0), (3, 3, 2)]
    asking, reach = 4, 3
    data, state, carry, out = 4.0, 3.05, 1.75, 0.4
    label(ax, data, "partitions", "short and empty ones too", theme)
    label(ax, state, "aggregate[i]", f"its last {reach} rows", theme)
    label(ax, carry, "halo", f"joined, and cut to {reach} rows again", theme)
    label(ax, out, "out[i]", "sums of 4 rows each", theme)
    rows = [value for piece in pieces for value in piece]
    start = 0
    for i, piece in enumerate(pieces):
        x = i * STEP
        plain(ax, x, data, spaced(piece), theme)
        if i < asking:
            filled(ax, x, state, spaced(piece[-reach:]), theme.aggregate, theme)
        else:
            plain(ax, x, state, spaced(piece[-reach:]), theme)
        arrow(ax, (x, data - 0.25), (x, state + 0.25), theme.faint, strong=False)
        sums = [
            str(sum(rows[k - reach : k + 1])) if k >= reach else "."
            for k in range(start, start + len(piece))
        ]
        if i == asking:
            filled(ax, x, out, "  ".join(sums), theme.answer, theme)
        else:
            plain(ax, x, out, "  ".join(sums), theme)
        start += len(piece)
    before = [value for piece in pieces[:asking] for value in piece][-reach:]
    middle = 2 * STEP
    filled(ax, middle, carry, spaced(tuple(before)), theme.prefix, theme)
    for i in range(1, asking):
        arrow(
            ax,
            (i * STEP, state - 0.25),
            (middle - 0.2 + 0.2 * (i - 1), carry + 0.26),
            theme.aggregate,
        )
    arrow(
        ax, (middle + WIDTH / 2, carry), (asking * STEP - 0.2, out + 0.26), theme.prefix, bend=-0.15
    )
    arrow(ax, (asking * STEP + 0.37, data - 0.25), (asking * STEP + 0.37, out + 0.26), theme.answer)
    return ax.figure


PICTURES = {"tiles": draw_tiles, "partitions": draw_partitions, "halo": draw_halo}
