"""Narrow and unsigned integers of polars: polars' numbers, or an error that says what to cast."""

import pytest

pl = pytest.importorskip("polars")


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64])
def test_differences_of_unsigned_integers(dtype):
    frame = pl.DataFrame({"k": [1, 1, 1], "x": pl.Series([100, 20, 100], dtype=dtype)})
    for ask in (lambda it: it["x"].gpuscan, lambda it: it.gpuscan.groupby("k")["x"]):
        with pytest.raises(OverflowError, match=r"diff of .*does not fit .*to Int64 in polars"):
            ask(frame).diff()
        wide = frame.with_columns(pl.col("x").cast(pl.Int64))
        assert ask(wide).diff().to_list() == [None, -80, 80]
        rising = frame.sort("x")
        assert ask(rising).diff().to_list() == [None, 80, 0]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int16])
def test_running_sums_of_narrow_integers(dtype):
    most = {pl.Int8: 2**7, pl.UInt8: 2**8, pl.Int16: 2**15}[dtype] - 1
    column = pl.Series("x", [most, 1, most], dtype=dtype)
    with pytest.raises(Exception, match=r"does not fit .*ask for a wider dtype="):
        column.gpuscan.cumsum()
    assert column.gpuscan.cumsum(dtype=pl.Int64).to_list() == [most, most + 1, 2 * most + 1]
    groups = pl.DataFrame({"k": [1, 1, 1], "x": column}).gpuscan.groupby("k")["x"]
    assert groups.cumsum().to_list() == column.cum_sum().to_list()


def test_fill_values_of_polars():
    column = pl.Series("x", [1, 2])
    assert column.gpuscan.shift(fill_value=7).to_list() == [7, 1]
    for wrong in (1.58, "7", 2**70):
        with pytest.raises(TypeError, match="cannot hold the fill_value"):
            column.gpuscan.shift(fill_value=wrong)
