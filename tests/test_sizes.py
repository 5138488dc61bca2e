"""Dask knows the sizes of cuDF's objects wherever the package is installed; cuDF is made up here."""

import subprocess
import sys
from pathlib import Path

import pytest

CUDF = """
class Index:
    def memory_usage(self, deep=False):
        return 100

class RangeIndex(Index):
    pass

class Series:
    def memory_usage(self, index=True, deep=False):
        return 8_000_000 + 100 * index

class DataFrame:
    index = RangeIndex()
    def items(self):
        return iter([("x", Series()), ("x", Series())])

class api:
    class extensions:
        def register_index_accessor(name):
            return lambda accessor: setattr(Index, name, accessor)
        def register_series_accessor(name):
            return lambda accessor: setattr(Series, name, accessor)
        def register_dataframe_accessor(name):
            return lambda accessor: setattr(DataFrame, name, accessor)
"""

SIZES = """
import cudf
from dask.sizeof import sizeof
sizes = [sizeof(kind()) for kind in (cudf.DataFrame, cudf.Series, cudf.RangeIndex)]
assert sizes == [16_000_100, 8_000_100, 100], sizes
for kind in cudf.DataFrame, cudf.Series, cudf.Index:
    assert hasattr(kind, "gpuscan") == ("dask_gpuscan" in sys.modules)
"""


def run(tmp_path: Path, code: str) -> None:
    """Run code in a new interpreter that finds the made-up cudf, and an entry point as an installation has it."""
    (tmp_path / "cudf.py").write_text(CUDF)
    info = tmp_path / "installed-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: installed\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dask.sizeof]\ncudf = dask_gpuscan_sizes:register\n")
    path = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]\n"
    done = subprocess.run(
        [sys.executable, "-c", path + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize(
    "first", ["", "import dask.dataframe", "import dask_gpuscan", "import dask.sizeof"]
)
def test_sizes_are_known_before_the_package_is_imported(tmp_path, first):
    light = "assert ('dask_gpuscan' in sys.modules) == ('gpuscan' in first)\n"
    run(tmp_path, f"first = {first!r}\n{first}\n{SIZES}\n{light}")


def test_sizes_that_were_asked_for_too_early_are_mended_by_the_package(tmp_path):
    early = """
import cudf
from dask.sizeof import sizeof
sizeof._lazy.clear()
assert sizeof(cudf.DataFrame()) < 1000
import dask_gpuscan
assert sizeof(cudf.DataFrame()) == 16_000_100
"""
    run(tmp_path, early)


@pytest.mark.parametrize("before", [True, False])
def test_sizes_of_others_stay(tmp_path, before):
    theirs = "sizeof.register(cudf.DataFrame, lambda frame: 7)\n"
    ours = "assert sizeof(cudf.Series()) == 8_000_100\n"
    start = "import cudf, dask_gpuscan\nfrom dask.sizeof import sizeof\n"
    start = "import cudf\nfrom dask.sizeof import sizeof\n" + (theirs if before else "") + start
    run(
        tmp_path,
        start + ours + ("" if before else theirs) + "assert sizeof(cudf.DataFrame()) == 7\n",
    )
