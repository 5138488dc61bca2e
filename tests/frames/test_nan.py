"""NaN that a library counts lazily: what runs, how often, and what is recorded."""

import numpy as np
import pytest

from dask_gpuscan.frames.cudf.nan import assume_no_nan, in_band, resolved
from dask_gpuscan.frames.pandas.library import PANDAS
from dask_gpuscan.frames.types import View
from dask_gpuscan.kernels import InBand, byte_mask


class Column:
    """A column whose NaN are null; it has not looked for them."""

    def __init__(self, *values):
        self.values = np.array(values, np.float64)
        self.looked = 0
        self.has_no_nan = False

    def view(self):
        none = np.zeros(len(self.values), np.bool_)
        unchecked = None if self.has_no_nan else self
        return View(self.values, None, lambda: none, unchecked_nan=unchecked)

    def resolve_nulls(self):
        self.looked += 1
        missing = np.isnan(self.values)
        return View(self.values, byte_mask(missing), lambda: missing)

    def in_band(self):
        return View(self.values, InBand(), lambda: np.isnan(self.values))

    def mark_no_nan(self):
        self.has_no_nan = True


def total(views):
    """Begin to add all values; those that are not known to be null count."""
    calls.append([type(view.nulls).__name__ for view in views])
    return lambda: sum(view.values[~view.missing()].sum() for view in views)


calls: list[list[str]] = []


@pytest.fixture(autouse=True)
def no_calls():
    calls.clear()


def test_without_nan_nobody_looks():
    columns = Column(1, 2), Column(4)
    views = [column.view() for column in columns]
    assert assume_no_nan(views, total, np.isnan)() == 7
    assert calls == [["NoneType", "NoneType"]]
    assert all(column.has_no_nan and not column.looked for column in columns)
    assert all(column.view().unchecked_nan is None for column in columns)


@pytest.mark.parametrize(("resolve", "nulls"), [(resolved, "Mask"), (in_band, "InBand")])
def test_with_nan_it_runs_again(resolve, nulls):
    column = Column(1, np.nan, 2)
    assert assume_no_nan([column.view()], total, np.isnan, resolve)() == 3
    assert calls == [["NoneType"], [nulls]]
    assert column.looked == (nulls == "Mask")
    assert not column.has_no_nan


def test_work_begins_at_once_and_the_answer_is_asked_at_the_end():
    asked = []

    def saw_nan(found):
        asked.append(found)
        return False

    settle = assume_no_nan([Column(1).view()], total, saw_nan)
    assert (len(calls), asked) == (1, [])
    assert settle() == 1
    assert asked == [1]


def test_where_all_is_known_nothing_is_asked():
    known = resolved([Column(1, np.nan).view()])
    assert assume_no_nan(known, total, lambda found: pytest.fail("asked"))() == 1
    assert resolved(known) == in_band(known) == known
    assert len(calls) == 1


def test_pandas_knows_all_its_nulls():
    layout = PANDAS.layout(np.dtype(np.float64))
    views = [layout.view(np.array([1.0, np.nan]))]
    assert PANDAS.resolved(views) is PANDAS.in_band(views) is views
    assert PANDAS.assume_no_nan(views, total, lambda found: pytest.fail("asked"))() == 1
