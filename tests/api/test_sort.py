"""sort_values and sort_index: pandas' stable sorts of the whole data, whatever the cuts, dtypes and moves of rows."""

import dask
from hypothesis import given
from hypothesis import strategies as st

from backends import same
from strategies import FLOATS, INTEGERS, OTHERS, TIMES, cuts, frames, partitioned

EVERY = (*INTEGERS, *FLOATS, *TIMES, *OTHERS)
WAYS = (None, "tasks", "disk")


@st.composite
def directions(draw, count):
    """One flag, or one a key."""
    one = st.booleans()
    return draw(one | st.lists(one, min_size=count, max_size=count))


@given(data=st.data(), df=frames(EVERY), at=cuts(), way=st.sampled_from(WAYS))
def test_frames_by_columns(backend, data, df, at, way):
    by = data.draw(st.lists(st.sampled_from(list(df)), min_size=1, unique=True))
    options = {
        "ascending": data.draw(directions(len(by))),
        "na_position": data.draw(st.sampled_from(["first", "last"])),
        "ignore_index": data.draw(st.booleans()),
    }
    expected = df.sort_values(by, kind="stable", **options)
    frame = backend.frame(df)
    same(backend.to_pandas(frame.gpuscan.sort_values(by, **options)), expected)
    with dask.config.set({"dataframe.shuffle.method": way}):
        lazy = partitioned(frame, at).gpuscan.sort_values(by, **options)
        same(backend.to_pandas(lazy.compute()), expected)
    assert lazy.npartitions == len(at) + 1


@given(data=st.data(), df=frames(EVERY, max_columns=1), at=cuts())
def test_series(backend, data, df, at):
    x = df["c0"]
    options = {
        "ascending": data.draw(st.booleans()),
        "na_position": data.draw(st.sampled_from(["first", "last"])),
        "ignore_index": data.draw(st.booleans()),
    }
    # of a Series itself pandas makes strings out of objects
    expected = df.sort_values("c0", kind="stable", **options)["c0"]
    series = backend.frame(x)
    same(backend.to_pandas(series.gpuscan.sort_values(**options)), expected)
    lazy = partitioned(series, at).gpuscan.sort_values(**options)
    same(backend.to_pandas(lazy.compute()), expected)


LABELS = tuple(dtype for dtype in EVERY if dtype != "float16")


@given(data=st.data(), df=frames(LABELS), at=cuts())
def test_index(backend, data, df, at):
    name = data.draw(st.sampled_from(list(df)))
    df = df.set_index(name)
    options = {
        "ascending": data.draw(st.booleans()),
        "na_position": data.draw(st.sampled_from(["first", "last"])),
        "ignore_index": data.draw(st.booleans()),
    }
    expected = df.sort_index(kind="stable", **options)
    frame = backend.frame(df)
    same(backend.to_pandas(frame.gpuscan.sort_index(**options)), expected)
    lazy = partitioned(frame, at).gpuscan.sort_index(**options)
    same(backend.to_pandas(lazy.compute()), expected)
