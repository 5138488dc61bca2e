"""Windows of times where a library has no medians of them for groups, as cuDF."""

import pandas as pd
import pytest

from dask_gpuscan.frames.pandas.library import PANDAS


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
