"""Scans and reductions of CuPy arrays on one GPU, against CUB and memcpy in the same run.

    python benchmarks/gpu.py [--output benchmarks/results/h200/records.json] [--quick]

Needs nvcc for CUB's side (cub_baseline.cu), with the CUB of nvcc's toolkit and, if it is installed, the newer one of
the package cuda-cccl. Every result is checked before it is timed. Times are those of the Python call, on the device's
clock: medians of 15 batches, each with enough calls to hide the launch.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import cupy as cp
import numpy as np
from timing import merge

from dask_gpuscan import operator
from dask_gpuscan.kernels import BUILT_IN, INT128, bitmap, cuda, reduce, scan
from dask_gpuscan.kernels.cuda.core import launch
from dask_gpuscan.kernels.options import ScanOptions

HERE = Path(__file__).parent


def median_ms(call, calls=4, repeats=15):
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        start.record()
        for _ in range(calls):
            call()
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / calls)
    return float(np.median(times))


def host_us(call, repeats=2000):
    """Return the host's time for a call, without waiting for the device."""
    for _ in range(100):
        call()
    cp.cuda.Device().synchronize()
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(repeats // 5):
            call()
        times.append((time.perf_counter() - begin) / (repeats // 5) * 1e6)
        cp.cuda.Device().synchronize()
    return float(np.median(times))


TOOLKIT = "cub of the toolkit"
"""The peer of records of the toolkit's CUB, if a newer CUB was measured too."""


def cub(log2_n, harness="cub_baseline"):
    """Return the records of the newest CUB that is installed, and those of the CUB of nvcc's toolkit."""
    found = []
    newest = find_spec("cuda.cccl") if find_spec("cuda") else None
    headers = [["-I", str(Path(newest.origin).parent / "headers" / "include")]] if newest else []
    with tempfile.TemporaryDirectory() as folder:
        for k, options in enumerate([*headers, []]):
            program = os.path.join(folder, f"{harness}_{k}")
            command = ["nvcc", "-arch=native", "-O3", "-std=c++17", *options]
            subprocess.run([*command, str(HERE / f"{harness}.cu"), "-o", program], check=True)
            ran = subprocess.run([program, str(log2_n)], check=True, stdout=subprocess.PIPE)
            lines = map(json.loads, ran.stdout.splitlines())
            found += [{**line, "peer": TOOLKIT if k else "cub"} for line in lines]
    return found


def numbers(n, dtype):
    x = cp.random.default_rng(0).integers(0, 1000, n, dtype=np.int32)
    return x.astype(dtype)


def check(out, expected):
    at = cp.random.default_rng(1).integers(0, len(out), 100_000)
    wanted = expected[at].astype("f8")
    assert bool((cp.abs(out[at].astype("f8") - wanted) <= 1e-4 * cp.abs(wanted)).all()), "wrong"


def reproducible(records, n, dtype):
    """Record reproducible sums of random numbers, against plain sums."""
    x = cp.random.default_rng(3).standard_normal(n, dtype=dtype)
    exact, plain = BUILT_IN["add_reproducible"], BUILT_IN["add"]
    out = scan(exact, x, dtype=dtype, carry_out=False)[0]
    expected = cp.cumsum(x, dtype="f8")
    assert bool(abs(out - expected).max() <= 1e-6 * abs(expected).max()), "wrong"
    total = np.dtype(dtype).type(exact.lower(reduce(exact, x)))
    assert total == out[-1].get(), "the sum differs from the last running sum"

    def timed(op, write):
        options = ScanOptions(dtype=np.dtype(dtype))
        return median_ms(lambda: cuda.scan(op, (x,), options, None, write=write, waits=False))

    for name, write in (("scan_sum_reproducible", True), ("reduce_sum_reproducible", False)):
        ms = timed(exact, write)
        records.versus(name, dtype, n, ms, "ours, plain", timed(plain, write))
        if not write:
            peer = "reduce_sum_gpu_to_gpu"
            records.offered(name, dtype, n, ms, x.nbytes, peer, writes=False)


def commit():
    if os.environ.get("COMMIT"):
        return os.environ["COMMIT"]
    found = subprocess.run(
        ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return found.stdout.strip()


class Records:
    """The table that is written: one record for each measurement and peer."""

    def __init__(self, peers, log2_n, copied="float64"):
        self.peers = {}
        for line in peers:
            of = self.peers.setdefault((line["name"], line["dtype"], line["n"]), {})
            of[line["peer"]] = line
        if peers:
            largest = (copied, (4 << log2_n) // np.dtype(copied).itemsize)
            copy, read = self.peers["memcpy", *largest]["cub"], self.peers["read", *largest]["cub"]
            self.copy_rate, self.read_rate = copy["bytes"] / copy["ms"], read["bytes"] / read["ms"]
        name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self.common = {
            "machine": f"{name}, driver {cp.cuda.runtime.driverGetVersion()}, {platform.machine()}",
            "versions": {
                p: version(p) for p in ("cupy-cuda13x", "numba-cuda", "cuda-core", "numpy")
            },
            "commit": commit(),
        }
        self.rows = []

    def host(self, name, dtype, n, us, peer_us):
        """Record the host's time for a call, against CuPy's cumsum."""
        row = {"name": f"host_{name}", "dtype": dtype, "n": n, "ours_ms": round(us / 1e3, 5),
               "peer": "cupy", "peer_ms": round(peer_us / 1e3, 5), "ratio": round(peer_us / us, 3),
               "limit_ms": None, **self.common}  # fmt: skip
        self.rows.append(row)
        print(f"host_{name:19} {dtype:16} {n:>10} {us:9.1f} us  cupy    {peer_us:9.1f} us")

    def versus(self, name, dtype, n, ms, peer, peer_ms):
        """Record a time against that of a peer in Python."""
        row = {"name": name, "dtype": dtype, "n": n, "ours_ms": round(ms, 5), "peer": peer,
               "peer_ms": round(peer_ms, 5), "ratio": round(peer_ms / ms, 3), "limit_ms": None,
               **self.common}  # fmt: skip
        self.rows.append(row)
        print(
            f"{name:24} {dtype:16} {n:>10} {ms:9.4f} ms  {peer:7} {peer_ms:9.4f} ms  x{peer_ms / ms:5.2f}"
        )

    def offered(self, name, dtype, n, ms, bytes_, peer, writes=True):
        """Record a measurement against a newer CUB, if it was measured, for what only that offers."""
        if (peer, dtype, n) in self.peers:
            self.add(name, dtype, n, ms, bytes_, peer, writes)

    def add(self, name, dtype, n, ms, bytes_, peer=None, writes=True):
        rate = self.copy_rate if writes else self.read_rate
        limit = bytes_ / rate
        found = [
            (kind, line["ms"], {"cccl": line["cccl"]})
            for kind, line in self.peers.get((peer, dtype, n), {}).items()
        ]
        if writes:
            copied = self.peers.get(("memcpy", dtype, n), {}).get("cub")
            if copied is not None and copied["bytes"] == bytes_:
                found.append(("memcpy", copied["ms"], {}))
        for kind, other, measured in found or [("limit", limit, {})]:
            row = {"name": name, "dtype": dtype, "n": n, "ours_ms": round(ms, 5), "peer": kind,
                   "peer_ms": round(other, 5), "ratio": round(other / ms, 3),
                   "limit_ms": round(limit, 5), **self.common}  # fmt: skip
            row["versions"] = {**row["versions"], **measured}
            self.rows.append(row)
            print(f"{name:24} {dtype:16} {n:>10} {ms:9.4f} ms  {kind:7} {other:9.4f} ms  "
                  f"x{other / ms:5.2f}  of limit {limit / ms:5.2f}", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default=str(HERE / "results" / "h200" / "records.json"))
    parser.add_argument("--log2-n", type=int, default=28)
    parser.add_argument("--quick", action="store_true", help="the largest sizes of sums only")
    arguments = parser.parse_args()
    records = Records(cub(arguments.log2_n), arguments.log2_n)
    try:
        measure(records, arguments.log2_n, arguments.quick)
    finally:  # keep what was measured, even after an error
        merge(Path(arguments.output), records.rows)


def measure(records, log2_n, quick):
    large = 1 << log2_n
    add = BUILT_IN["add"]
    for dtype, n in (
        ("int32", large),
        ("float32", large),
        ("int64", large // 2),
        ("float64", large // 2),
    ):
        x = numbers(n, dtype)
        kept = np.dtype(dtype)
        size = n * kept.itemsize

        def run(op=add, x=x, kept=kept, **options):
            return scan(op, x, dtype=kept, carry_out=False, **options)[0]

        check(run(), cp.cumsum(x, dtype="f8" if dtype[0] == "f" else kept))
        ms = median_ms(run)
        records.add("scan_sum", dtype, n, ms, 2 * size, "scan_sum")
        name = "scan_sum_run_to_run"  # CUB's plain sums of floats may differ from run to run
        records.offered(name, dtype, n, ms, 2 * size, name)
        if SCHEDULES:
            for schedule in SCHEDULES:
                launch.SCHEDULE = schedule
                ms = median_ms(run)
                records.add(f"scan_sum_{schedule}", dtype, n, ms, 2 * size, "scan_sum")
            launch.SCHEDULE = ""
        total = reduce(add, x, dtype=kept)
        assert np.isclose(
            float(total), float(x.sum(dtype="f8" if dtype[0] == "f" else kept)), rtol=1e-4
        )

        def total_only(x=x, kept=kept):
            cuda.scan(add, (x,), ScanOptions(dtype=kept), None, write=False, waits=False)

        ms = median_ms(total_only)
        records.add("reduce_sum", dtype, n, ms, size, "reduce_sum", writes=False)
        name = "reduce_sum_run_to_run"
        records.offered(name, dtype, n, ms, size, name, writes=False)
        if kept.kind == "f":
            reproducible(records, n, dtype)
        if quick:
            continue
        python = operator(lambda a, b: b if b > a else a, identity=-(2**31))
        for name, call in (
            ("scan_max", lambda run=run: run(BUILT_IN["maximum"])),
            ("scan_min", lambda run=run: run(BUILT_IN["minimum"])),
            ("scan_sum_exclusive", lambda run=run: run(exclusive=True)),
            ("scan_sum_reverse", lambda run=run: run(reverse=True)),
            ("scan_python", lambda run=run, op=python: run(op)),
        ):
            records.add(name, dtype, n, median_ms(call), 2 * size, "scan_sum")
        valid = cp.random.default_rng(2).random(n, dtype="f4") < 0.9
        mask = bitmap(cp.packbits(valid, bitorder="little"))
        expected = cp.cumsum(cp.where(valid, x, 0), dtype="f8" if dtype[0] == "f" else kept)
        check(run(nulls=mask), expected)
        ms = median_ms(lambda run=run, mask=mask: run(nulls=mask))
        records.add("scan_sum_nulls", dtype, n, ms, 2 * size + n // 8)
        ms = median_ms(
            lambda run=run, x=x, mask=mask: scan(BUILT_IN["last"], x, nulls=mask, carry_out=False)
        )
        records.add("scan_last_nulls", dtype, n, ms, 2 * size + n // 8)
        del valid, mask, expected
    if not quick:
        x = numbers(large, "int32")
        out = scan(add, x, carry_out=False)[0]
        check(out, cp.cumsum(x, dtype="i8"))
        ms = median_ms(lambda: scan(add, x, carry_out=False))
        records.add("scan_sum_widening", "int32", large, ms, 12 * large)
        ms = median_ms(lambda: scan(add, x[1:], dtype="i4", carry_out=False))
        records.add("scan_sum_misaligned", "int32", large - 1, ms, 8 * large)
        del out
        for dtype in ("int8", "int16"):
            x = numbers(large, dtype)
            ms = median_ms(lambda x=x, dtype=dtype: scan(add, x, dtype=dtype, carry_out=False))
            records.add("scan_sum", dtype, large, ms, 2 * x.nbytes)
            ms = median_ms(lambda x=x: scan(add, x, carry_out=False))
            records.add("scan_sum_widening", dtype, large, ms, x.nbytes + 8 * large)
        n = large // 2
        a, b = numbers(n, "f8") / 1000, numbers(n, "f8")
        ms = median_ms(lambda: scan(BUILT_IN["affine"], (a, b), carry_out=False))
        records.add("scan_affine", "float64,float64", n, ms, 24 * n)
        ms = median_ms(lambda: scan(BUILT_IN["welford"], b, carry_out=False))
        records.add("scan_welford", "float64", n, ms, 16 * n)
        for dtype, n_ in (("float32", large), ("float64", n)):
            exponents = cp.random.default_rng(3).integers(-30, 31, n_, dtype=np.int32)
            exponents[0] = 0
            steps = cp.diff(exponents, prepend=exponents[:1])
            growth = cp.ldexp(cp.ones(n_, dtype), steps)  # powers of two: no product is rounded
            out = scan(BUILT_IN["multiply"], growth, carry_out=False)[0]
            assert bool((out == cp.ldexp(cp.ones(n_, dtype), exponents)).all())
            del exponents, steps
            ms = median_ms(lambda x=growth: scan(BUILT_IN["multiply"], x, carry_out=False))
            records.add("scan_product", dtype, n_, ms, 2 * growth.nbytes)
        del growth, out
        wide = cp.zeros(n, INT128)
        wide.view("u1").reshape(n, 16)[:, :4] = numbers(n, "i4").view("u1").reshape(n, 4)
        for name in ("add", "maximum"):
            ms = median_ms(lambda name=name: scan(BUILT_IN[name], wide, carry_out=False))
            records.add(f"scan_{name}", "int128", n, ms, 32 * n)
        del wide
        measure_lines(records)
        del x, a, b
        for k in (16, 18, 20, 22):
            for dtype in ("int32", "float32", "int64", "float64"):
                x = numbers(1 << k, dtype)
                graph_ms = on_device_ms(lambda x=x: scan(add, x, dtype=x.dtype, carry_out=False))
                records.add("scan_sum", dtype, 1 << k, graph_ms, 2 * x.nbytes, "scan_sum")
        x = cp.ones(1000)
        for name, call in (
            ("scan", lambda: scan(add, x, carry_out=False)),
            ("scan_with_carry", lambda: scan(add, x)),
            ("reduce", lambda: reduce(add, x)),
        ):
            theirs = host_us(lambda: cp.cumsum(x))
            records.host(name, "float64", 1000, host_us(call), theirs)
        if find_spec("dask") is not None:  # the kernels do not need it
            import dask_gpuscan

            theirs = host_us(lambda: cp.cumsum(x))
            ours = host_us(lambda: dask_gpuscan.cumsum(x))
            records.host("cumsum_of_array", "float64", 1000, ours, theirs)


def measure_lines(records):
    """Scans of tables of 2^28 float32, along their rows and down their columns."""
    x, add = numbers(1 << 28, "f4").reshape(16384, 16384), BUILT_IN["add"]

    def run(name, table, axis):
        out = scan(add, table, axis=axis, carry_out=False)[0]
        for at in (0, table.shape[axis] // 3, table.shape[axis] - 1):
            total = table[(slice(None),) * axis + (slice(at + 1),)].sum(axis, dtype="f8")
            assert bool(cp.allclose(cp.take(out, at, axis), total, rtol=1e-3)), "wrong"
        del out
        ms = median_ms(lambda: scan(add, table, axis=axis, carry_out=False))
        records.add(name, "float32", table.size, ms, 8 * table.size)

    for axis in (0, 1):
        run(f"scan_sum_axis{axis}", x, axis)
    for shape in ((1 << 20, 256), (1 << 23, 32)):
        run(f"scan_sum_rows_of_{shape[1]}", x.reshape(shape), 1)
    for few in (32, 8, 4, 2):
        run(f"scan_sum_axis0_of_{few}", x.reshape(-1, few), 0)


def on_device_ms(call):
    """Return the device's time for small calls: the host enqueues them while the device is busy."""
    busy = cp.ones((8192, 8192), "f4")
    for _ in range(3):
        call()
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    times = []
    for _ in range(15):
        for _ in range(8):
            busy += 1
        start.record()
        for _ in range(8):
            call()
        stop.record()
        stop.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, stop) / 8)
    return float(np.median(times))


SCHEDULES = ("classic",)

if __name__ == "__main__":
    sys.exit(main())
