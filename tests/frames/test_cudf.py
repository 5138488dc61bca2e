"""What only cuDF has: its own nulls, decimals, bitmaps at an offset, spilling, and when `.gpuscan` appears."""

import pickle
import subprocess
import sys
from decimal import Decimal

import dask
import numpy as np
import pandas as pd
import pytest

import dask_gpuscan

cudf = pytest.importorskip("cudf")
pytestmark = pytest.mark.gpu

RNG = np.random.default_rng()
METHODS = ["cumsum", "cumprod", "cummax", "cummin"]


def test_accessor_whichever_is_imported_first():
    for lines in ("import cudf, dask_gpuscan", "import dask_gpuscan, cudf"):
        check = f"{lines}; print(cudf.Series([1, 2]).gpuscan.cumsum().to_pandas().tolist())"
        assert subprocess.check_output([sys.executable, "-c", check]) == b"[1, 3]\n"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("skipna", [True, False])
def test_nan_counts_as_null_and_comes_out_as_null(method, skipna):
    import cupy

    values = cupy.asarray(RNG.normal(size=70_000))
    values[cupy.asarray(RNG.integers(0, 70_000, 9))] = np.nan
    x = cudf.Series(values, nan_as_null=False)
    x.iloc[RNG.integers(0, 70_000, 500)] = None
    ours = getattr(x.gpuscan, method)(skipna=skipna)
    theirs = getattr(x, method)(skipna=skipna)
    assert ours.null_count == theirs.null_count > 0
    cudf.testing.assert_series_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "datetime64[ns]", "bool"])
@pytest.mark.parametrize("positions", ["int32", "int64"])
@pytest.mark.parametrize("count", [0, 1, 31, 33, 70_001])
def test_rows_by_position_some_null(dtype, positions, count):
    import cupy

    from dask_gpuscan.frames.cudf.library import CUDF

    whole = pd.Series(RNG.integers(0, 2, 1003)).astype(dtype)
    column = cudf.Series(whole).iloc[3:]._column
    for least in (-1, 0):
        rows = RNG.integers(least, 1000, count).astype(positions)
        found = CUDF.take(column, cupy.asarray(rows), nulls=True)
        assert found.null_count == (rows < 0).sum()
        expected = whole.iloc[3:].reset_index(drop=True).reindex(rows).isna().to_numpy()
        ours = cudf.Series._from_column(found)
        np.testing.assert_array_equal(ours.isna().to_numpy(), expected)
        kept = whole.iloc[3:].to_numpy()[rows[rows >= 0]]
        np.testing.assert_array_equal(ours.dropna().to_numpy(), kept)


WIDE_KEYS = {
    "int64": lambda rng, n: rng.choice(rng.integers(-(2**62), 2**62, 900), n),
    "uint32": lambda rng, n: rng.choice(rng.integers(0, 2**32, 900, np.uint32), n),
    "int16": lambda rng, n: rng.integers(-9, 9, n).astype("int16"),
    "float64": lambda rng, n: rng.choice([-0.0, 0.0, np.nan, 1.5, -7e300, np.inf], n),
    "float32": lambda rng, n: rng.choice(rng.normal(size=900), n).astype("float32"),
    "datetime64[ns]": lambda rng, n: rng.choice(rng.integers(0, 2**60, 900), n).astype("M8[ns]"),
    "str": lambda rng, n: rng.choice(["a", "b", "", "longer than that"], n),
}


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize(
    "kinds",
    [*((k,) for k in WIDE_KEYS), ("int64", "str"), ("float64", "uint32", "str"), ("str", "str")],
)
def test_group_ids_of_keys_without_a_range(kinds, nulls):
    from dask_gpuscan.frames.cudf.keys import sorted_group_ids

    n = 30_000
    keys = [pd.Series(WIDE_KEYS[kind](RNG, n)) for kind in kinds]
    if nulls:
        keys = [
            key.mask(RNG.random(n) < 0.1) if key.dtype.kind not in "iu" else key for key in keys
        ]
    on_device = [cudf.Series(key) for key in keys]
    if nulls:
        for i, key in enumerate(on_device):
            where = RNG.random(n) < 0.1
            on_device[i] = key.mask(cudf.Series(where))
            keys[i] = on_device[i].to_pandas(nullable=key.dtype.kind in "iuf")
    ids = sorted_group_ids([key._column for key in on_device])
    codes = ids.array.get()
    assert 0 <= codes.min() <= codes.max() < ids.groups
    expected = (
        pd.DataFrame(dict(enumerate(keys))).groupby([*range(len(keys))], dropna=False).ngroup()
    )
    pairs = set(zip(codes.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize("offset", [0, 1, 7, 8, 31, 33, 1000])
@pytest.mark.parametrize("dtype", ["int8", "int32", "float64", "datetime64[ns]", "bool"])
def test_slices_with_nulls(offset, dtype):
    whole = cudf.Series(RNG.integers(0, 2, 80_000)).astype(dtype)
    whole.iloc[RNG.integers(0, 80_000, 8_000)] = None
    piece = whole.iloc[offset : 70_001 + offset]
    for name in ("cummax",) if dtype.startswith("date") else ("cumsum", "cummax"):
        ours, theirs = getattr(piece.gpuscan, name)(), getattr(piece, name)()
        cudf.testing.assert_series_equal(ours, theirs)
    cudf.testing.assert_series_equal(piece.gpuscan.ffill(), piece.ffill())
    cudf.testing.assert_series_equal(piece.gpuscan.bfill(), piece.bfill())


@pytest.mark.parametrize("dtype", ["int32", "float64", "datetime64[ns]"])
def test_nulls_at_both_ends_are_not_filled_with_nan(dtype):
    column = cudf.Series([None, None, 1, None, 2, None]).astype(dtype)
    for ours, theirs in (
        (column.gpuscan.ffill(), column.ffill()),
        (column.gpuscan.bfill(), column.bfill()),
    ):
        cudf.testing.assert_series_equal(ours, theirs)
        assert ours.to_arrow().equals(theirs.to_arrow())


@pytest.mark.parametrize("method", ["cumsum", "cummax", "cummin"])
@pytest.mark.parametrize(
    "dtype",
    [cudf.Decimal32Dtype(9, 2), cudf.Decimal64Dtype(18, 2), cudf.Decimal128Dtype(38, 2)],
    ids=lambda d: type(d).__name__,
)
def test_decimals(method, dtype):
    items = [Decimal(int(i)) / 100 for i in RNG.integers(-999, 999, 1000)]
    x = cudf.Series(items).astype(dtype)
    x.iloc[3] = None
    expected = getattr(x, method)()
    lazy = dask_cudf().from_cudf(x, npartitions=3)
    for ours, theirs in (
        (getattr(x.gpuscan, method)(), expected),
        (getattr(lazy.gpuscan, method)().compute(), expected),
        (x.gpuscan.ffill(), x.ffill()),
        (lazy.gpuscan.ffill().compute(), x.ffill()),
    ):
        assert ours.dtype == dtype
        assert ours.to_arrow().equals(theirs.to_arrow())
    started = getattr(x.gpuscan, method)(initial=Decimal("1.25"))
    two = [Decimal("1.25"), items[0]]
    assert started.iloc[0] == {"cumsum": sum, "cummax": max, "cummin": min}[method](two)
    with pytest.raises(TypeError, match="cumprod"):
        x.gpuscan.cumprod()


def dask_cudf():
    return pytest.importorskip("dask_cudf")


def test_strings_and_categoricals_are_filled_by_gathering():
    words = np.array(["a", "bcd", "", "efghij"])[RNG.integers(0, 4, 5000)]
    x = cudf.Series(words)
    x.iloc[RNG.integers(0, 5000, 2000)] = None
    x.iloc[:3] = None
    for column in (x, x.astype("category")):
        for fill in ("ffill", "bfill"):
            ours, theirs = getattr(column.gpuscan, fill)(), getattr(column, fill)()
            cudf.testing.assert_series_equal(ours, theirs)
            lazy = getattr(dask_cudf().from_cudf(column, npartitions=7).gpuscan, fill)()
            cudf.testing.assert_series_equal(lazy.compute(), theirs)


@pytest.mark.parametrize("length", [1, 8, 513, 70_001])
@pytest.mark.parametrize("periods", [0, 1, -1, 8, -9, 600, -600])
@pytest.mark.parametrize("dtype", ["int8", "float64", "datetime64[ns]", "bool"])
def test_rows_are_moved_with_their_nulls(length, periods, dtype):
    x = cudf.Series(RNG.integers(0, 2, length)).astype(dtype)
    for nulls in (False, True):
        if nulls:
            x.iloc[: length // 2 + 1] = None
        for method in ("shift", "diff") if dtype != "bool" else ("shift",):
            expected = getattr(x, method)(periods)
            for each in (x, dask_cudf().from_cudf(x, npartitions=3)):
                (found,) = dask.compute(getattr(each.gpuscan, method)(periods))
                cudf.testing.assert_series_equal(found, expected)
                assert found.null_count == expected.null_count


@pytest.mark.parametrize("dtype", ["str", "category"])
def test_columns_of_no_fixed_width_are_moved(dtype):
    # pandas says whether categories are ordered, without which cuDF hands none to Arrow
    x = cudf.Series(pd.Series(["a", "b", None, "c", "a"], dtype=dtype))
    for periods, expected in ((2, [None, None, "a", "b", None]), (-4, ["a"] + [None] * 4)):
        for each in (x, dask_cudf().from_cudf(x, npartitions=2)):
            (found,) = dask.compute(each.gpuscan.shift(periods))
            assert found.dtype == x.dtype
            assert found.to_arrow().to_pylist() == expected


def test_ordered_categories_stay_so_and_must_be_the_same():
    def categories(values, order):
        return cudf.Series(pd.Series(values, dtype=pd.CategoricalDtype(order, ordered=True)))

    x = categories(["a", "b", None, "c", "a"], ["c", "b", "a"])
    found = dask_cudf().from_cudf(x, npartitions=2).gpuscan.shift(2).compute()
    assert found.dtype == x.dtype
    assert found.dtype.ordered
    assert found.to_arrow().to_pylist() == [None, None, "a", "b", None]
    parts = [categories(["a", "b"], order) for order in (["a", "b"], ["b", "a"])]
    lazy = dask.dataframe.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])
    with pytest.raises(ValueError, match="other categories in some, which cannot be joined"):
        lazy.gpuscan.shift().compute()


def test_decimals_are_no_times():
    frame = cudf.DataFrame({"d": [Decimal("1.5"), Decimal("2.5")], "x": [1, 2]})
    with pytest.raises(TypeError, match="windows of time need datetimes"):
        frame.gpuscan.rolling("1s", on="d")


def test_input_and_its_copies_are_not_written():
    x = cudf.Series([1.0, None, 3.0])
    before = x.copy(deep=True)
    out = x.gpuscan.ffill()
    out.iloc[:] = 9.0
    total = x.gpuscan.cumsum()
    total.iloc[1] = 5.0  # its bitmap was shared with the input's
    cudf.testing.assert_series_equal(x, before)


def test_results_are_dask_cudf_collections():
    df = cudf.DataFrame({"x": [1, 2, 3], "y": [1.5, None, 2.0]}, index=[5, 6, 7])
    ddf = dask_cudf().from_cudf(df, npartitions=2)
    lazy = ddf.gpuscan.cumsum()
    assert type(lazy) is type(ddf)
    assert isinstance(lazy.compute(), cudf.DataFrame)
    cudf.testing.assert_frame_equal(lazy.compute(), df.cumsum())
    ddf["total"] = ddf.gpuscan.cumsum()["x"]
    assert ddf.compute()["total"].to_pandas().tolist() == [1, 3, 6]


def test_numeric_only_and_rows():
    df = cudf.DataFrame({"a": [1, 2], "s": ["x", "y"], "b": [1.5, None]})
    kept = df.gpuscan.cumsum(numeric_only=True)
    cudf.testing.assert_frame_equal(kept, df[["a", "b"]].cumsum())
    pair = df[["a", "b"]].fillna(0.5)
    cudf.testing.assert_frame_equal(pair.gpuscan.cumsum(axis=1), pair.cumsum(axis=1))
    assert df.gpuscan.row_number().to_pandas().tolist() == [0, 1]
    with pytest.raises(TypeError, match="cumsum of column 's'"):
        df.gpuscan.cumsum()


def test_times():
    x = cudf.Series(pd.to_datetime(["2026-01-02", None, "2026-01-01", "2026-01-05"]))
    out = x.gpuscan.cummax(initial=pd.Timestamp("2026-01-03"))
    assert out.to_pandas().dt.day.fillna(0).tolist() == [3, 0, 3, 5]
    zoned = x.dt.tz_localize("Asia/Tokyo")
    cudf.testing.assert_series_equal(zoned.gpuscan.cummax(), zoned.cummax())
    with pytest.raises(TypeError, match="cuDF has no cumsum"):
        x.gpuscan.cumsum()


def test_spilled_columns_come_back():
    check = """
import cudf, dask_gpuscan, numpy as np
from cudf.core.buffer.spill_manager import get_global_manager
x = cudf.Series(np.arange(1000.0))
manager = get_global_manager()
assert manager.spill_device_memory(nbytes=1) > 0
out = x.gpuscan.cumsum()
assert out.iloc[-1] == 499500.0
x = cudf.Series([1, None, 3])
assert x.gpuscan.cumsum().to_pandas().iloc[-1] == 4
"""
    subprocess.run(
        [sys.executable, "-c", check], env={**_environ(), "CUDF_SPILL": "on"}, check=True
    )


def _environ():
    import os

    return dict(os.environ)


def test_array_functions_take_series():
    x = cudf.Series([1, 2, 3])
    assert dask_gpuscan.cumsum(x).to_pandas().tolist() == [1, 3, 6]
    assert isinstance(dask_gpuscan.scan(x, dask_gpuscan.maximum), cudf.Series)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 70_001])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.0, 0.5), (0.3, 1.0), (0.4, 0.6), (0.0, 0.0)])
def test_rows_that_are_known_to_be_numbers(count, ends):
    import cupy

    from dask_gpuscan.frames.cudf.library import CUDF

    start, stop = (int(end * count) for end in ends)
    values = cupy.asarray(RNG.normal(size=count))
    values[:start] = values[stop:] = np.nan
    known, found = (CUDF.from_floats(values, numbers) for numbers in (slice(start, stop), None))
    assert known.null_count == found.null_count == count - (stop - start)
    cudf.testing.assert_series_equal(
        cudf.Series._from_column(known), cudf.Series._from_column(found)
    )


def test_floats_of_a_column_with_nulls_and_nan():
    from dask_gpuscan.frames.cudf.library import CUDF

    x = cudf.Series([1.5, None, np.nan, 4.0], nan_as_null=False)
    for column, expected in ((x, [1.5, np.nan, np.nan, 4.0]), (x.iloc[1:3], [np.nan, np.nan])):
        np.testing.assert_array_equal(CUDF.floats(column).get(), expected)
    assert x.null_count == 1


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32"])
@pytest.mark.parametrize("offset", [0, 1, 8, 33])
def test_floats_of_slices_with_nulls(dtype, offset):
    from dask_gpuscan.frames.cudf.library import CUDF

    x = cudf.Series(RNG.integers(0, 2, 5000)).astype(dtype)
    x.iloc[RNG.integers(0, 5000, 900)] = None
    piece = x.iloc[offset : 4000 + offset]
    expected = piece.to_pandas().astype("Float64").to_numpy(np.float64, na_value=np.nan)
    np.testing.assert_array_equal(CUDF.floats(piece).get(), expected)


@pytest.mark.parametrize("length", [1, 64, 70_003])
@pytest.mark.parametrize("of_array", [False, True])
@pytest.mark.parametrize("of_rows", [False, True])
def test_rows_and_their_nulls_take_the_place_of_others(length, of_array, of_rows):
    from dask_gpuscan.frames.registry import library_of

    library = library_of(cudf.Series([1]))

    def column(count, has_nulls):
        values = pd.Series(RNG.normal(size=count))
        return values.mask(RNG.random(count) < 0.3 * has_nulls)

    for _ in range(20):
        start, stop = np.sort(RNG.integers(0, length + 1, 2))
        own, rows = column(length, of_array), column(stop - start, of_rows)
        array, new = (library.array(cudf.Series(s)) for s in (own, rows))
        found = library.replace(library.copy(array), int(start), new)
        own[start:stop] = rows.to_numpy()
        assert found.null_count == own.isna().sum()
        pd.testing.assert_series_equal(library.series(found, None).to_pandas(), own)


def test_halos_are_pickled_as_numbers_of_the_host():
    from dask_gpuscan.frames.registry import library_of
    from dask_gpuscan.ops.windows.halo import RowArrays

    frame = cudf.DataFrame({"x": [1.5, -0.0], "n": [None, 1], "s": ["a", None]})
    library = library_of(frame)
    columns = [library.array(frame[name]) for name in frame]
    rows = RowArrays(library, 2, columns, keys=columns[:1])
    assert rows.unpack() is rows
    assert isinstance(rows.pack().columns[0][0], np.ndarray)
    sent = pickle.loads(pickle.dumps(rows))
    assert sent.library is library
    assert sent.packed
    assert sent.pack() is sent
    sent = sent.unpack()
    assert (sent.count, len(sent.keys)) == (2, 1)
    for found, name in zip([*sent.columns, *sent.keys], ["x", "n", "s", "x"], strict=True):
        cudf.testing.assert_series_equal(library.series(found, None, name), frame[name])


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("equal_hashes", [False, True])
def test_strings_as_keys(monkeypatch, nulls, offset, equal_hashes):
    """Also where strings that differ have one hash, as a null and an empty string may."""
    import cupy

    from dask_gpuscan.frames.cudf import keys
    from dask_gpuscan.frames.cudf.library import CUDF

    monkeypatch.setattr(keys, "HASHED_FROM", 0)
    if equal_hashes:

        def same(table, seed):
            zeros = cupy.zeros(table.num_rows(), np.uint64)
            return keys.plc.Column.from_cuda_array_interface(zeros)

        monkeypatch.setattr(keys.plc.hashing, "xxhash_64", same)
    numbers = RNG.integers(0, 900, 20_000)
    texts = ["x" * (n % 40) + (str(n) if n % 40 else "") for n in numbers.tolist()]
    if nulls:
        texts[10::7] = [None] * len(texts[10::7])
    column = cudf.Series(texts)._column.slice(offset, len(texts))
    ids = CUDF.dense_group_ids([column])
    codes, theirs = ids.array.get(), pd.factorize(np.array(texts[offset:], object))[0]
    pairs = set(zip(codes.tolist(), theirs.tolist(), strict=True))
    assert len(pairs) == len(set(codes.tolist())) == len(set(theirs.tolist()))
    assert codes.max() < ids.groups
    if ids.first_rows is not None:
        assert sorted(codes[ids.first_rows.get()]) == list(range(ids.groups))
