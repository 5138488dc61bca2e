"""``.gpuscan`` of each library, whether that is imported before the package or after it, and of what is unpickled."""

import os
import sys
from pathlib import Path

import cloudpickle
import dask.dataframe as dd
import pandas as pd

import dask_gpuscan
from helpers.programs import python

CHECK = """
def check():
    s = pd.Series([1, 2, 3], name="x")
    assert s.gpuscan.cumsum().tolist() == [1, 3, 6]
    assert s.to_frame().gpuscan.cumsum()["x"].tolist() == [1, 3, 6]
    assert s.index.gpuscan.is_monotonic_increasing
    lazy = dd.from_pandas(s, npartitions=2)
    assert lazy.gpuscan.cumsum().compute().tolist() == [1, 3, 6]
    assert lazy.to_frame().gpuscan.cumsum().compute()["x"].tolist() == [1, 3, 6]
    assert lazy.index.gpuscan.is_monotonic_increasing.compute()
    table = pl.DataFrame({"x": [1, 2, 3]})
    assert table.gpuscan.cumsum()["x"].to_list() == [1, 3, 6]
    assert table["x"].gpuscan.cumsum().to_list() == [1, 3, 6]
    assert table.lazy().gpuscan.collect().cumsum()["x"].to_list() == [1, 3, 6]
    array = xr.DataArray([1, 2, 3], dims="t", name="x")
    assert array.gpuscan.cumsum("t").values.tolist() == [1, 3, 6]
    assert array.to_dataset().gpuscan.cumsum("t")["x"].values.tolist() == [1, 3, 6]
    assert dask_gpuscan.stream(s).gpuscan.cumsum().compute().tolist() == [1, 3, 6]

"""

LIBRARIES = "import pandas as pd, dask.dataframe as dd, polars as pl, xarray as xr\n"


def run(code: str, *arguments: object) -> None:
    """Run code in a new interpreter, in which a warning of ours is an error."""
    python("-c", code, *arguments, PYTHONPATH=os.pathsep.join(sys.path))


def test_libraries_that_are_imported_before() -> None:
    again = """
import importlib, warnings
warnings.simplefilter("error")
importlib.reload(dask_gpuscan)
check()
"""
    run(f"{LIBRARIES}import dask_gpuscan\n{CHECK}check()\n{again}")


def test_libraries_that_are_imported_after_and_asked_by_threads_at_once() -> None:
    threads = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
barrier, data = Barrier(4), pd.Series([1, 2])
def first(_):
    barrier.wait()
    return data.gpuscan.cumsum().tolist()
with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(first, range(4))) == [[1, 3]] * 4
"""
    late = """
import sys
sys.modules["xarray"] = None  # as where it is not installed yet
import dask_gpuscan
del sys.modules["xarray"]
"""
    run(f"{late}{LIBRARIES}{threads}{CHECK}check()")


def test_what_is_unpickled_where_nothing_was_imported(tmp_path: Path) -> None:
    frame = dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0, 3.0]}), npartitions=2)
    lazy = frame.gpuscan.cumsum()
    stream = dask_gpuscan.stream([pd.Series([1, 2]), pd.Series([3])]).gpuscan.cumsum()
    stream.compute()
    path = tmp_path / "pickled"
    path.write_bytes(cloudpickle.dumps((frame, lazy, stream.state, dask_gpuscan.add)))
    code = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    frame, lazy, state, add = pickle.load(file)
expected = [1.0, 3.0, 6.0]
assert lazy.compute(scheduler="sync")["x"].tolist() == expected
assert frame.gpuscan.cumsum().compute(scheduler="sync")["x"].tolist() == expected
import dask_gpuscan, pandas as pd
assert add is dask_gpuscan.add
rows = dask_gpuscan.stream([pd.Series([4])], state=state)
assert rows.gpuscan.cumsum().compute().tolist() == [10]
"""
    run(code, path)
