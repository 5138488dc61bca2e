"""Columns in types of Arrow whose rows it cannot take: answers are those of the same values in other types."""

from collections.abc import Callable

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dask_gpuscan
from helpers.asked import computed
from helpers.backends import same
from helpers.versions import since

pytestmark = since("pyarrow", "18", "views are not cast")

NESTED = [["b", None], None, ["a"], ["b", None], []]
FIELDS = [{"a": "b"}, None, {"a": None}, {"a": "b"}, {"a": ""}]
PAIRS = [[("k", "b")], None, [("a", None)], [("k", "b")], []]
TEXTS = ["b", None, "", "b", "a long text that no view holds inline"]
BYTES = [None if text is None else text.encode() for text in TEXTS]


def runs(values: pa.Array) -> pa.Array:
    """Values in runs, of which the first and the last are cut."""
    ends = pa.array(np.arange(2, len(values) + 4), pa.int32())
    padded = pa.concat_arrays([values[:1], values, values[-1:]])
    return pa.RunEndEncodedArray.from_arrays(ends, padded).slice(2, len(values))


def numbered(texts: pa.DataType) -> pa.Array:
    codes = pa.array([0, None, 1, 0, 2], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(["b", "", "c"], texts))


VIEW, BYTES_VIEW, LARGE = pa.string_view(), pa.binary_view(), pa.large_string()
COLUMNS: dict[str, tuple[pa.Array, pa.Array]] = {
    "texts": (pa.array(TEXTS, VIEW), pa.array(TEXTS, LARGE)),
    "bytes": (pa.array(BYTES, BYTES_VIEW), pa.array(BYTES, pa.large_binary())),
    "lists": (pa.array(NESTED, pa.list_(VIEW)), pa.array(NESTED, pa.list_(LARGE))),
    "large lists": (pa.array(NESTED, pa.large_list(VIEW)), pa.array(NESTED, pa.large_list(LARGE))),
    "views of lists": (pa.array(NESTED, pa.list_view(VIEW)), pa.array(NESTED, pa.list_(LARGE))),
    "structs": (
        pa.array(FIELDS, pa.struct([("a", VIEW)])),
        pa.array(FIELDS, pa.struct([("a", LARGE)])),
    ),
    "maps": (pa.array(PAIRS, pa.map_(LARGE, VIEW)), pa.array(PAIRS, pa.map_(LARGE, LARGE))),
    "dictionaries": (numbered(VIEW), numbered(LARGE)),
    "runs": (runs(pa.array([3, None, 1, 3, 2])), pa.array([3, None, 1, 3, 2])),
    "runs of views": (runs(pa.array(TEXTS, VIEW)), pa.array(TEXTS, LARGE)),
}
KEYS = ("texts", "bytes", "dictionaries", "runs", "runs of views")


def frame_of(column: pa.Array) -> pd.DataFrame:
    values = pd.arrays.ArrowExtensionArray(pa.chunked_array([column[:1], column[1:1], column[1:]]))
    return pd.DataFrame({"x": values, "k": [2, 1, 2, 1, 2]})


ROWS: dict[str, Callable[[pd.DataFrame], object]] = {
    "ffill": lambda f: f.gpuscan.ffill(),
    "shift": lambda f: f.gpuscan.shift(),
    "filter": lambda f: f.gpuscan.filter("k > 1"),
    "first of groups": lambda f: f.gpuscan.groupby("k")["x"].first(),
    "ffill of groups": lambda f: f.gpuscan.groupby("k").ffill(),
}
OF_KEYS: dict[str, Callable[[pd.DataFrame], object]] = {
    "running": lambda f: f.gpuscan.groupby("x", dropna=False)["k"].cumsum(),
    "runs": lambda f: f.gpuscan.rle("x"),
    "sums": lambda f: f.gpuscan.groupby("x")["k"].sum(),
    "duplicates": lambda f: f.gpuscan.drop_duplicates("x"),
}
WHOLE: dict[str, Callable[[pd.DataFrame], object]] = {
    "sort_values": lambda f: f.gpuscan.sort_values("k"),
    "reversed": lambda f: f.gpuscan.sort_values("k", ascending=False),
}
OF_ORDER: dict[str, Callable[[pd.DataFrame], object]] = {
    "sort_values of x": lambda f: f.gpuscan.sort_values("x")
}


def pieces(frame: pd.DataFrame) -> dict[str, object]:
    """The rows whole, in partitions and in batches."""
    return {
        "pandas": frame,
        "dask": dd.from_pandas(frame, npartitions=2),
        "stream": dask_gpuscan.stream([frame[:2], frame[2:2], frame[2:]]),
    }


@pytest.mark.parametrize(
    ("of", "kind", "method"),
    [
        *((of, kind, m) for of in ("pandas", "stream") for kind in COLUMNS for m in ROWS),
        *((of, kind, m) for of in ("pandas", "stream") for kind in KEYS for m in OF_KEYS),
        *(("pandas", kind, m) for kind in COLUMNS for m in WHOLE),
        *(("pandas", kind, m) for kind in KEYS for m in OF_ORDER),
        *(("dask", kind, m) for kind in ("texts", "runs") for m in (*ROWS, *OF_KEYS, *WHOLE)),
    ],
)
def test_as_in_the_types_that_arrow_takes(of, kind, method):
    ask = (ROWS | OF_KEYS | WHOLE | OF_ORDER)[method]
    theirs, plain = map(frame_of, COLUMNS[kind])
    found, expected = ask(pieces(theirs)[of]), ask(plain)
    same(computed(found), expected)


@pytest.mark.parametrize("kind", KEYS)
def test_keys_given_as_values_and_labels(kind):
    theirs, plain = (frame_of(column)["x"] for column in COLUMNS[kind])
    rows = pd.DataFrame({"n": range(5)})
    same(rows.gpuscan.groupby(theirs).cumsum(), rows.gpuscan.groupby(plain).cumsum())
    same(theirs.gpuscan.value_counts(), plain.gpuscan.value_counts())


@pytest.mark.parametrize("kind", ["lists", "structs"])
def test_columns_inside_tables(kind):
    theirs, plain = (pa.table({"x": column, "k": range(5)}) for column in COLUMNS[kind])
    found = dask_gpuscan.on(theirs).sort_values("k", ascending=False)
    assert found == dask_gpuscan.on(plain).sort_values("k", ascending=False).cast(theirs.schema)


def test_runs_inside_others_are_refused_by_name():
    inner = pa.StructArray.from_arrays([runs(pa.array([1, 2]))], ["a"])
    frame = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.chunked_array([inner]))})
    with pytest.raises(
        TypeError, match=r"column 'x' has dtype struct<a: run_end_encoded.*cast it with astype"
    ):
        frame.gpuscan.shift()
