"""Answers that have the rows of a frame are known to have them: assigned to it, or as a mask, no row moves."""

import dask
import dask.dataframe as dd
import pandas as pd
import pytest

import dask_gpuscan  # noqa: F401 (registers .gpuscan)
from helpers.strategies import partitioned_at

ROWS = pd.DataFrame({"k": list("abcabcabc"), "i": range(9)}, index=[2, 1, 2, 1, 2, 1, 0, 0, 0])
CUTS = [2, 5]


def delayed():
    """Return rows whose divisions are unknown, read by tasks that Dask does not look into."""
    parts = [dask.delayed(lambda part: part)(ROWS[a:b]) for a, b in ((0, 2), (2, 5), (5, 9))]
    return dd.from_delayed(parts, meta=ROWS[:0], verify_meta=False)


SOURCES = {
    "rows": lambda: partitioned_at(ROWS, CUTS),
    "delayed": delayed,
}
METHODS = {
    "cumsum": lambda d: d.gpuscan.cumsum(numeric_only=True)["i"],
    "rank": lambda d: d["i"].gpuscan.rank(),
    "ranks": lambda d: d[["i"]].gpuscan.rank()["i"],
    "ranks of groups": lambda d: d.gpuscan.groupby("k")["i"].rank(),
    "groups, cumsum": lambda d: d.gpuscan.groupby("k")["i"].cumsum(),
    "transform": lambda d: d.gpuscan.groupby("k")["i"].transform("sum"),
    "transform by median": lambda d: d.gpuscan.groupby("k")["i"].transform("median"),
    "transform, clustered": lambda d: d.gpuscan.groupby("k", clustered=True)["i"].transform("max"),
    "ngroup": lambda d: d.gpuscan.groupby("k").ngroup(),
    "ngroup, clustered": lambda d: d.gpuscan.groupby("k", clustered=True).ngroup(),
    "window": lambda d: d["i"].gpuscan.rolling(2).max(),
    "sessionize": lambda d: d.gpuscan.sessionize("i", by="k", gap=3),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("method", METHODS)
def test_answers_are_assigned_row_by_row(source, method):
    plain = METHODS[method](ROWS)
    for optimized in (False, True):
        rows = SOURCES[source]()
        rows = rows.assign(found=METHODS[method](rows))
        rows = rows.optimize() if optimized else rows
        more = rows.assign(total=rows["i"].gpuscan.cumsum())
        kept = rows.gpuscan.filter(METHODS[method](rows) >= 0)
        got, filtered, masked = dask.compute(more, kept, rows[rows["found"] >= 0])
        assert got["i"].tolist() == list(range(9))
        assert got["found"].fillna(-1).tolist() == plain.fillna(-1).tolist()
        assert got["total"].tolist() == ROWS["i"].cumsum().tolist()
        expected = ROWS["i"][(plain >= 0).fillna(False).to_numpy(bool)].tolist()
        assert filtered["i"].tolist() == masked["i"].tolist() == expected
