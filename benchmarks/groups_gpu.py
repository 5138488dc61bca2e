"""Filters, runs, groups and sessions of frames on GPUs, against cuDF and dask-cudf in the same run.

    python benchmarks/groups_gpu.py [--frames] [--dask] [--gpus N] [--quick] [--only NAME]

Needs RAPIDS (cuDF, dask-cudf, Dask-CUDA). If cuDF has no method, its side is the usual idiom, in the fastest form that
we know. See README.md here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cudf
import cupy as cp
import pandas as pd
from timing_gpu import GpuBench, arguments, finish, same, start

import dask_gpuscan
from dask_gpuscan.kernels.keys import factorize_words

MEAN_RUN = 500
LOOK_BACK = 1 << 14
"""Rows before a partition that are searched for the start of the run that continues into it."""
GAP = pd.Timedelta("50s")
SECTOR = 32
"""The fewest bytes that device memory reads at once."""
FILLED = "cudf, filled"
"""The peer if its idiom avoids a null in the first row by a value that is no key."""

Frame = Any


# --- data and checks --------------------------------------------------------------------------------------------------


def clustered(first: int, rows: int) -> cp.ndarray:
    """Return sorted keys of the rows from `first` on, in runs of random lengths, the same for every partitioning."""
    begin = max(0, first - LOOK_BACK)
    row = cp.arange(begin, first + rows, dtype=cp.uint64)
    mixed = (row ^ (row >> cp.uint64(31))) * cp.uint64(0x9E3779B97F4A7C15)
    heads = (mixed ^ (mixed >> cp.uint64(29))) % cp.uint64(MEAN_RUN) == 0
    del row, mixed
    heads[0] = heads[0] or not begin
    starts = cp.flatnonzero(heads) + begin
    return starts[cp.cumsum(heads)[first - begin :] - 1].astype("int32")


def grouped(first: int, rows: int) -> Frame:
    """Return sorted keys and random values."""
    values = cp.random.default_rng(first + 1).standard_normal(rows)
    return cudf.DataFrame({"key": clustered(first, rows), "value": values})


def alike(ours: Any, theirs: Any) -> None:
    """Raise unless two frames or series hold the same rows under the same index."""
    assert type(ours) is type(theirs), f"{type(ours)} is not {type(theirs)}"
    assert len(ours) == len(theirs), f"{len(ours)} rows are not {len(theirs)}"
    assert bool((ours.index.values == theirs.index.values).all()), "indices differ"
    if ours.ndim == 1:
        return same(ours, theirs)
    assert list(ours.columns) == list(theirs.columns), f"{ours.columns} is not {theirs.columns}"
    for name in ours.columns:
        same(ours[name], theirs[name])


def alike_by_key(ours: Any, theirs: Any) -> None:
    """Do the same in the order of keys, which the peer's hash table does not keep."""
    alike(ours, theirs.sort_index())


# --- one frame --------------------------------------------------------------------------------------------------------


def frames(bench: GpuBench) -> None:
    n = bench.scale(1 << 27, 1 << 20)

    def versus(
        name: str,
        ours: Callable[[], Any],
        theirs: Callable[[], Any],
        dtype: str,
        moved: float,
        check: Callable[[Any, Any], None] = alike,
        target: str | None = None,
        others: dict[str, Callable[[], Any]] | None = None,
        **extra: Any,
    ) -> None:
        """Compare with cuDF; `moved` is the least number of bytes for each row."""
        bench.compare(
            name,
            ours,
            {"cudf": theirs, **(others or {})},
            dtype=dtype,
            n=n,
            check=check,
            rounds=bench.scale(15, 3),
            calls=12,
            moved=round(moved * n),
            targets={"cudf": target} if target else None,
            **extra,
        )

    if bench.wanted("frame_filter"):
        filters(versus, n)
    if bench.wanted("groupby_unsorted"):
        unsorted(bench)
    if any(bench.wanted(name) for name in ("drop_duplicates", "value_counts", "factorize")):
        distinct(bench)
    if bench.wanted("merge_asof"):
        merges(bench)
    names = ("groupby_sum", "groupby_cumsum", "rle", "unique_consecutive", "sessionize")
    if any(bench.wanted(f"frame_{name}") for name in names):
        groups(versus, n)


def distinct(bench: GpuBench) -> None:
    """Distinct integers from a wide range, their counts and their codes; most occur once."""
    n = bench.scale(1 << 26, 1 << 20)
    key = cp.random.default_rng(20261126).integers(0, 1 << 30, n, dtype=cp.int32)
    df = cudf.DataFrame({"key": key})

    def counts(ours: Any, theirs: Any) -> None:
        assert bool((ours.values == theirs.values).all()), "counts differ"
        alike(ours.sort_index(), theirs.sort_index())

    def numbers(ours: Any, theirs: Any) -> None:
        codes, first = ours
        assert len(first) == len(theirs[1]), "numbers of distinct keys differ"
        assert bool((key[first[codes]] == key).all()), "a code is that of another key"

    works: list[tuple[str, Any, Any, Any, int]] = [
        (
            "drop_duplicates",
            lambda: df.gpuscan.drop_duplicates("key"),
            lambda: df.drop_duplicates("key"),
            alike,
            16,
        ),
        (
            "value_counts",
            lambda: df["key"].gpuscan.value_counts(),
            lambda: df["key"].value_counts(),
            counts,
            16,
        ),
        (
            "factorize",
            lambda: factorize_words(key.view(cp.uint32)),
            lambda: df["key"].factorize(),
            numbers,
            8,
        ),
    ]
    for name, ours, theirs, check, moved in works:
        if bench.wanted(name):
            bench.compare(
                name,
                ours,
                {"cudf": theirs},
                dtype="int32",
                n=n,
                check=check,
                rounds=bench.scale(7, 3),
                calls=4,
                moved=n * moved,
                targets={"cudf": "ratio >= 2"},
                keys=1 << 30,
            )


def merges(bench: GpuBench) -> None:
    """As-of merges, without keys and by one of 1,000. cuDF has none: the peer copies the left frame.

    Some rows are checked against pandas.
    """
    n = bench.scale(1 << 26, 1 << 20)
    rng = cp.random.default_rng(20261123)
    for keys in (0, 1_000):
        sides = []
        for rows, value in ((n, "x"), (n // 16, "y")):
            side = {"time": cp.sort(rng.integers(0, 1 << 40, rows))}
            if keys:
                side["key"] = rng.integers(0, keys, rows, dtype=cp.int32)
            sides.append(cudf.DataFrame({**side, value: rng.standard_normal(rows)}))
        left, right = sides
        options = {"on": "time", **({"by": "key"} if keys else {})}
        moved = 2 * left.memory_usage(index=False).sum() + right.memory_usage(index=False).sum()

        def check(ours: Any, _: Any, a: Any = left, b: Any = right, by: Any = options) -> None:
            some = slice(0, 100_000)
            expected = pd.merge_asof(a.iloc[some].to_pandas(), b.to_pandas(), **by)
            pd.testing.assert_frame_equal(ours.iloc[some].to_pandas(), expected)

        bench.compare(
            "merge_asof",
            lambda a=left, b=right, options=options: dask_gpuscan.merge_asof(a, b, **options),
            {"copy": lambda a=left: a.copy(deep=True)},
            dtype="int64, float64",
            n=n,
            check=check,
            rounds=bench.scale(15, 3),
            calls=4,
            moved=int(moved) + 8 * n,
            keys=keys,
        )


def unsorted(bench: GpuBench) -> None:
    """Groups of rows in any order, with few and with many keys."""
    n = bench.scale(1 << 26, 1 << 20)
    rng = cp.random.default_rng(20261122)
    for keys, least in [(1_000, 12), (1_000_000, 6), (30_000_000, 60)]:
        key = rng.integers(0, keys, n, dtype=cp.int32)
        df = cudf.DataFrame({"key": key, "value": rng.standard_normal(n)})
        for method, target in (("cumsum", f"ratio >= {least}"), ("sum", "ratio >= 1")):
            bench.compare(
                f"groupby_unsorted_{method}_{keys}",
                lambda method=method, df=df: getattr(df.gpuscan.groupby("key"), method)(),
                {
                    "cudf": lambda method=method, df=df: getattr(
                        df.groupby("key", sort=True), method
                    )()
                },
                dtype="int32,float64",
                n=n,
                check=near,
                rounds=bench.scale(5, 3),
                calls=10 if keys < 10_000_000 else 1,  # with many keys cuDF takes a second
                moved=n * (20 if method == "cumsum" else 12),
                targets={"cudf": target},
            )


def near(ours: Any, theirs: Any) -> None:
    """Check for equality up to the order in which numbers are added."""
    for name in theirs.columns:
        assert bool(cp.allclose(ours[name].values, theirs[name].values, rtol=1e-6, atol=1e-6)), name
    assert ours.index.equals(theirs.index)


def filters(versus: Callable[..., None], n: int) -> None:
    """Four columns, 24 bytes in each row, filtered by text and by a function."""
    rng = cp.random.default_rng(20130101)
    df = cudf.DataFrame(
        {
            "a": rng.integers(0, 1000, n, dtype=cp.int32),
            "b": rng.integers(0, 1000, n, dtype=cp.int32),
            "c": rng.standard_normal(n),
            "d": rng.standard_normal(n),
        }
    )
    sizes = [df[name].dtype.itemsize for name in ("b", "c", "d")]
    for share, bound, target in [(0.5, 500, "ratio >= 2"), (0.01, 10, "ratio >= 3")]:
        read = 4 + sum(size * (1 - (1 - share) ** (SECTOR // size)) for size in sizes)
        written = share * (24 + 8)  # the index too
        predicates = {"text": f"a < {bound}", "function": lambda a, bound=bound: a < bound}
        for kind, predicate in predicates.items():
            versus(
                "frame_filter",
                lambda predicate=predicate: df.gpuscan.filter(predicate),
                lambda bound=bound: df[df.a < bound],
                "2 int32, 2 float64",
                read + written,
                target=target,
                share=share,
                predicate=kind,
                columns=4,
            )


def groups(versus: Callable[..., None], n: int) -> None:
    """Runs of equal keys: reduced, scanned, encoded, and split into sessions."""
    df = grouped(0, n)
    keys = df["key"]
    runs = len(cp.flatnonzero(cp.diff(keys.values))) + 1
    run = {"mean_run": MEAN_RUN}

    def fresh() -> Frame:
        """Return the same memory in new columns, for which cuDF has cached nothing, such as the number of NaN."""
        return df.copy(deep=False)

    versus(
        "frame_groupby_sum",
        lambda: fresh().gpuscan.groupby("key", clustered=True).sum(),
        lambda: fresh().groupby("key").sum(),
        "int32, float64",
        12 + 12 * runs / n,
        alike_by_key,
        "ratio >= 11",
        **run,
    )
    versus(
        "frame_groupby_cumsum",
        lambda: fresh().gpuscan.groupby("key", clustered=True).cumsum(),
        lambda: fresh().groupby("key").cumsum(),
        "int32, float64",
        12 + 8,
        target="ratio >= 20",
        **run,
    )

    def heads(fill: int | None = None) -> Any:
        changed = keys != keys.shift(fill_value=fill)
        return changed.fillna(True) if fill is None else changed

    def run_lengths(fill: int | None = None) -> Frame:
        starts = cp.flatnonzero(heads(fill).values)
        lengths = cp.diff(starts, append=n)
        columns = {"key": keys.values[starts], "run_start": starts, "run_length": lengths}
        return cudf.DataFrame(columns)

    versus(
        "frame_rle",
        lambda: keys.gpuscan.rle(),
        run_lengths,
        "int32",
        4 + 20 * runs / n,
        target="ratio >= 10",
        others={FILLED: lambda: run_lengths(-1)},
        **run,
    )
    versus(
        "frame_unique_consecutive",
        lambda: keys.gpuscan.unique_consecutive(),
        lambda: keys[heads()],
        "int32",
        4 + 12 * runs / n,
        target="ratio >= 10",
        others={FILLED: lambda: keys[heads(-1)]},
        **run,
    )

    steps = cp.random.default_rng(3).integers(0, 60, n)
    times = cudf.Series(cp.cumsum(steps) * 10**9).astype("datetime64[ns]")
    del steps
    events = cudf.DataFrame({"user": keys, "time": times})

    def is_wide() -> Any:
        return times - times.shift(fill_value=times.iloc[0]) > GAP

    def by_user() -> Any:
        goes_on = keys == keys.shift(fill_value=-1)
        return (is_wide() & goes_on).astype("int64").groupby(keys).cumsum()

    versus(
        "frame_sessionize",
        lambda: events.gpuscan.sessionize("time", gap=GAP),
        lambda: is_wide().cumsum(),
        "datetime64[ns]",
        8 + 8,
    )
    versus(
        "frame_sessionize",
        lambda: events.gpuscan.sessionize("time", by="user", gap=GAP, clustered=True),
        by_user,
        "int32, datetime64[ns]",
        12 + 8,
        **run,
    )


def nothing(partition: Frame) -> Frame:
    return partition


# --- partitions -------------------------------------------------------------------------------------------------------


def partitions(bench: GpuBench) -> None:
    """64 partitions of 2^22 rows; groups span partitions.

    The peers are dask-cudf's own group-by, and a floor of two empty tasks for each partition, for methods with two
    tasks.
    """
    import dask.dataframe as dd
    from dask_gpu import cluster, materialise, same_partitions

    sums, scans = "dask_groupby_sum_64", "dask_groupby_cumsum_64"
    if not bench.wanted(sums) and not bench.wanted(scans):
        return
    count, rows = bench.scale(64, 8), bench.scale(1 << 22, 1 << 16)
    firsts = range(0, count * rows, rows)
    options: Any = {
        "dtype": "int32, float64",
        "n": count * rows,
        "partitions": count,
        "gpus": bench.gpus,
        "mean_run": MEAN_RUN,
    }
    with cluster(bench.gpus) as client:
        meta = grouped(0, 1)
        df = materialise(client, dd.from_map(grouped, firsts, rows=rows, meta=meta))
        ours, theirs = df.gpuscan.groupby("key", clustered=True), df.groupby("key")
        twice = df.map_partitions(nothing, meta=meta).map_partitions(nothing, meta=meta)

        def run(lazy: Any, fuse: bool = True) -> Any:
            # Dask's own sums know the number of their partitions only once they are optimised
            return materialise(client, lazy.optimize(fuse=fuse))

        def by_key(a: Any, b: Any) -> None:
            alike_by_key(a.compute(), b.compute())

        for name, method, check, width, target in (
            (sums, "sum", by_key, 12, "ratio >= 5"),
            (scans, "cumsum", same_partitions, 20, "ratio >= 10"),
        ):

            def answer(groups: Any, method: str = method) -> Any:
                return run(getattr(groups, method)())

            options["moved"] = width * options["n"]
            floor = {"floor": lambda: run(twice, fuse=False)}
            bench.compare(name, lambda: answer(ours), floor, rounds=bench.scale(7, 3), **options)
            bench.compare(
                name,
                lambda: answer(ours),
                {"dask-cudf": lambda: answer(theirs)},
                rounds=3,
                check=check,
                targets={"dask-cudf": target},
                **options,
            )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--frames", action="store_true", help="one process only")
    options = parser.parse_args()
    both = not options.frames and not options.dask
    bench = start(options)
    if options.frames or both:
        frames(bench)
    if options.dask or both:
        partitions(bench)
    finish(bench)


if __name__ == "__main__":
    main()
