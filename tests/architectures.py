"""The architectures that each kernel is compiled for: sm_90 and one in turn; all of them in `make spills`."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

ALWAYS = [((9, 0), "pipelined"), ((9, 0), "classic")]
IN_TURN = [
    ((7, 5), "classic"),
    ((8, 0), "classic"),
    ((10, 0), "pipelined"),
    ((12, 0), "pipelined"),
]
ALL = os.environ.get("ARCHITECTURES") == "all"


def builds(variants: Iterable[tuple[str, Any, tuple[str, ...]]]) -> list[Any]:
    """Return a parameter (variant, capability, schedule) for every build; variants have a name and their schedules."""
    return [
        pytest.param(variant, capability, schedule, id=f"{name}-sm_{major}{minor}-{schedule}")
        for i, (name, variant, schedules) in enumerate(variants)
        for capability, schedule in _of(i, schedules)
        for major, minor in [capability]
    ]


def _of(position: int, schedules: tuple[str, ...]) -> list[tuple[tuple[int, int], str]]:
    chosen = ALWAYS + (IN_TURN if ALL else IN_TURN[position % len(IN_TURN) :][:1])
    fitting = [(on, schedule if schedule in schedules else "classic") for on, schedule in chosen]
    return list(dict.fromkeys(fitting))
