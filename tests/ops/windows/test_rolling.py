"""Windows that have enough rows, by themselves."""

import pandas as pd
import pytest
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


@pytest.mark.parametrize("kind", [pd.to_timedelta, pd.to_datetime])
def test_medians_of_times_need_no_medians_of_groups(monkeypatch, kind):
    asked = PANDAS.group_dtype

    def of_means(method, dtype, **options):
        if method == "median":  # which cuDF has for numbers only
            raise TypeError("there is no median")
        return asked(method, dtype, **options)

    monkeypatch.setattr(type(PANDAS), "group_dtype", staticmethod(of_means))
    times = kind(pd.Series([4, 1, None, 7, 2]), unit="s")
    found = times.gpuscan.rolling(3, min_periods=1).median()
    assert found.equals(kind(pd.Series([4, 2.5, 2.5, 4, 4.5]), unit="s").astype(times.dtype))
