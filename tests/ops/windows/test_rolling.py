"""Windows that have enough rows, by themselves."""

from hypothesis import given
from hypothesis import strategies as st

from dask_gpuscan.frames.pandas.library import PANDAS
from dask_gpuscan.kernels import RowWindows
from dask_gpuscan.ops.windows.rolling import RowShape, filled
from dask_gpuscan.ops.windows.surroundings import WindowRows


@given(
    length=st.integers(0, 12),
    ends=st.tuples(st.integers(0, 12), st.integers(0, 12)),
    before=st.integers(-3, 6),
    after=st.integers(-3, 6),
    least=st.integers(0, 9),
)
def test_windows_of_rows_that_have_enough(length, ends, before, after, least):
    first, last = sorted(min(end, length) for end in ends)
    rows = WindowRows(PANDAS, length, first, last - first)
    found = filled(RowShape(before, after), RowWindows(before, after), rows, least)
    counts = [max(min(i + after + 1, length) - max(i - before, 0), 0) for i in range(first, last)]
    expected = [j for j, count in enumerate(counts) if count >= least]
    assert list(range(last - first))[found] == expected
