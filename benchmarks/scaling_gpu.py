"""The same jobs on one GPU and on several: weak scaling, strong scaling, and workers that are killed in mid-job.

    python benchmarks/scaling_gpu.py [--gpus 1 2 4] [--kills N] [--quick] [--only NAME] [--output FILE] [--cpu]
        [--protocol ucx]

Weak: 16 partitions of 2^25 rows for each GPU. Strong: 1,024 partitions of 2^20 rows, and 64 of 2^22 for the sort.
Partitions are made on the workers, in turns, and answers stay there. Answers of several GPUs must have the same bits as
those of one. ``--kills N`` only kills a worker in each of N jobs. ``--cpu`` uses processes and pandas, to check that
the script runs. See README.md here.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import signal
import statistics
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import timing
from distributed import Client
from scaling_jobs import (
    CASES,
    DTYPES,
    FLOOR,
    KILLED,
    Case,
    Collection,
    Digests,
    Job,
    Taken,
    Traffic,
    cluster,
    digests,
    floor,
    make,
    materialise,
)
from timing import ROOT, Bench, Record, merge

SECONDS, ROUNDS = 5.0, 15
"""The most seconds and rounds for which a job is timed, at least twice."""
BANDWIDTH = "1MB"
"""The network speed per second that Dask assumes until it has measured it. With its default of 100 MB, partitions of 8
MB move to workers that would begin with them 0.1 s sooner; with 10 MB they still move after first calls, as slow tasks
make queues look long. Once some have moved, Dask has measured a fast network, and more follow."""
BEHIND = 0.05
"""By how much a job may be less efficient than the floor if the data grow with the GPUs."""


class Scaling:
    """All jobs on clusters of several sizes; the times and answers of one GPU are kept for comparison."""

    def __init__(self, bench: Bench, output: Path, cpu: bool, protocol: str | None = None) -> None:
        self.bench, self.output, self.cpu = bench, output, cpu
        self.suffix = "" if protocol is None else f"_{protocol}"
        self.failed: list[str] = []
        self.alone: dict[str, tuple[Digests, float, float]] = {}

    @contextmanager
    def reported(self, name: str) -> Iterator[None]:
        """Save what was measured, and report an error and go on."""
        try:
            yield
        except Exception:
            self.failed.append(name)
            print(f"FAILED: {name}\n{traceback.format_exc()}", flush=True)
        merge(self.output, self.bench.records)

    # --- scaling ------------------------------------------------------------------------------------------------------

    def run(self, client: Client, gpus: int) -> None:
        for case in CASES:
            jobs = {f"scaling_{case.name}_{job.name}{self.suffix}": job for job in case.jobs}
            wanted = {name: job for name, job in jobs.items() if self.bench.wanted(name)}
            if wanted:
                with self.reported(f"data of {', '.join(wanted)}"):
                    self.run_case(client, gpus, case, wanted)
                gc.collect()

    def run_case(self, client: Client, gpus: int, case: Case, jobs: dict[str, Job]) -> None:
        count = self.bench.scale(*case.partitions) * (gpus if case.grows else 1)
        rows = self.bench.scale(*case.rows)
        frame = self.placed(client, count, rows)
        for name, job in jobs.items():
            with self.reported(f"{name} on {gpus} GPUs"):
                data = frame
                if job.columns != "frame":
                    data = materialise(
                        client, frame[job.columns if job.columns in frame else [*job.columns]]
                    )
                self.run_job(client, gpus, case, name, job, data, count * rows)

    def placed(self, client: Client, count: int, rows: int) -> Collection:
        """Return partitions that were made on the workers in turns."""
        meta = make(0, 1, self.cpu).iloc[:0]  # imports cuDF before a thread of the client does
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        made = [
            client.submit(make, i * rows, rows, self.cpu, workers=workers[i % len(workers)])
            for i in range(count)
        ]
        lazy = dd.from_delayed(made, meta=meta, verify_meta=False)
        return materialise(client, lazy)

    def run_job(
        self, client: Client, gpus: int, case: Case, name: str, job: Job, data: Any, n: int
    ) -> None:
        answer = materialise(client, job.call(data))  # the warm-up
        found = [int(one) for one in digests(answer, self.cpu).compute()]
        del answer
        ours, least = self.timed(client, job, data)
        extra: Record = {
            "partitions": data.npartitions,
            "gpus": gpus,
            "measured_moved_bytes": ours.moved,
            "measured_partition_bytes": ours.partitions,
            "measured_digest": hashlib.sha256(str(found).encode()).hexdigest()[:16],
        }
        aims = ["measured_partition_bytes <= 0"]
        if job is not FLOOR and not job.moves:
            aims.append(f"times_floor <= {case.most_floors}")
        if gpus == 1:
            self.alone[name] = found, ours.ms, least.ms
        elif name in self.alone:
            before, *ms = self.alone[name]
            one, several = case.common(job, before, found)
            assert one == several, f"the answer of {gpus} GPUs has other bits than that of one"
            mine, its = (
                round(case.efficiency(alone, taken.ms, gpus), 3)
                for alone, taken in zip(ms, (ours, least), strict=True)
            )
            extra |= {"measured_efficiency": mine, "measured_floor_efficiency": its}
            extra["measured_behind_floor"] = round(its - mine, 3)
            if case.grows and job is not FLOOR:
                aims.append(f"measured_behind_floor <= {BEHIND}")
        peer = (None, None) if job is FLOOR else ("floor", least.ms)
        target = " and ".join(aims)
        self.bench.record(name, DTYPES[job.columns], n, ours.ms, *peer, target=target, **extra)

    def timed(self, client: Client, job: Job, data: Collection) -> tuple[Taken, Taken]:
        """Time a job and its floor in turns; the floor's own floor is itself."""
        ours = Taken()
        calls = {job.call: ours, floor: ours if job is FLOOR else Taken()}
        end = time.perf_counter() + SECONDS
        while len(ours.seconds) < 2 or (len(ours.seconds) < ROUNDS and time.perf_counter() < end):
            for call, taken in calls.items():
                gc.collect()
                with Traffic(client) as traffic:
                    start = time.perf_counter()
                    answer = materialise(client, call(data))
                    taken.seconds.append(time.perf_counter() - start)
                taken.moved = max(taken.moved, traffic.bytes)
                taken.partitions = max(taken.partitions, traffic.of(data, answer))
                del answer  # free memory for the next one
        return ours, calls[floor]

    # --- kills --------------------------------------------------------------------------------------------------------

    def kill(self, client: Client, gpus: int, kills: int) -> None:
        """Kill a worker in mid-job, `kills` times in all, at moments spread over the time that a job takes."""
        count, rows = self.bench.scale(64, 32), self.bench.scale(1 << 22, 1 << 16)
        meta = make(0, 1, self.cpu).iloc[:0]
        firsts = range(0, count * rows, rows)
        frame = dd.from_map(make, firsts, rows=rows, cpu=self.cpu, meta=meta)
        for number, job in enumerate(KILLED):
            name, times = f"scaling_kills_{job.name}", len(range(number, kills, len(KILLED)))
            if self.bench.wanted(name) and times:
                with self.reported(name):
                    self.kill_in(client, gpus, name, job, frame, count * rows, times)

    def kill_in(
        self, client: Client, gpus: int, name: str, job: Job, frame: Any, n: int, times: int
    ) -> None:
        data = frame if job.columns == "frame" else frame[job.columns]
        lazy = digests(job.call(data), self.cpu)
        expected = lazy.compute()
        client.wait_for_workers(gpus)  # runs on the client's loop, which first releases that answer
        start = time.perf_counter()
        assert lazy.compute().equals(expected), "two answers differ without a kill"
        undisturbed = time.perf_counter() - start
        seconds, equal = [], 0
        for place in range(times):
            answer, taken = killed(client, gpus, lazy, undisturbed * (place + 0.5) / times)
            seconds.append(taken)
            equal += bool(answer.equals(expected))
            print(f"{name}: {place + 1} kills, {equal} equal answers", flush=True)
        self.bench.record(
            name,
            DTYPES[job.columns],
            n,
            1e3 * statistics.median(seconds),
            "undisturbed",
            1e3 * undisturbed,
            target=f"measured_equal >= {times}",
            partitions=frame.npartitions,
            gpus=gpus,
            kills=times,
            measured_equal=equal,
        )


def killed(client: Client, gpus: int, lazy: Collection, delay: float) -> tuple[Any, float]:
    """Kill a worker `delay` seconds after the start of a computation; return the answer, and how long it took.

    If the computation ends before that, it is repeated, and a worker is killed sooner.
    """
    while True:
        client.wait_for_workers(gpus, timeout=120)
        pids = sorted(client.run(os.getpid).values())
        start = time.perf_counter()
        future = client.compute(lazy)
        time.sleep(delay)
        if not future.done():
            os.kill(pids[int(1e6 * delay) % len(pids)], signal.SIGKILL)
            return future.result(timeout=300), time.perf_counter() - start
        del future
        delay *= 0.7


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--gpus", type=int, nargs="+", default=[1], help="of each cluster; default 1"
    )
    parser.add_argument(
        "--kills", type=int, metavar="N", help="kill N workers of the largest cluster"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes; to see that it runs")
    parser.add_argument("--only", default="", metavar="NAME", help="only names that contain this")
    parser.add_argument("--output", type=Path, help="default: results/h200/records.json")
    parser.add_argument(
        "--cpu", action="store_true", help="processes and pandas: to see that it runs"
    )
    parser.add_argument(
        "--protocol",
        help="by which workers send each other rows; its name ends those of records; default TCP",
    )
    options = parser.parse_args()
    file = "quick.json" if options.quick or options.cpu else "records.json"
    output = options.output or ROOT / "benchmarks" / "results" / "h200" / file
    bench = Bench(quick=options.quick, only=options.only)
    scaling = Scaling(bench, output, options.cpu, options.protocol)
    sizes = sorted(options.gpus)
    # Dask must not give up a worker that is killed again while it starts
    settings = {
        "distributed.deploy.lost-worker-timeout": "1h",
        "distributed.scheduler.bandwidth": BANDWIDTH,
    }
    if options.cpu:  # rows are sent by tasks, as on GPUs
        settings["dataframe.shuffle.method"] = "tasks"
    with dask.config.set(settings):
        for gpus in sizes[-1:] if options.kills else sizes:
            scaling.bench.context = context(gpus, options.cpu, options.protocol)
            with cluster(gpus, options.cpu, options.protocol) as client:
                if options.kills:
                    scaling.kill(client, gpus, options.kills)
                else:
                    scaling.run(client, gpus)
    print(f"\n{len(scaling.bench.records)} records -> {output}")
    for failure in scaling.failed:
        print(f"FAILED: {failure}")
    sys.exit(bool(scaling.failed))


def context(gpus: int, cpu: bool, protocol: str | None) -> Record:
    if cpu:
        found = {"machine": timing.machine(), "versions": timing.versions()}
    else:
        import timing_gpu

        found = {
            "machine": timing_gpu.machine(gpus),
            "versions": timing.versions(timing_gpu.PACKAGES),
        }
    told = {} if protocol is None else {"protocol": protocol}
    return {
        **found,
        "commit": timing.commit(),
        "memory": "one pool a worker",
        "bandwidth": BANDWIDTH,
        **told,
    }


if __name__ == "__main__":
    main()
