"""Calls that checkers read, and that are never run: they find errors in lines that end in `# error`, and no others."""

from typing import Any, assert_type

import dask.dataframe as dd
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dask_gpuscan import (
    Gpuscan,
    Progress,
    Stream,
    bitwise_or,
    box_filter,
    cumsum,
    ffill,
    load_state,
    merge_asof,
    on,
    operator,
    rle_decode,
    scan,
    stream,
    summed_area_table,
    window_sum,
)


class Table:
    """Has what tells tables of polars, pyarrow and DuckDB from other objects."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class LazyFrame:
    """Has what tells polars' lazy frames from other objects."""

    def explain(self, *, optimized: bool = True) -> Any: ...


class DataArray:
    """Has what tells xarray's from other libraries' objects."""

    @property
    def chunksizes(self) -> Any: ...


def of_pandas(s: "pd.Series[Any]", i: "pd.Series[int]", df: pd.DataFrame) -> None:
    assert_type(on(s).cumsum(), "pd.Series[Any]")
    assert_type(on(i).cumsum(exclusive=True, initial=3), "pd.Series[Any]")
    assert_type(on(df).cumsum(axis=1), pd.DataFrame)
    assert_type(on(df).cumsum(lower=0, upper=9.5, reset="x > 3"), pd.DataFrame)
    assert_type(on(s).row_number(reset=s > 3), "pd.Series[Any]")
    assert_type(on(df).cumany(), pd.DataFrame)
    assert_type(on(df).ffill(limit=np.int64(2)), pd.DataFrame)
    assert_type(on(df).groupby("k").ffill("2h", on="t"), pd.DataFrame)
    assert_type(on(df).increase(wrap=16), pd.DataFrame)
    assert_type(on(df).intervals("s", "e", by="k").merge(gap=1), pd.DataFrame)
    assert_type(on(df).latest("k", by="t"), pd.DataFrame)
    assert_type(on(df).keep_apart("2h", "t"), pd.DataFrame)
    assert_type(on(df).interpolate("time", limit_area="inside"), pd.DataFrame)
    assert_type(on(df).shift(-1, fill_value=0), pd.DataFrame)
    assert_type(on(df).row_number(), "pd.Series[Any]")
    assert_type(on(df).cumcount(), "pd.Series[Any]")
    assert_type(on(df).filter("x > 1", rebalance=True), pd.DataFrame)
    assert_type(on(df).filter(df["x"] > 1), pd.DataFrame)
    assert_type(on(df).filter(lambda x: x > 1), pd.DataFrame)
    assert_type(on(s).partition("x > 1"), "tuple[pd.Series[Any], pd.Series[Any]]")
    assert_type(on(s).rle(), pd.DataFrame)
    assert_type(rle_decode(on(s).rle()), pd.DataFrame)
    assert_type(on(s).reset_index(), pd.DataFrame)
    assert_type(on(s).reset_index(drop=True), "pd.Series[Any]")
    assert_type(on(df).sort_values(["k", "x"], ascending=[True, False]), pd.DataFrame)
    assert_type(on(df).sort_index(level=["a", 1]), pd.DataFrame)
    assert_type(on(df).rank(method="dense"), pd.DataFrame)
    assert_type(on(df).nlargest(3, "x"), pd.DataFrame)
    assert_type(on(s).nsmallest(3, keep="all"), "pd.Series[Any]")
    assert_type(on(df).drop_duplicates("k", keep=False), pd.DataFrame)
    assert_type(on(df).value_counts(subset=["k"]), "pd.Series[Any]")
    assert_type(on(df).sessionize("t", by="k", gap="30min"), "pd.Series[Any]")
    assert_type(on(df).sessions("t", gap=3.5, total=("x", "sum")), pd.DataFrame)
    assert_type(on(s).is_monotonic_increasing, bool)
    assert_type(on(s).scan(bitwise_or), "pd.Series[Any]")
    assert_type(on(df).scan({"total": (bitwise_or, "x")}, where="x > 0"), pd.DataFrame)
    assert_type(on(df).scan({"total": (bitwise_or, "x")}, where=df["x"] > 0), pd.DataFrame)
    assert_type(on(df).groupby("k").scan({"total": (bitwise_or, "x")}), pd.DataFrame)
    assert_type(on(df).groupby(df["k"], as_index=False).sum(), pd.DataFrame)
    assert_type(on(df).groupby(level=0)["x"].idxmax(), "pd.Series[Any]")
    assert_type(on(df).groupby("k").describe(), pd.DataFrame)
    assert_type(on(df).groupby("k").ngroup(), "pd.Series[Any]")
    assert_type(on(df).groupby("k").pipe(lambda groups: 3), int)
    assert_type(on(df).rle("k", agg={"n": ("x", "count")}), pd.DataFrame)
    assert_type(on(s).scan(operator(lambda a, b: a ^ b, identity=0)), "pd.Series[Any]")
    assert_type(on(df).explode(["x", "y"], ignore_index=True), pd.DataFrame)
    assert_type(on(s).list.cumsum(reverse=True), "pd.Series[Any]")
    assert_type(on(s).list.sum(), "pd.Series[Any]")
    on(s).list.sort(na_position="top")  # error
    assert_type(merge_asof(df, df, on="t"), pd.DataFrame)
    assert_type(cumsum(s), "pd.Series[Any]")
    assert_type(cumsum(s, reproducible=True), "pd.Series[Any]")
    assert_type(on(df).cumsum(reproducible=True), pd.DataFrame)
    assert_type(cumsum(df), pd.DataFrame)
    accessor: Gpuscan[Any, Any, Any, Any] = on(df)
    accessor.cumsum()


def of_groups(df: pd.DataFrame) -> None:
    groups = on(df).groupby(["k", "j"], clustered="check")
    assert_type(groups.cumsum(), pd.DataFrame)
    assert_type(groups["x"].cumsum(), "pd.Series[Any]")
    assert_type(groups[["x"]].cumsum(), pd.DataFrame)
    assert_type(groups.x.cumsum(), "pd.Series[Any]")
    assert_type(groups.sum(numeric_only=True), pd.DataFrame)
    assert_type(groups["x"].mean(reproducible=True), "pd.Series[Any]")
    assert_type(groups["x"].std(ddof=0), "pd.Series[Any]")
    assert_type(groups["x"].quantile([0.1, 0.9], "nearest"), "pd.Series[Any]")
    assert_type(groups.size(), "pd.Series[Any]")
    assert_type(groups.cumcount(ascending=False), "pd.Series[Any]")
    assert_type(groups.nth([0, slice(2, None)]), pd.DataFrame)
    assert_type(groups["x"].nlargest(2), "pd.Series[Any]")
    assert_type(groups["x"].agg("sum"), "pd.Series[Any]")
    assert_type(groups["x"].agg(["sum", "max"]), pd.DataFrame)
    assert_type(groups.agg({"x": ["sum"]}), pd.DataFrame)
    assert_type(groups.agg(total=("x", "sum")), pd.DataFrame)
    assert_type(groups["x"].rolling(3).sum(), "pd.Series[Any]")
    assert_type(groups.ewm(halflife=2).mean(), pd.DataFrame)
    assert_type(groups.rank("first"), pd.DataFrame)
    assert_type(on(df).resample("1h", on="t")["x"].ohlc(), pd.DataFrame)
    assert_type(on(df).resample("1h", label="right").x.median(), "pd.Series[Any]")


def of_windows(s: "pd.Series[Any]", df: pd.DataFrame) -> None:
    assert_type(on(s).rolling("30min", closed="both").mean(), "pd.Series[Any]")
    assert_type(on(df).rolling(3, center=True).quantile(0.5, "lower"), pd.DataFrame)
    assert_type(on(df).expanding(2).rank("max"), pd.DataFrame)
    assert_type(on(df).expanding(2).sum(reproducible=True), pd.DataFrame)
    assert_type(on(s).ewm(span=3).agg("mean"), "pd.Series[Any]")
    assert_type(on(s).ewm(span=3).agg(["mean", "std"]), pd.DataFrame)
    assert_type(on(s).expanding().cov(s), "pd.Series[Any]")
    assert_type(on(s).expanding().corr(df), pd.DataFrame)
    assert_type(on(df).ewm(alpha=0.5).cov(), pd.DataFrame)


def of_dask(s: dd.Series, df: dd.DataFrame) -> None:
    assert_type(on(s).cumsum(), dd.Series)
    assert_type(on(df).cumsum(), dd.DataFrame)
    assert_type(on(df).filter("x > 1", rebalance=True), dd.DataFrame)
    assert_type(on(df).row_number(), dd.Series)
    assert_type(on(s).rle(), dd.DataFrame)
    assert_type(on(s).reset_index(), dd.DataFrame)
    assert_type(on(df).explode("x"), dd.DataFrame)
    assert_type(on(s).list.scan(bitwise_or), dd.Series)
    assert_type(on(s).list.first(), dd.Series)
    assert_type(on(s).is_monotonic_increasing, dd.Scalar)
    assert_type(on(df).groupby("k")["x"].sum(), dd.Series)
    assert_type(on(df).groupby("k").rolling(3).sum(), dd.DataFrame)
    assert_type(on(df).resample("1h").size(), dd.Series)
    assert_type(on(df).ewm(span=3).std(), dd.DataFrame)
    assert_type(on(df).partition("x > 1"), tuple[dd.DataFrame, dd.DataFrame])
    assert_type(on(df).groupby("k").resample("1h", on="t")["x"].mean(), dd.Series)
    assert_type(on(df).groupby("k").agg(total=("x", "sum")), dd.DataFrame)
    assert_type(on(df).sessions("t", by="k", gap="1h"), dd.DataFrame)
    assert_type(merge_asof(df, df, on="t", by="k"), dd.DataFrame)
    assert_type(on(df).sort_values(["k", "x"]).compute(), pd.DataFrame)
    assert_type(cumsum(s), dd.Series)


def of_streams(days: list[pd.DataFrame]) -> None:
    rows = stream(days)
    assert_type(rows.gpuscan.cumsum(), Stream)
    assert_type(rows[["x"]].gpuscan.ffill().gpuscan.filter("x > 1"), Stream)
    assert_type(on(rows).shift(1).compute(), Any)
    rows.gpuscan.groupby("k")["x"].sum().to_dict()
    assert_type(rows.gpuscan.groupby("k").rolling(3).mean(), Stream)
    assert_type(rows.gpuscan.groupby("k", clustered=True)["x"].cumsum(), Any)
    assert_type(rows.gpuscan.ewm(span=3).mean(), Stream)
    assert_type(merge_asof(rows, rows, on="t"), Stream)
    found = rows.to_parquet("totals", state=True, dry_run=True)
    assert_type(found, Progress | Any)
    on(load_state("totals")).cumsum()  # error
    rows.gpuscan.cumsums()  # error
    rows.gpuscan.cumsum(exclusiv=True)  # error


def of_tables(table: Table, lazy: LazyFrame) -> None:
    assert_type(on(table).cumsum(), Table)
    assert_type(on(table).groupby("k").cumsum(), Table)
    assert_type(on(table).filter("x > 1"), Table)
    assert_type(on(table).rolling(3).sum(), Table)
    assert_type(on(table).is_monotonic_increasing, bool)
    assert_type(merge_asof(table, table, on="t"), Table)
    assert_type(merge_asof(lazy, table, on="t"), LazyFrame)
    on(lazy).collect().groupby("k").cumsum()
    on(lazy).collect().cumsums()  # error
    on(table).cumsums()  # error


def of_arrays(x: "np.ndarray[tuple[int], np.dtype[np.int32]]") -> None:
    assert_type(cumsum(x), NDArray[Any])
    assert_type(ffill(x, limit=1), "np.ndarray[tuple[int], np.dtype[np.int32]]")
    scan(x, bitwise_or)
    assert_type(summed_area_table(x, (0,), dtype="f8"), NDArray[Any])
    assert_type(window_sum(summed_area_table(x), [[0, 3]]), NDArray[Any])
    assert_type(box_filter(x, 3, mode="wrap"), NDArray[Any])
    box_filter(x, 3, mode="wrapped")  # error


def of_xarray(x: DataArray) -> None:
    assert_type(on(x).cumsum("time", skipna=False), DataArray)
    assert_type(on(x).ffill("time", limit=2), DataArray)
    assert_type(on(x).groupby("time.month").cummax(), DataArray)
    on(x).cumsums()  # error
    on(x).cumsum(exclusiv=True)  # error


def of_what_nothing_is_known(x: Any) -> None:
    assert_type(on(x), Any)


def wrong(s: "pd.Series[Any]", df: pd.DataFrame, ddf: dd.DataFrame) -> None:
    on(df).cumsums()  # error
    on(df).cumsum(axis=2)  # error
    on(df).cumsum(exclusiv=True)  # error
    on(df).ffill(2.5)  # error
    on(df).unique_consecutive(keep="middle")  # error
    on(df).rolling(3, closed="all")  # error
    on(df).rolling(3).summ()  # error
    on(df).groupby("k").rank("densest")  # error
    on(df).groupby("k", clustered="yes")  # error
    on(df).nlargest("3", "x")  # error
    on(df).scan("sum")  # error
    on(ddf).filter(3)  # error
    on(ddf).groupby("k").cumsums()  # error
    on(df).groupby("k")["x"].rolling(3).summ()  # error
    on(df).resample("1h", closed="both")  # error
    on(df).interpolate("spline")  # error
    on(df).shift(periods=1.5)  # error
    on(df).sort_values("x", na_position="middle")  # error
    merge_asof(df, df, on="t", direction="ahead")  # error
