"""A scheduler that is killed, and workers that are stopped for good: an error or the same bits, in bounded time."""

import os
import signal
import time
from concurrent.futures import CancelledError

import dask
import pytest

from faults.harm import WHOLE, Harm, bits, frame, harm_one, undisturbed, wait_for
from faults.processes import Processes

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(os.name != "posix", reason="needs signals and sessions"),
]

CALLS = {
    "cumsum": lambda f: f[["x", "n"]].gpuscan.cumsum(),
    "clustered sum": lambda f: f.gpuscan.groupby("k", clustered=True)["x"].sum(),
    "sort": lambda f: f.gpuscan.sort_values(["n", "x"]),
}

WORKERS = 2 if WHOLE else 1  # each imports all that there is

SOON = 60.0
"""Seconds within which an error or an answer comes, on a machine that does much else too."""


def is_stopped(process):
    import psutil

    return psutil.Process(process).status() == psutil.STATUS_STOPPED


def started(processes, address, count, **how):
    """Return a client of a scheduler and of so many new workers of it."""
    from distributed import Client

    for _ in range(count):
        processes.worker(address, **how)
    client = Client(address, timeout=SOON)
    client.wait_for_workers(count, timeout=SOON)
    client.register_plugin(Harm())
    return client


WAYS = {
    "compute": lambda client, lazy: dask.compute(lazy, scheduler="distributed"),
    "future": lambda client, lazy: client.compute(lazy).result(timeout=SOON),
}

PLACES = [("same", "compute", False), ("other", "future", True)]


@pytest.mark.parametrize(("address", "way", "nanny"), PLACES if WHOLE else PLACES[:1])
@pytest.mark.parametrize("name", CALLS if WHOLE else ["cumsum"])
def test_a_scheduler_that_is_killed(tmp_path, name, address, way, nanny):
    call, note = CALLS[name], tmp_path / "note"
    expected, lazy = undisturbed(call, frame), call(frame(0.05))
    with Processes(tmp_path) as processes:
        scheduler, at = processes.scheduler()
        with started(processes, at, WORKERS, nanny=nanny) as client:
            harm_one(client, note, 3, process=scheduler.pid)
            begin = time.monotonic()
            with pytest.raises(CancelledError, match="lost the connection to the scheduler"):
                WAYS[way](client, lazy)
            assert time.monotonic() < begin + SOON
            assert scheduler.wait(1) == -signal.SIGKILL
            workers = [each for each in processes.started if each is not scheduler]
            wait_for(lambda: all(each.poll() is not None for each in workers))
            if address == "same":  # the client finds the new one by itself
                assert processes.scheduler(at)[1] == at
                for _ in workers:
                    processes.worker(at)
                wait_for(lambda: client.status == "running")
                client.wait_for_workers(WORKERS, timeout=SOON)
                answer = client.compute(lazy).result(timeout=SOON)
        if address == "other":
            with started(processes, processes.scheduler()[1], WORKERS) as client:
                answer = client.compute(lazy).result(timeout=SOON)
        assert bits([answer]) == bits(expected)


# without a nanny the worker stays stopped and is passed over; with one it is killed and comes back
@pytest.mark.parametrize("nanny", [False, True])
@pytest.mark.skipif(not WHOLE, reason="starts three workers anew: make faults")
@pytest.mark.parametrize("name", CALLS)
def test_a_worker_that_stops_for_good(tmp_path, name, nanny):
    call, note = CALLS[name], tmp_path / "note"
    expected = undisturbed(call, frame)
    with Processes(tmp_path, DISTRIBUTED__SCHEDULER__WORKER_TTL="5s") as processes:
        with started(processes, processes.scheduler()[1], 3, nanny=nanny) as client:
            # first without harm: workers that import and compile may be too busy to say that they live
            client.compute(call(frame())).result(timeout=SOON)
            harm_one(client, note, 3, signal.SIGSTOP)
            stopped = min(client.scheduler_info(n_workers=-1)["workers"])
            answer = client.compute(call(frame(0.1))).result(timeout=SOON)
            events = [event for _, event in client.get_events("scheduler")]
            late = [e["workers"] for e in events if e.get("action") == "worker-ttl-timed-out"]
            assert stopped in {worker for workers in late for worker in workers}
            assert nanny or is_stopped(int(note.read_text()))
        assert bits([answer]) == bits(expected)
