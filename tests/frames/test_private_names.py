"""Private names of pandas and cuDF: they stand in few modules, and the installed version still has them."""

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dask_gpuscan
from dask_gpuscan.frames.pandas.library import PANDAS

ROOM = Path(dask_gpuscan.__file__).parent
IN_PANDAS = [ROOM / "frames" / "pandas" / name for name in ("layouts.py", "library.py")]
IN_CUDF = ROOM / "frames" / "cudf"

OF_PANDAS = {
    "array": ("_data", "_mask"),
    "series": ("_values",),
    "times": ("_from_backing_data", "_ndarray"),
    "index": ("_shallow_copy", "_simple_new"),
    "text": ("_hasna",),
    "frame": ("_get_column_array", "_mgr", "_constructor_from_mgr", "_from_mgr"),
}
"""Names of nullable arrays and of frames of pandas."""

OF_CUDF = {
    "frame": ("_column_names", "_columns", "_data", "_from_data", "_from_data_like_self"),
    "series": ("_column", "_from_column"),
    "index": ("_columns", "_from_column"),
    "categories": ("_categories",),
    "column of categories": ("_concat",),
    "columns of a frame": ("_from_columns_like_self",),
}
"""Names of objects of cuDF."""


def _attributes(path: Path) -> set[str]:
    """Return the private attributes that a module asks other objects for."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    own = {"self", "cls"}
    return {
        node.attr
        for node in found
        if re.match("_[a-z]", node.attr)
        and not (isinstance(node.value, ast.Name) and node.value.id in own)
    }


def test_pandas_has_them() -> None:
    array = pd.array([1, None], dtype="Int64")
    frame = pd.DataFrame({"x": array, "y": ["a", "b"]})
    for one, of in (
        (array, "array"),
        (frame["x"], "series"),
        (frame.index, "index"),
        (frame, "frame"),
        (pd.date_range("2020", periods=1).array, "times"),
        (pd.array(["a"], dtype="string"), "text"),
    ):
        names = OF_PANDAS[of]
        gone = [name for name in names if not hasattr(one, name)]
        assert not gone, f"pandas {pd.__version__} has no {gone} of {type(one).__name__}"
    assert frame._get_column_array(0) is not None
    assert frame._mgr.get_dtypes().tolist() == frame.dtypes.tolist()


def test_those_of_pandas_stand_in_two_modules() -> None:
    known = set().union(*OF_PANDAS.values())
    assert set().union(*map(_attributes, IN_PANDAS)) == known
    for path in [*IN_PANDAS[0].parent.glob("*.py"), *(ROOM / "ops").rglob("*.py")]:
        assert path in IN_PANDAS or not _attributes(path) & known, path


def test_made_frames_are_those_of_pandas() -> None:
    """Frames that are made past the constructors can be worked on, as those that the constructors make."""
    arrays = [
        np.array([3, 1, 2]),
        pd.array([1, None, 3], dtype="Int64"),
        pd.date_range("2020", periods=3).array,
        pd.date_range("2020", periods=3, tz="Europe/Rome").array,
        np.array(["a", None, 1.5], object),
        pd.Categorical(["a", "b", "a"]),
        np.array([1, 2, 3], "m8[s]"),
        pd.array(["a", "b", "c"]),
    ]
    index, rows = pd.Index(list("xyz"), name="i"), np.array([2, 0])
    names = pd.Index([f"c{i}" for i in range(len(arrays))])
    expected = pd.DataFrame(dict(zip(names, arrays, strict=True)), index=index)
    expected["c4"] = pd.Series(arrays[4], index, object)
    found = PANDAS.frame(arrays, names, index)
    pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(PANDAS.rows(found, rows), expected.take(rows))
    pd.testing.assert_frame_equal(pd.concat([found, found]), pd.concat([expected, expected]))
    found.iloc[0, 0] = expected.iloc[0, 0] = 7
    pd.testing.assert_frame_equal(found, expected)
    for name, array in zip(names, arrays, strict=True):
        series = PANDAS.series(array, index, name)
        pd.testing.assert_series_equal(series, expected[name] if name != "c0" else series)
        pd.testing.assert_series_equal(PANDAS.rows(series, rows), series.take(rows))


def test_those_of_cudf_stand_in_one_folder() -> None:
    known = set().union(*OF_CUDF.values())
    assert set().union(*map(_attributes, IN_CUDF.glob("*.py"))) == known
    for path in ROOM.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert IN_CUDF in path.parents or not re.search(r"\bcudf\.(core|utils)\b", text), path


@pytest.mark.gpu
def test_cudf_has_them() -> None:
    cudf = pytest.importorskip("cudf")
    frame = cudf.DataFrame({"x": ["a"]}).astype("category")
    objects = {
        "frame": frame,
        "series": frame["x"],
        "index": frame.index,
        "categories": frame["x"].dtype,
        "column of categories": frame["x"]._column,
        "columns of a frame": frame._data,
    }
    gone = [
        f"{name} of {of}"
        for of in OF_CUDF
        for name in OF_CUDF[of]
        if not hasattr(objects[of], name)
    ]
    assert not gone, f"cuDF {cudf.__version__} has no {', '.join(gone)}"
