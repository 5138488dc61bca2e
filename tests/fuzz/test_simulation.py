"""Simulated schedules keep to the graph, can be repeated, and find operations that are no pure functions."""

import itertools
import re

import numpy as np
import pytest
from dask import delayed
from hypothesis import strategies as st

from .fuzzer import fuzz
from .schedules import HARMS, ScheduleCase, jobs_of
from .simulation import WORKERS, Harms, Simulation

ALL = Harms(*[True] * len(vars(Harms())))


def inc(x):
    return x + 1


GRAPH = {
    **{("load", i): (inc, i) for i in range(4)},
    **{("aggregate", i): (inc, ("load", i)) for i in range(3)},
    **{("apply", i): (sum, [("load", i), *(("aggregate", j) for j in range(i))]) for i in range(4)},
    "unused": (inc, ("load", 0)),
}
OUTPUTS = [("apply", i) for i in range(4)]
ANSWERS = [1, 4, 8, 13]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("harms", [Harms(), ALL, Harms(late=True), Harms(lost=True)], ids=str)
def test_schedules_keep_to_the_graph(harms, seed):
    run = Simulation(GRAPH, harms, seed)
    assert run.results(OUTPUTS) == ANSWERS
    assert {at for _, at in run.ran} <= set(range(WORKERS))
    ran = [key for key, _ in run.ran]
    assert set(ran) == set(GRAPH) - {"unused"}
    assert len(ran) == len(set(ran)) or harms.twice or run.losses
    for at, key in enumerate(ran):
        assert run.graph[key].dependencies <= set(ran[:at])
    again = Simulation(GRAPH, harms, seed)
    again.results(OUTPUTS)
    assert again.ran == run.ran


def test_seeds_are_other_schedules():
    runs = [Simulation(GRAPH, ALL, seed) for seed in range(50)]
    for run in runs:
        run.results(OUTPUTS)
    assert len({tuple(run.ran) for run in runs}) == 50
    assert any(run.losses for run in runs)
    assert any(len(run.ran) > len(GRAPH) for run in runs)


def test_late_layers_wait():
    runs = [Simulation(GRAPH, Harms(late=True), seed) for seed in range(10)]
    late = [run for run in runs if run.turns["aggregate", 0] > run.turns["load", 0]]
    assert late
    for run in late:
        run.results(OUTPUTS)
        assert [key[0] for key, _ in run.ran].index("aggregate") >= 4


# --- operations that are no pure functions --------------------------------------------------------------------------


def numbers(i):
    return np.arange(3.0) + i


def adds_in_place(x, before):
    x += before
    return x


def writes_again(x, before):
    x[0] = x[0]
    return x + before


COUNT = itertools.count()


def counts_calls(x, before):
    return x + before + next(COUNT)


class Identity:
    """Is equal to itself alone."""


ONE = Identity()


def returns_one(x):
    return ONE


def knows_one(x, one):
    return x + (one is ONE)


def wrong(operation, helper=None):
    """Return lazy arrays, and what an operation makes of two of them and what is before each."""
    parts = [delayed(numbers)(i, dask_key_name=f"numbers-{i}") for i in range(3)]
    before = parts
    if helper:
        before = [delayed(helper)(x, dask_key_name=f"helper-{i}") for i, x in enumerate(parts)]
    made = [
        delayed(operation)(parts[i + 1], before[i], dask_key_name=f"made-{i}") for i in range(2)
    ]
    return made + parts


@pytest.mark.parametrize(
    ("operation", "helper", "caught_by"),
    [
        (adds_in_place, None, {"any_order", "moved", "twice", "lost"}),
        (writes_again, None, {"moved"}),
        (counts_calls, None, {"any_order", "twice", "lost", "none"}),
        (knows_one, returns_one, {"moved"}),
    ],
    ids=["adds in place", "writes again", "counts calls", "knows objects"],
)
def test_wrong_operations_are_caught(operation, helper, caught_by):
    jobs = jobs_of(lambda: wrong(operation, helper))

    @st.composite
    def cases(draw):
        return ScheduleCase("wrong", lambda: jobs, "", draw(HARMS), draw(st.integers(0, 99)))

    with pytest.raises((AssertionError, ValueError)) as caught:
        fuzz("wrong", cases(), 1, max_examples=100, report_multiple_bugs=False)
    (found,) = re.findall(r"harms: (.*), seed", "".join(caught.value.__notes__))
    assert found in caught_by
