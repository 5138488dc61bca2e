"""Workers that are killed, stopped and slow: answers have the same bits as without."""

import importlib
import random
import sys
from pathlib import Path

import dask
import pytest

from faults.harm import WHOLE, bits, blocks, frame, harm_one

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
CALLS = importlib.import_module("support_calls")

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

METHODS = {
    **{name: (call, frame) for name, call in CALLS.CALLS.items()},
    **{f"array {name}": (call, blocks) for name, call in CALLS.ARRAY_CALLS.items()},
}
"""Every method, and what it is called on."""

FEW = ("Gpuscan.cumsum", "GroupBy.sum", "Gpuscan.sort_values", "Rolling.mean")


def undisturbed(call, make):
    with dask.config.set({"dataframe.shuffle.method": "tasks"}):
        return dask.compute(call(make()), scheduler="synchronous")


@pytest.mark.parametrize("name", METHODS if WHOLE else FEW)
def test_answers_outlive_a_killed_worker(client, tmp_path, name):
    call, make = METHODS[name]
    chance = random.Random(name)
    expected = undisturbed(call, make)
    note = tmp_path / "note"
    lazy = call(make(0.01))
    for left in (chance.randrange(1, 9), 1):
        client.wait_for_workers(2, timeout=60)
        harm_one(client, note, left)
        answer = dask.compute(lazy, scheduler="distributed")
        if note.exists():
            break
    assert note.exists()
    assert bits(answer) == bits(expected)
