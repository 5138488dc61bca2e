"""Windows of times and decimals, against Python's integers: all digits, of any unit, cut anywhere."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.asked import computed
from helpers.decimals import decimals
from helpers.strategies import in_pieces

NUMBERS = [2**62 + 7, 2**62 + 2, None, -(2**62), 5, -4, -3]
GROUPS = [1, 2, 1, 1, 2, 2, 1]
MOST = 10**38 - 1


def times(dtype):
    """Return times of a dtype that store these numbers."""
    stored = np.array([-(2**63) if n is None else n for n in NUMBERS])
    if isinstance(dtype, pa.DataType):
        numbers = pa.array(NUMBERS, pa.int64()).view(dtype)
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([numbers])))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pd.Series(stored.view(f"M8[{dtype.unit}]")).dt.tz_localize("UTC").astype(dtype)
    return pd.Series(stored.view(dtype))


DTYPES = {
    "datetime64[ns]": "M8[ns]",
    "duration[ns]": pa.duration("ns"),
    "timedelta64[us]": "m8[us]",
    "datetime64[ns, Asia/Tokyo]": pd.DatetimeTZDtype("ns", "Asia/Tokyo"),
    "timestamp[s, UTC]": pa.timestamp("s", "UTC"),
}
OTHER_UNITS = list(DTYPES)[2:]
"""Times that store the same numbers under the same kinds of nulls: a few statistics are asked of them."""


def stored(answer):
    """Return the numbers that times store."""
    array = pa.array(computed(answer)).cast(pa.int64())
    return array.to_pylist()


def middle(values):
    values = sorted(values)
    return Fraction(values[(len(values) - 1) // 2] + values[len(values) // 2], 2)


STATISTICS = {
    "min": min,
    "max": max,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "mean": lambda values: Fraction(sum(values), len(values)),
    "median": middle,
}


def of_windows(values, name, least, windows):
    """Return the statistic of the values in each window, towards zero; null for fewer values than `least`."""
    found = []
    for rows in windows:
        some = [values[i] for i in rows if values[i] is not None]
        found.append(int(STATISTICS[name](some)) if len(some) >= max(least, 1) else None)
    return found


ROWS = range(len(NUMBERS))
ROLLING = [range(max(i - 2, 0), i + 1) for i in ROWS]
SO_FAR = [range(i + 1) for i in ROWS]
OF_GROUPS = [[j for j in range(i + 1) if GROUPS[j] == GROUPS[i]] for i in ROWS]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, dtype) for name in STATISTICS for dtype in ("datetime64[ns]", "duration[ns]")),
        *((name, dtype) for name in ("max", "mean", "median") for dtype in OTHER_UNITS),
    ],
)
def test_times(name, dtype):
    column = times(DTYPES[dtype])
    frame = pd.DataFrame({"x": column, "g": GROUPS})
    frame["t"] = pd.date_range("2026-01-01", periods=len(frame))
    for rows in in_pieces(frame):
        x, groups = rows["x"].gpuscan, rows.gpuscan.groupby("g")["x"]
        asked = {
            "rolling": (x.rolling(3, min_periods=2), 2, ROLLING),
            "none": (x.rolling(3, min_periods=0), 0, ROLLING),
            "of time": (rows[["x", "t"]].gpuscan.rolling("3D", on="t")["x"], 1, ROLLING),
            "of groups": (groups.rolling(2), 2, [rows[-2:] for rows in OF_GROUPS]),
            "expanding": (x.expanding(min_periods=2), 2, SO_FAR),
            "so far in groups": (groups.expanding(), 1, OF_GROUPS),
        }
        for title, (windows, least, around) in asked.items():
            found = computed(getattr(windows, name)())
            assert found.dtype == column.dtype, title
            assert stored(found) == of_windows(NUMBERS, name, least, around), title


def test_counts_and_what_times_have_not():
    frame = pd.DataFrame({"x": times("M8[ns]")})
    for rows in in_pieces(frame):
        found = rows["x"].gpuscan.rolling(3, min_periods=1).count()
        assert computed(found).tolist() == [1, 2, 2, 2, 2, 3, 3]
        for name in ("sum", "std", "skew"):
            for windows in (rows["x"].gpuscan.rolling(2), rows["x"].gpuscan.expanding()):
                with pytest.raises(TypeError, match=r"column 'x'.* is not a real number"):
                    getattr(windows, name)()


DAYS = [1, 4, None, -7, 3, -2, 6]
DAY = 86_400_000_000  # microseconds


def dates(days, kind=pa.date32()):  # noqa: B008
    """Return days since 1970 as dates of a type."""
    each, stored = (1, pa.int32()) if kind == pa.date32() else (86_400_000, pa.int64())
    numbers = pa.array([None if d is None else d * each for d in days], stored).view(kind)
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([numbers])))


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()], ids=str)
def test_means_and_medians_of_dates_are_times(kind):
    frame = pd.DataFrame({"x": dates(DAYS, kind), "g": GROUPS})
    moments = [None if d is None else d * DAY for d in DAYS]
    for rows in in_pieces(frame):
        x, groups = rows["x"].gpuscan, rows.gpuscan.groupby("g")["x"]
        asked = (
            (x.rolling(3, min_periods=2), 2, ROLLING),
            (groups.rolling(2), 2, [rows[-2:] for rows in OF_GROUPS]),
            (x.expanding(min_periods=2), 2, SO_FAR),
            (groups.expanding(), 1, OF_GROUPS),
        )
        for windows, least, around in asked:
            for name in ("mean", "median"):
                found = computed(getattr(windows, name)())
                assert found.dtype == pd.ArrowDtype(pa.timestamp("us"))
                assert stored(found) == of_windows(moments, name, least, around), name
            assert computed(windows.max()).dtype == frame["x"].dtype


def test_dates_beyond_the_range_of_times():
    for rows in in_pieces(pd.DataFrame({"x": dates([1, 2**31 - 1])})):
        for windows in (rows["x"].gpuscan.rolling(2), rows["x"].gpuscan.expanding()):
            for name in ("mean", "median"):
                with pytest.raises(OverflowError, match=rf"{name} of column 'x': .* out of bounds"):
                    computed(getattr(windows, name)())


@pytest.mark.parametrize("dtype", ["Date", "Datetime", "Duration"])
def test_times_of_polars(dtype):
    pl = pytest.importorskip("polars")
    x = pl.Series("x", DAYS).cast(getattr(pl, dtype))
    for least in (0, 2):
        for name in ("min", "max", "mean", "median"):
            found = getattr(x.gpuscan.rolling(2, min_periods=least), name)()
            assert found.equals(getattr(x, f"rolling_{name}")(2, min_samples=max(least, 1))), name


# --- decimals --------------------------------------------------------------------------------------------


def counted(answer, kind):
    assert computed(answer).dtype == pd.ArrowDtype(kind)
    return [None if pd.isna(x) else int(Fraction(x) * 10**kind.scale) for x in computed(answer)]


def half_away(mean):
    return int(abs(mean) + Fraction(1, 2)) * (1 if mean >= 0 else -1)


EXACT = {
    "sum": sum,
    "mean": lambda values: half_away(Fraction(sum(values), len(values))),
    **{name: STATISTICS[name] for name in ("min", "max", "first", "last")},
}
KINDS = [pa.decimal128(38, 2), pa.decimal256(70, 1)]
if hasattr(pa, "decimal64"):  # pyarrow 19
    KINDS.append(pa.decimal64(18, 3))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_decimals(kind):
    most = 10**kind.precision - 1
    values = [most, -most, None, -4, 1 - most, 7, most - 8]
    frame = pd.DataFrame({"x": decimals(values, kind), "g": GROUPS})
    for rows in in_pieces(frame):
        x, groups = rows["x"].gpuscan, rows.gpuscan.groupby("g")["x"]
        asked = (
            (x.rolling(3, min_periods=2), 2, ROLLING, EXACT),
            (x.rolling(3, min_periods=0), 0, ROLLING, EXACT),
            (groups.rolling(2), 2, [rows[-2:] for rows in OF_GROUPS], EXACT),
            (x.expanding(), 1, SO_FAR, EXACT),
            (groups.expanding(min_periods=2), 2, OF_GROUPS, EXACT),
        )
        for windows, least, around, names in asked:
            for name in names:
                if name == "sum" and kind.precision != 18:
                    continue
                of = pa.decimal128(38, kind.scale) if name == "sum" else kind
                expected = []
                for window in around:
                    some = [values[i] for i in window if values[i] is not None]
                    null = len(some) < max(least, name != "sum")
                    expected.append(None if null else EXACT[name](some))
                assert counted(getattr(windows, name)(), of) == expected, name


def test_sums_of_decimals_that_do_not_fit():
    kind = pa.decimal128(38, 2)
    for rows in in_pieces(pd.DataFrame({"x": decimals([MOST, -1, -MOST, -1], kind)})):
        sums = counted(rows["x"].gpuscan.expanding().sum(), kind)
        assert sums == [MOST, MOST - 1, -1, -2]
        with pytest.raises(OverflowError, match=r"sum of column 'x' in a window: overflow: -1000"):
            counted(rows["x"].gpuscan.rolling(2).sum(), kind)


def test_states_are_saved(tmp_path):
    kind = pa.decimal128(38, 2)
    values = [MOST, -7, None, 5, 1 - MOST, 8, 2]
    frame = pd.DataFrame({"x": decimals(values, kind), "t": times("M8[ns]"), "g": GROUPS})
    for ask in (
        lambda rows: rows["x"].gpuscan.expanding().mean(),
        lambda rows: rows.gpuscan.groupby("g")["x"].expanding().last(),
        lambda rows: rows["x"].gpuscan.rolling(2).mean(),
        lambda rows: rows["x"].gpuscan.cumsum(),
        lambda rows: rows["t"].gpuscan.expanding().mean(),
        lambda rows: rows.gpuscan.groupby("g")["t"].expanding().max(),
    ):
        first = ask(dask_gpuscan.stream([frame.iloc[:3], frame.iloc[3:4]]))
        before = first.compute()
        first.state.save(tmp_path / "state")
        state = dask_gpuscan.load_state(tmp_path / "state")
        after = ask(dask_gpuscan.stream([frame.iloc[4:]], state=state)).compute()
        assert pd.concat([before, after]).equals(ask(frame))
