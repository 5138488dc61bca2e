"""The architectures that each kernel is compiled for, in turn: one a schedule, of which one is linked; `make spills`
links all."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from dask_gpuscan.kernels.cuda.core.build import compiled, source

Build = tuple[tuple[int, int], str]
Variant = tuple[str, Any, tuple[str, ...]]
"""A kernel: its name, what tests make it of, and its schedules."""

IN_TURN: list[list[Build]] = [
    [((9, 0), "pipelined"), ((9, 0), "classic")],  # which call the same functions
    [((10, 0), "pipelined"), ((7, 5), "classic")],
    [((9, 0), "pipelined"), ((9, 0), "classic")],
    [((12, 0), "pipelined"), ((8, 0), "classic")],
]
EVERY = [build for pair in IN_TURN for build in pair]
ALL = os.environ.get("ARCHITECTURES") == "all"


def builds(variants: Iterable[Variant]) -> list[Any]:
    """Return a parameter (variant, capability, schedule) for every build that is linked."""
    return _parameters(variants, lambda i, found: found if ALL else [found[_linked(i, found)]])


def others(variants: Iterable[Variant]) -> list[Any]:
    """Return a parameter for every build that is compiled, and not linked."""
    return _parameters(
        variants,
        lambda i, found: [] if ALL else found[: _linked(i, found)] + found[_linked(i, found) + 1 :],
    )


def _linked(position: int, found: list[Build]) -> int:
    """Return which of the builds of a variant is linked."""
    return position // len(IN_TURN) % len(found)


def _parameters(
    variants: Iterable[Variant], choose: Callable[[int, list[Build]], list[Build]]
) -> list[Any]:
    return [
        pytest.param(
            variant,
            capability,
            schedule,
            id=f"{name}-sm_{major}{minor}-{schedule}",
            marks=pytest.mark.spills,
        )
        for i, (name, variant, schedules) in enumerate(variants)
        for capability, schedule in choose(i, _of(i, schedules))
        for major, minor in [capability]
    ]


def _of(position: int, schedules: tuple[str, ...]) -> list[Build]:
    if ALL:
        chosen = EVERY
    elif len(schedules) == 1:
        chosen = [EVERY[position % len(EVERY)]]
    else:
        chosen = IN_TURN[position % len(IN_TURN)]
    fitting = [(on, schedule if schedule in schedules else "classic") for on, schedule in chosen]
    return list(dict.fromkeys(fitting))


def compiled_source(each: Any, schedule: str, capability: tuple[int, int]) -> bytes:
    """Compile the source of a pass, without the functions of its operator, and do not link it."""
    major, minor = capability
    return bytes(compiled(source(each, schedule, capability), f"sm_{major}{minor}").code)
