"""The architectures that kernels are compiled for: one for each schedule, in turn, or all of them in `make spills`.

Linking takes nine tenths of the time, so an eighth of the kernels is linked, or all of them in `make spills`.
"""

import os
from collections.abc import Iterable
from typing import Any

import pytest

Build = tuple[tuple[int, int], str]

IN_TURN: list[list[Build]] = [
    [((9, 0), "pipelined"), ((9, 0), "classic")],  # both call the same functions
    [((10, 0), "pipelined"), ((7, 5), "classic")],
    [((9, 0), "pipelined"), ((9, 0), "classic")],
    [((12, 0), "pipelined"), ((8, 0), "classic")],
]
EVERY = [build for pair in IN_TURN for build in pair]
ALL = os.environ.get("ARCHITECTURES") == "all"


def builds(variants: Iterable[tuple[str, Any, tuple[str, ...]]]) -> list[Any]:
    """Return a parameter (variant, capability, schedule) for every build; variants have a name and their schedules."""
    return [
        pytest.param(
            variant,
            capability,
            schedule,
            id=f"{name}-sm_{major}{minor}-{schedule}",
            marks=marks(i),
        )
        for i, (name, variant, schedules) in enumerate(variants)
        for capability, schedule in _of(i, schedules)
        for major, minor in [capability]
    ]


def marks(position: int) -> list[Any]:
    """Return the marks of the kernel at a position in its test: seven of eight kernels are not linked."""
    return [pytest.mark.spills] + [pytest.mark.unlinked] * (not ALL and position % 8 > 0)


def _of(position: int, schedules: tuple[str, ...]) -> list[Build]:
    if ALL:
        chosen = EVERY
    elif len(schedules) == 1:
        chosen = [EVERY[position % len(EVERY)]]
    else:
        chosen = IN_TURN[position % len(IN_TURN)]
    fitting = [(on, schedule if schedule in schedules else "classic") for on, schedule in chosen]
    return list(dict.fromkeys(fitting))
