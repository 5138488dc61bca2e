"""Streams of Arrow's dictionaries: answers are those of their values, whatever the type of the codes."""

from itertools import pairwise

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dask_gpuscan
from helpers.versions import older

CODES = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
KEYS = [1, 1, 2, 2, 1, 3]
VALUES = ["b", "a", None, "c", "a", "b"]
CUTS = [0, 0, 2, 3, 3, 6]


def of_batches(table, folder):
    parts = [table.slice(a, b - a) for a, b in pairwise(CUTS)]
    return [batch for part in parts for batch in part.to_batches()]


def of_frames(table, folder):
    return [table.slice(a, b - a).to_pandas(types_mapper=pd.ArrowDtype) for a, b in pairwise(CUTS)]


def of_file(table, folder):
    pq.write_table(table, folder / "rows.parquet", row_group_size=2)
    return folder / "rows.parquet"


def dictionaries(codes, ordered):
    """Return a column of a dictionary with a value that no row has."""
    places = [None if value is None else "abcd".index(value) for value in VALUES]
    values = pa.array([*"abcd"], pa.large_string())
    return pa.DictionaryArray.from_arrays(pa.array(places, codes), values, ordered=ordered)


def listed(found):
    """Return an answer of any kind as rows of plain values."""
    if isinstance(found, pd.DataFrame):
        found = found.reset_index() if found.index.name else found
        columns = [pa.chunked_array(found[name].array.__arrow_array__()) for name in found]
        found = pa.table(columns, list(found))
    kinds = (field.type for field in found.schema)
    values = [
        column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column
        for column, kind in zip(found.columns, kinds, strict=True)
    ]
    return [column.to_pylist() for column in values]


METHODS = {
    "drop_duplicates": lambda d: d.drop_duplicates(["x"]),
    "ffill": lambda d: d.ffill(),
    "shift": lambda d: d.shift(2),
    "first of groups": lambda d: d.groupby("k").first(),
    "count of groups": lambda d: d.groupby("x").count(),
    "ffill of groups": lambda d: d.groupby("k")[["x"]].ffill(),
    "largest of groups": lambda d: d.groupby("k").max(),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("codes", CODES, ids=str)
@pytest.mark.parametrize("source", [of_batches, of_frames, of_file])
def test_codes_of_any_type(source, codes, ordered, tmp_path):
    table = pa.table({"k": KEYS, "x": dictionaries(codes, ordered)})
    texts = pa.table({"k": KEYS, "x": pa.array(VALUES, pa.large_string())})
    for name, method in METHODS.items():
        is_frame = source is of_frames
        if name == "largest of groups" and (is_frame or not ordered):  # which pandas refuses
            continue
        if name == "shift" and is_frame and older("pyarrow", "25"):  # which pandas refuses
            continue
        found = method(dask_gpuscan.stream(source(table, tmp_path)).gpuscan)
        found = found.compute() if hasattr(found, "compute") else found
        assert listed(found) == listed(method(dask_gpuscan.on(texts))), name


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("codes", CODES, ids=str)
def test_codes_of_any_type_in_a_table(codes, ordered):
    table = pa.table({"k": KEYS, "x": dictionaries(codes, ordered)})
    found = dask_gpuscan.on(table).sort_values("x")
    assert found.schema == table.schema
    assert listed(found)[1] == ["a", "a", "b", "b", "c", None]


@pytest.mark.parametrize("kind", [pa.date32(), pa.time64("us"), pa.decimal128(12, 2), pa.int16()])
def test_values_of_any_type(kind):
    values = pa.array([1, 2], pa.int64() if pa.types.is_time64(kind) else pa.int32()).cast(kind)
    column = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.uint8()), values)
    frame = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(column)})
    found = dask_gpuscan.stream([frame[:1], frame[1:1], frame[1:]]).gpuscan.ffill().compute()
    assert found["x"].dtype == frame["x"].dtype
    assert listed(found) == [values.take(pa.array([0, 0, 1])).to_pylist()]
    with pytest.raises(TypeError, match="rank of column 'x'"):
        frame.assign(k=1).gpuscan.groupby("k").rank()
