"""Streams of tables of polars and Arrow: their answers are tables, and are those of the whole table."""

import datetime

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from dask_gpuscan import operator

pl = pytest.importorskip("polars")

TABLE = pl.DataFrame({"k": ["a", "b", "a", "c", "b"], "x": [1, 2, 5, 7, 9], "t": [1, 5, 6, 8, 30]})
LARGEST = operator(lambda a, b: a if a > b else b, identity=-(1 << 62), name="largest")

REDUCTIONS = {
    "sum": lambda d: d.groupby("k")["x"].sum(),
    "first": lambda d: d.groupby("k").first(),
    "size": lambda d: d.groupby("k").size(),
    "agg": lambda d: d.groupby("k").agg({"x": ["sum", "max"]}),
    "named": lambda d: d.groupby("k").agg(most=("x", "max")),
    "reduce": lambda d: d.groupby("k")["x"].reduce(LARGEST),
    "keys as columns": lambda d: d.groupby("k", as_index=False).sum(),
    "value_counts of groups": lambda d: d.groupby("k")["x"].value_counts(),
    "nlargest of groups": lambda d: d.groupby("k")["x"].nlargest(1),
    "idxmax": lambda d: d.groupby("k").idxmax(),
    "sessions": lambda d: d.sessions("t", gap=3, by="k"),
    "nlargest": lambda d: d.nlargest(2, "x"),
}


def batches(kind):
    """Return a table of a kind in batches, of which one is empty."""
    parts = [TABLE[:1], TABLE[1:1], TABLE[1:4], TABLE[4:]]
    return (
        parts
        if kind == "polars"
        else [part.to_arrow().to_batches()[0] for part in parts if len(part)]
    )


@pytest.mark.parametrize("kind", ["polars", "Arrow"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_those_of_the_table(name, kind):
    found = REDUCTIONS[name](dask_gpuscan.stream(batches(kind)).gpuscan)
    assert isinstance(found, pl.DataFrame if kind == "polars" else pa.RecordBatch)
    expected = REDUCTIONS[name](TABLE.gpuscan)
    found = found if kind == "polars" else pl.from_arrow(pa.Table.from_batches([found]))
    assert found.to_dict(as_series=False) == expected.to_dict(as_series=False)


def test_groups_of_a_file_and_of_a_table_that_goes_on(tmp_path):
    TABLE.write_parquet(tmp_path / "table.parquet")
    found = dask_gpuscan.stream(tmp_path / "table.parquet").gpuscan.groupby("k")["x"].sum()
    assert found.to_pydict() == {"k": ["a", "b", "c"], "x": [6, 11, 7]}
    found = TABLE.gpuscan.resume(None).gpuscan.groupby("k")["x"].sum()
    assert found.to_dict(as_series=False) == {"k": ["a", "b", "c"], "x": [6, 11, 7]}


def test_rows_have_numbers_and_no_index():
    rows = dask_gpuscan.stream(batches("polars"))
    assert rows["x"].gpuscan.expanding().idxmax().compute().to_list() == [0, 1, 2, 3, 4]
    for method in ("reset_index", "sort_index"):
        with pytest.raises(TypeError, match=f"^{method}: a table has no index"):
            getattr(rows.gpuscan, method)


def test_categories_are_written(tmp_path):
    table = TABLE.with_columns(c=pl.col("k").cast(pl.Categorical))
    dask_gpuscan.stream([table[:2], table[2:]]).gpuscan.ffill().to_parquet(tmp_path / "c.parquet")
    assert pl.read_parquet(tmp_path / "c.parquet")["c"].to_list() == TABLE["k"].to_list()


def test_dates_are_no_times_of_a_day():
    table = pl.DataFrame({"t": [datetime.date(2026, 1, 1), datetime.date(2026, 2, 3)], "y": [1, 2]})
    for rows in (table, dask_gpuscan.stream([table])):
        with pytest.raises(TypeError, match="resample needs times of a day, found dtype date32"):
            rows.gpuscan.resample("ME", on="t")


FRAMES = [pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [3, 4]})]


@pytest.mark.parametrize(
    "ask",
    [
        lambda rows: rows["x"] + pd.Series([10, 20, 30, 40]),
        lambda rows: [1, 2] - rows["x"],
        lambda rows: rows["x"].where(rows["x"] > 2, pd.Series([10, 20])),
        lambda rows: rows.assign(y=[10, 20]),
        lambda rows: rows.assign(y=dd.from_pandas(pd.Series([10, 20]), npartitions=1)),
    ],
)
def test_rows_that_are_no_stream_are_refused(ask):
    with pytest.raises(TypeError, match="rows must be a stream of the same rows"):
        ask(dask_gpuscan.stream(FRAMES))


def test_a_stream_is_not_renamed_in_place():
    rows = dask_gpuscan.stream(FRAMES)
    with pytest.raises(TypeError, match="inplace"):
        rows.rename(columns={"x": "y"}, inplace=True)
    assert rows.compute()["x"].tolist() == [1, 2, 3, 4]


def test_keys_of_a_series():
    found = dask_gpuscan.stream([pd.Series([1, 2, 2], name="v")]).gpuscan.drop_duplicates()
    found.compute()
    assert list(found.state.keys()["drop-duplicates"]) == [1, 2]


@pytest.mark.parametrize("method", ["ffill", "bfill", "asfreq", "nearest"])
def test_edges_of_groups_are_refused(method):
    frame = pd.DataFrame(
        {"k": list("aab"), "t": pd.date_range("2026", periods=3, freq="h"), "y": [1, 2, 3]}
    )
    groups = dask_gpuscan.stream([frame]).gpuscan.groupby("k").resample("2h", on="t")["y"]
    with pytest.raises(NotImplementedError, match="needs rows that come later"):
        getattr(groups, method)()


@pytest.mark.parametrize(
    "column", [pl.Series("x", [1, 2, 4]), pa.array([1, 2, 4]), pa.chunked_array([[1, 2], [4]])]
)
def test_a_column_is_a_source(column):
    found = dask_gpuscan.stream(column).gpuscan.cumsum().compute()
    assert type(found) is type(column)
    assert found.to_pandas().tolist() == [1, 3, 7]
