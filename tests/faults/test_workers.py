"""Workers that are killed, stopped and slow: answers have the same bits as without."""

import os
import random
import signal
import time
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path

import dask
import pytest

from faults.harm import WHOLE, bits, blocks, frame, harm, harm_one, rows, undisturbed, wait_for
from fuzz import schedules

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

MAKE = {schedules.frame: frame, schedules.array: blocks}
METHODS = {
    name: (call, MAKE[make]) for name, (call, make) in schedules.METHODS.items() if make in MAKE
}
"""Every method that crosses partitions, and what it is called on."""

FEW = ("Gpuscan.cumsum", "Gpuscan.sort_values")


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


def test_a_worker_that_stops_for_a_while(client, tmp_path):
    expected, note = undisturbed(lambda f: f[["x", "n"]].gpuscan.cumsum(), frame), tmp_path / "note"
    client.wait_for_workers(2, timeout=60)
    harm_one(client, note, 2, signal.SIGSTOP)
    future = client.compute(frame(0.02)[["x", "n"]].gpuscan.cumsum())
    wait_for(lambda: note.exists() and note.read_text())
    time.sleep(0.5)
    os.kill(int(note.read_text()), signal.SIGCONT)
    assert bits([future.result(timeout=100)]) == bits(expected)


def test_a_slow_worker(client):
    expected = undisturbed(lambda f: f.gpuscan.groupby("k")["x"].cumsum(), frame)
    client.wait_for_workers(2, timeout=60)
    slow = [min(client.scheduler_info(n_workers=-1)["workers"])]
    client.run(harm, seconds=0.1, workers=slow)
    try:
        future = client.compute(frame().gpuscan.groupby("k")["x"].cumsum())
        assert bits([future.result(timeout=100)]) == bits(expected)
    finally:
        client.run(harm, seconds=0.0)


def broken(i, seconds, note):
    """Return a partition; of the seventh, only when it is asked for again."""
    if i == 7 and not Path(note).exists():
        Path(note).touch()
        raise OSError(f"file {i} cannot be read")
    return rows(i, seconds)


def test_a_task_that_raises(client, tmp_path):
    expected = undisturbed(lambda f: f[["x", "n"]].gpuscan.cumsum(), frame)
    load = partial(broken, note=str(tmp_path / "once"))
    with pytest.raises(OSError, match="file 7 cannot be read"):
        client.compute(frame(load=load)[["x", "n"]].gpuscan.cumsum()).result(timeout=100)
    load = partial(broken, note=str(tmp_path / "retried"))
    future = client.compute(frame(load=load)[["x", "n"]].gpuscan.cumsum(), retries=1)
    assert bits([future.result(timeout=100)]) == bits(expected)


def test_a_graph_that_is_cancelled_in_mid_job(client, tmp_path):
    call = lambda f: f.gpuscan.sort_values(["n", "x"])  # noqa: E731
    expected, note = undisturbed(call, frame), tmp_path / "note"
    client.wait_for_workers(2, timeout=60)
    harm_one(client, note, 3, 0)  # no signal: it only says that the job is under way
    future = client.compute(call(frame(0.05)))
    wait_for(note.exists)
    future.cancel()
    assert future.cancelled()
    with pytest.raises(CancelledError):
        future.result(timeout=100)
    # other keys: Dask may cancel a graph of the same ones that is computed right after
    assert bits([client.compute(call(frame(0.04))).result(timeout=100)]) == bits(expected)


@pytest.mark.skipif(not WHOLE, reason="starts three workers anew: make faults")
def test_a_cluster_that_restarts_in_mid_job(client, tmp_path):
    call = lambda f: f.gpuscan.groupby("k")["x"].cumsum()  # noqa: E731
    expected, note = undisturbed(call, frame), tmp_path / "note"
    lazy = call(frame(0.05))
    harm_one(client, note, 2, 0)
    future = client.compute(lazy)
    wait_for(note.exists)
    client.restart(timeout=100)
    assert future.cancelled()
    assert bits([client.compute(lazy).result(timeout=100)]) == bits(expected)
