"""The parts of all pictures: themes, boxes, arrows and empty axes; and the writing of files.

One unit of the axes is 0.9 inches; boxes of a row are STEP apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

WIDTH, STEP = 0.92, 1.12


@dataclass(frozen=True)
class Theme:
    """Colours for one background."""

    name: str
    text: str
    faint: str
    piece: str
    aggregate: str
    prefix: str
    answer: str
    on_colour: str


LIGHT = Theme("light", "#222832", "#b3bac4", "#eef1f5", "#e08214", "#2166ac", "#1b7837", "#ffffff")
DARK = Theme("dark", "#dfe5ec", "#545d69", "#262c36", "#f5a742", "#6db0ee", "#6cc486", "#14181e")


def box(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    *,
    face: str,
    edge: str,
    colour: str,
    width: float = WIDTH,
) -> None:
    """Draw a rounded box centred on ``(x, y)`` with text in it."""
    height = 0.5
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=face,
            edgecolor=edge,
            linewidth=1.3,
            zorder=3,
        )
    )
    ax.text(x, y, text, ha="center", va="center", color=colour, fontsize=10, zorder=4)


def arrow(
    ax: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    colour: str,
    *,
    bend: float = 0.0,
    strong: bool = True,
) -> None:
    """Draw an arrow, strong if it matters, else faint."""
    ax.add_patch(
        FancyArrowPatch(
            start,
            end,
            connectionstyle=f"arc3,rad={bend}",
            arrowstyle="-|>",
            mutation_scale=11 if strong else 8,
            color=colour,
            linewidth=1.8 if strong else 0.9,
            zorder=2 if strong else 1,
            shrinkA=0,
            shrinkB=1,
        )
    )


def label(ax: Axes, y: float, title: str, note: str, theme: Theme) -> None:
    """Write the name of a row to its left."""
    ax.text(-0.85, y + 0.09, title, ha="right", va="center", color=theme.text, fontsize=10.5)
    ax.text(
        -0.85, y - 0.16, note, ha="right", va="center", color=theme.text, fontsize=8.5, alpha=0.7
    )


def plain(ax: Axes, x: float, y: float, text: str, theme: Theme, width: float = WIDTH) -> None:
    """Draw a box of data."""
    box(ax, x, y, text, face=theme.piece, edge=theme.faint, colour=theme.text, width=width)


def filled(
    ax: Axes, x: float, y: float, text: str, colour: str, theme: Theme, width: float = WIDTH
) -> None:
    """Draw a box of computed data."""
    box(ax, x, y, text, face=colour, edge=colour, colour=theme.on_colour, width=width)


def canvas(height: float) -> Axes:
    """Return empty axes on a transparent background; one unit is 0.9 inches."""
    left, right = -3.1, 7 * STEP + 0.75
    figure = plt.figure(figsize=((right - left) * 0.9, height * 0.9))
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(left, right)
    ax.set_ylim(0, height)
    ax.axis("off")
    return ax


def write(folder: Path, pictures: dict[str, Callable[[Theme], Figure]]) -> None:
    """Write pictures in every theme: light ones on white, dark ones on a transparent background."""
    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "dask-gpuscan"  # the same picture gives the same bytes
    plt.rcParams["svg.fonttype"] = "none"  # keep text as text
    for name, draw in pictures.items():
        for theme in (LIGHT, DARK):
            figure = draw(theme)
            figure.savefig(
                folder / f"{name}-{theme.name}.svg",
                transparent=theme is DARK,
                facecolor="white" if theme is LIGHT else "none",
                bbox_inches="tight",
                metadata={"Date": None},
            )
            plt.close(figure)
