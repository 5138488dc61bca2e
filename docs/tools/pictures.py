"""Write the committed pictures of pages, and the table of speeds.

``python docs/tools/pictures.py`` writes ``docs/_static/*.svg``, light and dark, and the table of docs/benchmarks.md.
Tests compare both with the results and the scripts that draw them.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import bench_pictures
import draw_engine
import draw_lookback
import headlines
from bench_records import Group
from drawing import Theme, write
from headlines import Headline
from matplotlib.figure import Figure

FOLDER = Path(__file__).parents[1] / "_static"


def chart(
    draw: Callable[[Theme, list[Group]], Figure], shown: tuple[Headline, ...], theme: Theme
) -> Figure:
    """Draw headlines, one group for each."""
    return draw(theme, [Group(each.title, each.records()) for each in shown])


PICTURES: dict[str, Callable[[Theme], Figure]] = {
    **draw_lookback.PICTURES,
    **draw_engine.PICTURES,
    "speeds": lambda theme: bench_pictures.speeds(theme, headlines.in_readme()),
    "bench-cpu": partial(chart, bench_pictures.times_ours, headlines.ON_CPUS),
    "bench-gpu": partial(chart, bench_pictures.times_ours, headlines.ON_A_GPU),
    "bench-partitions": partial(chart, bench_pictures.times_ours, headlines.OVER_PARTITIONS),
    "bench-memory": partial(chart, bench_pictures.of_limit, headlines.OF_MEMORY),
}


if __name__ == "__main__":
    write(FOLDER, PICTURES)
    text = headlines.PAGE.read_text(encoding="utf-8")
    headlines.PAGE.write_text(headlines.put_in(text), encoding="utf-8")
