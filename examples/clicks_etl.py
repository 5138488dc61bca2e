"""A click log of any size: generated, written as partitioned Parquet, and analysed with Dask and dask-gpuscan.

1. Which clicks could not be served?                                                              filter
2. What were the sessions of each user?                                               sessions of groups
3. How much had been served by each click, to all and to its user?     row_number, cumsum, groupby.cumsum
4. How many clicks and bytes came within five minutes at most, in each hour?              rolling, resample
5. Which pages were clicked most often in each hour?             groupby.size, sort_values, groupby.head

``python examples/clicks_etl.py`` makes 20 million clicks and computes on threads; ``--rows 2000000000`` makes more,
``--gpus 2`` computes on a local cluster of GPUs. A sample of the answers is compared with plain pandas.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
from clicks import checks, log, questions
from schedulers import Compute, add_options, engines, started, write

QUESTIONS = {
    "failures": ("Which clicks could not be served?", True),
    "sessions": ("What were the sessions of each user?", True),
    "totals": ("How much had been served by each click?", True),
    "rates": ("How many clicks came within five minutes at most, in each hour?", False),
    "pages": ("Which pages were clicked most often in each hour?", False),
}
"""The questions, and whether an answer is as long as the log, so that it is written to files."""

ROWS_A_PARTITION = 4_000_000


def ask(name: str, compute: Compute, output: Path) -> Any:
    """Answer a question: write the answer, or return it if it is short."""
    title, is_long = QUESTIONS[name]
    print(f"\n{title}" + (f" -> {output / name}" if is_long else ""))
    lazy = getattr(questions, name)(dd.read_parquet(output / "clicks"))
    if is_long:
        return compute(write(lazy, output / name))
    return compute(lazy)


def main(argv: list[str] | None = None) -> None:
    """Run the job from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_options(parser)
    parser.add_argument("--rows", type=int, default=20_000_000, help="clicks of the log")
    parser.add_argument("--partitions", type=int, help="Parquet files of the log")
    parser.add_argument("--seed", type=int, default=0, help="another one makes another log")
    parser.add_argument("--reuse", action="store_true", help="ask the log that is there already")
    parser.add_argument("--output", type=Path, default=Path("clicks_out"), help="a folder")
    options = parser.parse_args(argv)
    output: Path = options.output.resolve()
    partitions = options.partitions or max(20, options.rows // ROWS_A_PARTITION)
    size = options.rows * int(log.partition(0, 1, 1, 0).dtypes.map(lambda d: d.itemsize).sum())
    print(
        f"{options.rows:,} clicks, {size:,} bytes, in {partitions} partitions -> {output / 'clicks'}"
    )

    makes, *_, asks = [engines(options)[0], *engines(options)]
    seconds: dict[str, float] = {}
    answers = {}
    with ExitStack() as stack:
        if not options.reuse:
            compute = stack.enter_context(started(makes, options))
            begin = time.perf_counter()
            clicks = log.clicks(options.rows, partitions, options.seed)
            compute(write(clicks, output / "clicks", index=False))
            seconds[f"making it, on {makes.name}"] = time.perf_counter() - begin
        if options.reuse or asks != makes:
            stack.close()
            compute = stack.enter_context(started(asks, options))
        for name in QUESTIONS:
            begin = time.perf_counter()
            answers[name] = ask(name, compute, output)
            seconds[f"{name}, on {asks.name}"] = time.perf_counter() - begin

    print("\ncomparing a sample with pandas")
    hour = 3600 * log.CLICKS_A_SECOND * partitions // options.rows
    checks.compare(output, answers, min(partitions, 2 + hour))
    print(f"its answers are equal\n\n{checks.summary(answers)}")
    table = pd.DataFrame({"seconds": pd.Series(seconds)})
    table["rows a second"] = (options.rows / table.seconds).map("{:,.0f}".format)
    table["bytes a second"] = (size / table.seconds).map("{:,.0f}".format)
    print(f"\n{table.round(1).to_string()}")


if __name__ == "__main__":
    main()
