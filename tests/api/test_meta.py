"""What a collection says of itself before it is computed: every partition has the dtypes and names of the meta."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from helpers.strategies import partitioned
from helpers.versions import STRING

COUNT = 12
frame = pd.DataFrame(
    {
        "k": ["a", "a", "b", None, "b", "c", "c", "c", None, "d", "d", "d"],
        "j": np.repeat([1, 2, 3], 4),
        "n": np.arange(COUNT),
        "i": np.arange(COUNT, dtype="int8"),
        "b": np.arange(COUNT) % 3 == 0,
        "x": [1.0, np.nan, 3.0, 4.0, np.nan, np.nan, 7.0, 8.0, 9.0, np.nan, 11.0, 12.0],
        "N": pd.array([1, None, 3, 4, 5, None, None, 8, 9, 10, 11, 12], dtype="Int64"),
        "s": pd.array(
            ["p", None, "q", "r", None, "s", "t", None, "u", "v", None, "w"], dtype=STRING
        ),
        "t": pd.date_range("2026-01-01", periods=COUNT, freq="h", unit="ns"),
    },
    index=pd.Index(np.arange(COUNT) * 2, name="row"),
)
NUMBERS = ["n", "x", "N"]
NARROW = {"sum": ["i"], "cumsum": ["i"], "cumprod": ["i"], "cummax": ["b"], "first": ["b"]}
CUTS = ([0.5], [0.05, 0.1, 0.3, 0.3, 0.6, 0.95])
total = dask_gpuscan.operator(lambda a, b: a + b, identity=0, name="total")

SCANS = ("cumsum", "cumprod", "cummax", "cummin")


def columns(method):
    """Columns of the dtypes that all tests compile for, and narrow ones where their answers differ."""
    return [*NUMBERS, *NARROW.get(method, [])]


UNGROUPED = {
    **{m: lambda g, m=m: getattr(g(columns(m)), m)() for m in (*SCANS, "cumany", "cumcount")},
    "exclusive": lambda g: g(["n", "x", "N"]).cumsum(exclusive=True, initial=1),
    "reverse": lambda g: g(["n", "x", "N"]).cummin(reverse=True, exclusive=True),
    "keeps nulls": lambda g: g(["n", "x", "N"]).cumsum(skipna=False),
    "dtype": lambda g: g("n").cumsum(dtype="float64"),
    "along columns": lambda g: g(["n"]).cumsum(axis=1),
    "scan": lambda g: g(["n", "x", "N"]).scan(total),
    "last": lambda g: g(["n", "x", "N", "t"]).scan(dask_gpuscan.last),
    "ffill": lambda g: g(None).ffill(),
    "bfill": lambda g: g(None).bfill(limit=1),
    "ewm": lambda g: g(["n", "x", "N"]).ewm(span=3).mean(),
    "expanding": lambda g: g(["n", "N"]).expanding().mean(),
    "row_number": lambda g: g(None).row_number(),
    "run_number": lambda g: g(None).run_number("j"),
    "run_length": lambda g: g(None).run_length("j"),
    "duplicated": lambda g: g(None).duplicated("j"),
    "reset_index": lambda g: g(None).reset_index(),
    "drop index": lambda g: g("n").reset_index(drop=True),
    "filter": lambda g: g(None).filter("n > 3"),
    "rebalance": lambda g: g(None).filter("n > 3", rebalance=True),
    "partition": lambda g: g(None).partition("x > 3")[1],
    "partition, and more": lambda g: g(None).partition("x > 3")[0][["n", "x"]] + 1,
    "rank": lambda g: g(["n", "x", "N"]).rank(),
    "rank of a column": lambda g: g(["n", "x", "N"]).rank()["N"],
    "unique_consecutive": lambda g: g(None).unique_consecutive("j"),
    "rle": lambda g: g(None).rle(["k", "j"]),
    "rle of a series": lambda g: g("x").rle(),
    "rle_decode": lambda g: dask_gpuscan.rle_decode(g(None).rle(["k", "N"])),
    "sessionize": lambda g: g(None).sessionize("n", gap=1),
    "sessionize by": lambda g: g(None).sessionize("t", by="k", gap="2h"),
    "sessions": lambda g: g(None).sessions("t", gap="2h", z=("i", "sum")),
    "sessions by": lambda g: g(None).sessions("t", by=["k", "j"], gap="2h", z=("i", "sum")),
}
REDUCTIONS = ("sum", "prod", "min", "any", "count", "mean", "std", "first")
GROUPED = {
    **{m: lambda g, m=m: getattr(g[columns(m)], m)() for m in (*REDUCTIONS, *SCANS)},
    "first of any": lambda g: g[["s", "t"]].first(),
    "ffill": lambda g: g[["n", "b", "x", "N", "s", "t"]].ffill(),
    "bfill": lambda g: g[["n", "b", "x", "N", "s", "t"]].bfill(limit=1),
    "cumcount": lambda g: g.cumcount(),
    "row_number": lambda g: g.row_number(),
    "size": lambda g: g.size(),
    "rank": lambda g: g[["n", "x"]].rank(),
    "median": lambda g: g[["n", "x"]].median(),
    "nunique_consecutive": lambda g: g["n"].nunique_consecutive(),
    "scan": lambda g: g[["n", "x", "N"]].scan(total),
    "exclusive": lambda g: g[["x", "N"]].scan(dask_gpuscan.last, exclusive=True),
    "reduce": lambda g: g[["n", "x", "N"]].reduce(total),
    "min of strings": lambda g: g["s"].min(),
    "agg": lambda g: g.agg(a=("i", "sum"), b=("s", "first"), c=("x", "mean"), d=("t", "max")),
}
BY_EVERY_KEY = ("sum", "cumsum", "cumcount", "ffill", "agg")


def described(part):
    """Names and dtypes of all that a frame or series has."""
    columns = [part] if part.ndim == 1 else [part.iloc[:, i] for i in range(part.shape[1])]
    levels = [part.index.get_level_values(i) for i in range(part.index.nlevels)]
    return type(part), [(c.name, c.dtype) for c in columns], [(v.name, v.dtype) for v in levels]


def check(lazy):
    expected = described(lazy._meta)
    for part in dask.compute(*lazy.to_delayed()):
        assert described(part) == expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", UNGROUPED)
def test_partitions_are_what_the_meta_says(backend, method):
    for at in CUTS:
        ddf = partitioned(backend.frame(frame), at)
        check(UNGROUPED[method](lambda c, d=ddf: (d if c is None else d[c]).gpuscan))


def check_one_by_one(lazy):
    """Assert that each partition can be asked for alone, of the answer and of what is computed from it."""
    whole = dask.compute(*lazy.to_delayed())
    alone = dask.compute(*(lazy.get_partition(i) for i in range(lazy.npartitions)))
    assert [part.to_csv() for part in alone] == [part.to_csv() for part in whole]
    of_nulls = lazy.isna().head(3, npartitions=-1)
    assert of_nulls.to_csv() == pd.concat(whole).isna().head(3).to_csv()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", UNGROUPED)
def test_partitions_one_by_one(method):
    rows = partitioned(frame, [0.3, 0.3, 0.6])
    check_one_by_one(UNGROUPED[method](lambda c: (rows if c is None else rows[c]).gpuscan))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", GROUPED)
def test_partitions_of_groups_one_by_one(method):
    rows = partitioned(frame, CUTS[0])
    check_one_by_one(GROUPED[method](rows.gpuscan.groupby("j")))


# where rows are clustered, each dtype of keys is one more kernel for each method: a few methods are asked with all keys
@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("method", "by", "clustered"),
    [
        *((method, by, None) for method in GROUPED for by in ("k", "j")),
        *((method, ["k", "j"], None) for method in BY_EVERY_KEY),
        *((method, "k", True) for method in GROUPED),
        *((method, by, True) for method in BY_EVERY_KEY for by in ("j", ["k", "j"])),
    ],
    ids=str,
)
def test_partitions_of_groups_are_what_the_meta_says(backend, method, by, clustered):
    for dropna in (True, False):
        rows = partitioned(backend.frame(frame), CUTS[1])
        groups = rows.gpuscan.groupby(by, clustered=clustered, dropna=dropna)
        check(GROUPED[method](groups))


def test_answers_are_inputs(backend):
    host = pd.DataFrame({"k": ["a", "b", "a", None], "n": [1, 2, 3, 4]})
    for at in ([0.5], *CUTS):
        ddf = partitioned(backend.frame(host), at)
        found = ddf.gpuscan.groupby("k").n.cumsum().gpuscan.cummax().compute()
        assert backend.to_pandas(found).fillna(-1).tolist() == [1, 2, 4, -1]
        numbers = ddf.gpuscan.sessionize("n", by="k", gap=1).gpuscan.cummax().compute()
        assert backend.to_pandas(numbers).fillna(-1).tolist() == [0, 0, 1, -1]
        rows = ddf.gpuscan.filter("n > 1").gpuscan.groupby("k").n.sum().reset_index()
        again = rows.gpuscan.rle("k").gpuscan.cumsum(numeric_only=True).compute()
        assert backend.to_pandas(again)["run_length"].tolist() == [1, 2]


ALONGSIDE = {
    "rank": (lambda it: it.rank(), lambda it: it.groupby("j")["x"].rank()),
    "shift": (lambda it: it.shift(2), lambda it: it.groupby("j")["x"].diff()),
    "rolling": (lambda it: it.rolling(2).sum(), lambda it: it.groupby("j")["x"].rolling(2).mean()),
}


@pytest.mark.parametrize("method", ALONGSIDE)
def test_answers_are_columns_of_their_frame_and_read_only_what_they_need(method):
    ask, of_groups = ALONGSIDE[method]
    rows = frame[["j", "n", "x"]]
    known = dd.from_pandas(rows, npartitions=4)
    lazy = ask(known.gpuscan)
    assert lazy.divisions == known.divisions
    (read,) = lazy["x"].simplify().find_operations(type(known.expr))
    assert list(read.columns) == ["x"]
    expected = rows.assign(own=ask(rows.gpuscan)["x"], group=of_groups(rows.gpuscan))
    for each in (known, partitioned(rows, [0.2, 0.2, 0.7])):
        found = each.assign(own=ask(each.gpuscan)["x"], group=of_groups(each.gpuscan))
        pd.testing.assert_frame_equal(found.compute(), expected)
