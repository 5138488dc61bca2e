"""Wrong arguments of streams and of their states: errors name the argument, and nothing is written."""

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan

DAYS = [pd.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"x": [3.0]})]
NO_PATHS = (None, 3, int, pd.NA, b"x", "", ["x"], np.zeros(2), DAYS[0])


def rows():
    """A stream of two batches."""
    return dask_gpuscan.stream(DAYS)


def state():
    """The state behind them."""
    totals = rows().gpuscan.cumsum()
    totals.compute()
    return totals.state


@pytest.mark.parametrize("wrong", NO_PATHS, ids=map(repr, range(len(NO_PATHS))))
def test_what_is_no_path(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for ask in (
        lambda: rows().to_parquet(wrong),
        lambda: state().save(wrong),
        lambda: dask_gpuscan.load_state(wrong),
    ):
        with pytest.raises(TypeError, match=r"(path|place) must be a path or a URL, found "):
            ask()
    if wrong is not None:
        with pytest.raises(TypeError, match=r"state must be a path or a URL, found "):
            rows().to_parquet("totals", state=wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options",
    [{"rows_per_file": 7}, {"checkpoints": 0}, {"files": "source"}, {"dry_run": True}],
    ids=str,
)
def test_options_of_directories(options, tmp_path):
    with pytest.raises(
        ValueError, match=f"{next(iter(options))}.* for directories, with state=True"
    ):
        rows().to_parquet(tmp_path / "one.parquet", **options)
    assert not list(tmp_path.iterdir())


WRONG = {
    "rows_per_file": lambda: rows().to_parquet("x", state=True, rows_per_file=True),
    "rows_per_file below 1": lambda: rows().to_parquet("x", state=True, rows_per_file=0),
    "rows_per_file without a state": lambda: rows().to_parquet("x", rows_per_file=-5),
    "rows_per_file of many": lambda: rows().to_parquet(
        "x", state=True, rows_per_file=np.array([1, 2])
    ),
    "checkpoints": lambda: rows().to_parquet("x", state=True, checkpoints=int),
    "files": lambda: rows().to_parquet("x", state=True, files=np.zeros(2)),
    "dry_run": lambda: rows().to_parquet("x", state=True, dry_run=pd.NA),
    "rows_per_commit": lambda: rows().to_delta("x", rows_per_commit=int),
    "begin_anew": lambda: rows().to_delta("x", begin_anew=1),
    "later": lambda: state().combine(3),
    "keeps_rows": lambda: rows().map_batches(len, keeps_rows=pd.NA),
    "label": lambda: rows().map_batches(len, label=3),
    "dtype": lambda: rows().astype("no dtype"),
    "dtype of a column": lambda: rows().astype({"no": "int8"}),
    "condition": lambda: rows().where(True, 0),
    "name": lambda: rows()["x"].to_frame([1]),
    "source": lambda: dask_gpuscan.stream(np.array(3)),
}


@pytest.mark.parametrize("argument", WRONG)
def test_wrong_arguments(argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError), match=f"^{argument.partition(' ')[0]} must be "):
        WRONG[argument]()
    assert not list(tmp_path.iterdir())


def test_a_flag_of_numpy_is_a_flag(tmp_path):
    rows().to_parquet(tmp_path / "one.parquet", state=np.False_)
    rows().to_parquet(tmp_path / "many", state=np.True_)
    assert (tmp_path / "one.parquet").is_file()
    assert dask_gpuscan.load_state(tmp_path / "many").rows == 3


def test_lazy_frames_of_polars_without_batches(monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    lazy = pl.LazyFrame({"x": [1, 2]})
    for ask in (
        lambda: dask_gpuscan.stream(lazy),
        lambda: dask_gpuscan.merge_asof(lazy, lazy, on="x"),
    ):
        with pytest.raises(
            TypeError, match=r"LazyFrame of polars before 1\.34, .*source\.collect\(\)"
        ):
            ask()


@pytest.mark.parametrize(
    "name", [pd.NA, np.arange(2), pd.DataFrame()], ids=["NA", "array", "frame"]
)
def test_what_is_no_name_of_a_column(name):
    with pytest.raises(ValueError, match="is not a column; columns are 'x'"):
        dask_gpuscan.stream(pd.DataFrame({"x": [1]}))[name]


def test_new_names_are_those_that_the_library_takes():
    with pytest.raises(TypeError, match=r"rename takes a dict of columns .*, found columns=\[1\]"):
        dask_gpuscan.stream(pd.DataFrame({"x": [1]})).rename(columns=[1])
