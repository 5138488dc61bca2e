"""Schedules at random: each method over partitions, its tasks in any order, some run twice or lost, results pickled.

Answers have the bits of the plain synchronous scheduler.
"""

import importlib
import pickle
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pandas as pd
from hypothesis import strategies as st

from faults.harm import bits, rows
from helpers.strategies import partitioned_at

from .drawn import Shown
from .simulation import Harms, Simulation

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "tools"))
CALLS = importlib.import_module("support_calls")

Make = Callable[[list[int]], Any]

ROWS = 39
CUTS = ([], [20], [13, 13, 30], [1, 8, 9, 25], [0, 5, 10, 15, 20, 25, 39])
"""Where partitions begin: the first are the simplest. Some are empty, and one has one row."""


def frame(cuts: list[int]) -> Any:
    """Return a collection whose groups and sessions reach over partitions."""
    return partitioned_at(pd.concat([rows(i) for i in range(3)]), cuts)


def array(cuts: list[int]) -> Any:
    """Return an array in chunks."""
    sizes = [b - a for a, b in pairwise([0, *cuts, ROWS]) if b > a]
    return da.from_array(np.random.default_rng(0).normal(size=ROWS), chunks=(tuple(sizes),))


def cube(cuts: list[int]) -> Any:
    """Return a DataArray in chunks along the dimension that is scanned."""
    sizes = [b - a for a, b in pairwise([0, *(c for c in cuts if c < 5), 5]) if b > a]
    return CALLS.cube().chunk({"time": tuple(sizes)})


METHODS: Mapping[str, tuple[Callable[[Any], Any], Make]] = {
    **{name: (call, frame) for name, call in CALLS.CALLS.items()},
    **{
        f"array {name}": (call, array)
        for name, call in CALLS.ARRAY_CALLS.items()
        if not name.startswith("run_end")  # which take no collections
    },
    **{name: (call, cube) for name, call in CALLS.CUBE_CALLS.items()},
}
"""Every method that crosses partitions, and what it is called on."""


@dataclass(frozen=True)
class Job:
    """A graph that was computed."""

    graph: bytes
    keys: list[Any]
    answers: list[Any]
    """The bits of each."""


def jobs_of(lazy: Callable[[], Any]) -> list[Job]:
    """Return the graphs that are computed for what a function returns, and by the function itself."""
    found: list[Job] = []

    def recording(graph: Any, keys: Any, **_: Any) -> Any:
        plain = graph.__dask_graph__() if hasattr(graph, "__dask_graph__") else graph
        frozen = cloudpickle.dumps(dict(plain))
        answers = dask.get(graph, keys)
        found.append(Job(frozen, list(dask.core.flatten([keys])), []))
        found[-1].answers.extend(map(bits, dask.core.flatten([answers], container=(list, tuple))))
        return answers

    with dask.config.set({"scheduler": recording, "dataframe.shuffle.method": "tasks"}):
        dask.compute(lazy())
    return found


@cache
def jobs(name: str, cuts: tuple[int, ...]) -> list[Job]:
    """Return the graphs of a method."""
    call, make = METHODS[name]
    return jobs_of(lambda: call(make(list(cuts))))


@dataclass(frozen=True, repr=False)
class ScheduleCase(Shown):
    """A method over partitions, in one schedule."""

    label: str
    """The name of the method."""
    jobs: Callable[[], list[Job]]
    shown: str
    harms: Harms
    seed: int

    def __repr__(self) -> str:
        return f"{self.label} {self.shown}, harms: {self.harms}, seed {self.seed}"

    def check(self) -> str:
        """Compare the answers with those of the plain schedule."""
        for job in self.jobs():
            answers = Simulation(pickle.loads(job.graph), self.harms, self.seed).results(job.keys)
            assert [bits(each) for each in answers] == job.answers, "other bits than in order"
        return "same bits"


@st.composite
def _cases(draw: Any) -> ScheduleCase:
    name, cuts = draw(st.sampled_from([*METHODS])), draw(st.sampled_from(CUTS))
    harms, seed = draw(HARMS), draw(st.integers(0, 2**16))
    return ScheduleCase(name, lambda: jobs(name, tuple(cuts)), f"cut at {cuts}", harms, seed)


HARMS = st.builds(Harms, *[st.booleans()] * len(vars(Harms())))
SCHEDULES = _cases()
"""A method, a partitioning, and a schedule."""
