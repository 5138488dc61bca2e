"""Where the first run of equal keys ends and the last one starts; keys that pandas has trouble with."""

import os
import subprocess
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dask_gpuscan.frames.key_values import key_text, key_value
from dask_gpuscan.frames.keys import FIRST_PROBE, first_end, last_start
from dask_gpuscan.frames.registry import library_of

ROWS = 9 * FIRST_PROBE


@pytest.mark.parametrize(
    "heads",
    [
        [0],
        [0, 1],
        [0, ROWS - 1],
        [0, FIRST_PROBE - 1, ROWS - FIRST_PROBE],
        [0, FIRST_PROBE, ROWS - FIRST_PROBE - 1],
    ],
)
def test_runs_at_either_end(backend, heads):
    keys = np.zeros(ROWS, np.int64)
    keys[heads] = 1
    series = [backend.frame(pd.Series(keys.cumsum()))]
    library = library_of(series[0])
    assert last_start(library, series) == heads[-1]
    assert first_end(library, series) == (heads[1] if len(heads) > 1 else ROWS)


def arrow(values, dtype):
    """A series of Arrow's: NaN stays NaN, and None is null."""
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, dtype, from_pandas=False)))


ODD_KEYS = {
    "NaN and null": arrow([2.25, None, float("nan"), 0.25, 2.25, None, -1.5], pa.float64()),
    "signed zeros": arrow([0.0, 1.0, -0.0, 2.0, 0.0, 2.0, -0.0], pa.float32()),
    "dictionary": pd.Series(
        pd.arrays.ArrowExtensionArray(pa.array(list("babcacb")).dictionary_encode())
    ),
    "objects": pd.Series(["b", None, "a", "b", None, "a", "c"], dtype=object),
}


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("keys", ODD_KEYS)
def test_odd_keys(keys, two):
    df = pd.DataFrame({"k": ODD_KEYS[keys], "j": [1, 1, 1, 1, 1, 1, 1], "v": range(7)})
    by = ["k", "j"] if two else "k"
    whole = (
        df.assign(k=df["k"] + 0.0) if keys == "signed zeros" else df
    )  # of which pandas makes two
    expected = whole.groupby(by, dropna=False)["v"].sum()
    for count in (1, 2, 3):
        groups = dd.from_pandas(df, npartitions=count).gpuscan.groupby(by, dropna=False)["v"]
        lazy = groups.sum()
        found = lazy.compute(scheduler="synchronous")
        assert sorted(found) == sorted(expected)
        if not two or keys in ("dictionary", "objects"):  # indexes of two levels confuse the others
            assert found.tolist() == expected.tolist()
            assert repr(found.index.tolist()) == repr(expected.index.tolist())
        dtypes = [lazy._meta.index.get_level_values(i).dtype for i in range(1 + two)]
        assert [found.index.get_level_values(i).dtype for i in range(1 + two)] == dtypes
        running = groups.cumsum().compute(scheduler="synchronous")
        assert running.tolist() == whole.groupby(by, dropna=False)["v"].cumsum().tolist()


HALF = arrow([*map(np.float16, [1.5, 2.5, 1.5, 3, 2.5]), None, np.float16(0.5)], pa.float16())


@pytest.mark.parametrize(
    "keys",
    [
        HALF,
        arrow([1.5, 2.5, 1.5, None, 2.5, None, 0.5], pa.float32()),
        ODD_KEYS["dictionary"],
        arrow(pa.array(["b", None, "a", "b", None, "a", "c"]).dictionary_encode(), None),
        arrow(pa.array([3, None, 1, 3, None, 1, 2]).dictionary_encode(), None),
    ],
    ids=lambda keys: str(keys.dtype),
)
@pytest.mark.parametrize("dropna", [False, True])
def test_dtypes_of_keys_are_kept_among_levels(keys, dropna):
    df = pd.DataFrame({"k": keys, "j": [1, 1, 1, 1, 1, 2, 1], "x": range(7)})
    # of half floats, pandas makes no groups
    as_pandas = df.astype({"k": "float[pyarrow]"}) if keys is HALF else df
    theirs = as_pandas.groupby(["k", "j"], dropna=dropna)["x"]
    for each in (df, dd.from_pandas(df, npartitions=3)):
        ours = each.gpuscan.groupby(["k", "j"], dropna=dropna)["x"]
        for lazy, expected in [
            (ours.sum(), theirs.sum()),
            (ours.median(), theirs.median()),
            (each.gpuscan.groupby("k")["x"].nlargest(2), as_pandas.groupby("k")["x"].nlargest(2)),
        ]:
            (found,) = dask.compute(lazy, scheduler="synchronous")
            assert found.tolist() == expected.tolist()
            assert repr(found.index.tolist()) == repr(expected.index.tolist())
            assert found.index.get_level_values(0).dtype == keys.dtype
            assert found.index.levels[0].dtype == keys.dtype


SAME = [
    [1, 1.0, True, np.int8(1), np.float32(1), Decimal("1.00"), Fraction(1), 1 + 0j],
    [0.0, -0.0, False, np.longdouble(0)],
    ["a", np.str_("a")],
    [(1, float("nan")), (1.0, np.float64("nan")), (True, complex("nan"))],
    [(2, pd.NA), (np.int64(2), pd.NA)],
    [frozenset([1, 2]), frozenset([2.0, True])],
    [pd.Timestamp("2026-03-04"), datetime(2026, 3, 4), np.datetime64("2026-03-04")],
    [pd.Timestamp("2026-03-04 01:00", tz="Asia/Tokyo"), pd.Timestamp("2026-03-03 16:00", tz="UTC")],
    [pd.Timedelta("1s"), timedelta(seconds=1), np.timedelta64(1000, "ms")],
    [date(2026, 3, 4)],
    [time(1, 2), time(1, 2, fold=1)],
    [pd.Interval(0, 1), pd.Interval(-0.0, 1.0)],
    [pd.Period("2026-03"), pd.Period("2026-03", "M")],
    [UUID(int=5), UUID(hex="5".zfill(32))],
    [b"a", np.bytes_(b"a")],
]


def test_the_same_keys_have_one_value_and_one_text():
    for group in SAME:
        for value in group:
            assert key_value(value) == key_value(group[0])
            assert hash(key_value(value)) == hash(key_value(group[0]))
            assert key_text(key_value(value)) == key_text(key_value(group[0]))
    assert len({key_value(group[0]) for group in SAME}) == len(SAME)


def test_texts_of_keys_are_those_of_every_process():
    script = """
from dask_gpuscan.frames.key_values import key_text, key_value
from test_keys import SAME
print([key_text(key_value(group[0])) for group in SAME])
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "1"},  # here it is another one
        cwd=os.path.dirname(__file__),
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == repr([key_text(key_value(group[0])) for group in SAME])
