"""A stream of cuDF frames on one GPU: many pieces in order, against cuDF on each piece separately.

    python benchmarks/stream_gpu.py [--quick] [--only NAME]

cuDF does less: its totals start again in each piece. Needs RAPIDS (cuDF). See README.md here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import cudf
import cupy as cp
from timing_gpu import arguments, finish, start

import dask_gpuscan

ROWS = 1 << 19
"""The number of rows of a piece."""

KEYS = 1_000

Method = Callable[[Any], Any]

METHODS: dict[str, tuple[Method, Method, float]] = {  # ours, cuDF's, and the most milliseconds
    "stream_cumsum": (lambda d: d["x"].gpuscan.cumsum(), lambda d: d["x"].cumsum(), 60),
    "stream_ewm": (
        lambda d: d["x"].gpuscan.ewm(alpha=0.1).mean(),
        lambda d: d["x"].ewm(alpha=0.1).mean(),
        80,
    ),
    "stream_groupby_cumsum": (
        lambda d: d.gpuscan.groupby("k")["x"].cumsum(),
        lambda d: d.groupby("k")["x"].cumsum(),
        250,
    ),
}


def last(answers: Any) -> Any:
    """Consume all answers, and return the last one."""
    return deque(answers, maxlen=1)[0]


def main() -> None:
    bench = start(arguments(__doc__).parse_args())
    pieces = bench.scale(512, 8)
    rng = cp.random.default_rng(20261126)
    rows = cudf.DataFrame(
        {
            "k": rng.integers(0, KEYS, pieces * ROWS),
            "x": rng.integers(-50, 50, pieces * ROWS).astype("f8"),  # sums of these are exact
        }
    )
    frames = [rows.iloc[i * ROWS : (i + 1) * ROWS] for i in range(pieces)]
    for name, (ours, theirs, most) in METHODS.items():
        expected = ours(rows).iloc[-ROWS:].reset_index(drop=True)

        def check(found: Any, _: Any, expected: Any = expected) -> None:
            gap = cp.abs(found.reset_index(drop=True).values - expected.values).max()
            assert float(gap) <= 1e-9, "the last piece differs from that of the whole"

        bench.compare(
            name,
            lambda method=ours: last(method(dask_gpuscan.stream(frames))),
            {"cudf, pieces apart": lambda method=theirs: last(map(method, frames))},
            dtype="float64",
            n=len(rows),
            check=check,
            rounds=bench.scale(5, 2),
            targets={"cudf, pieces apart": f"ours_ms <= {most}"},
            pieces=pieces,
        )
    finish(bench)


if __name__ == "__main__":
    main()
