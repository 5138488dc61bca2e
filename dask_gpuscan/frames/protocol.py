"""What is asked of a dataframe library: views of its columns as arrays, layouts, and the library itself.

A layout shows a column's numbers and where its nulls are, without a copy where memory allows, and makes a
column of the same family out of the numbers that come back. A library knows its layouts and puts columns
together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..kernels import Nulls


@dataclass(frozen=True)
class View:
    """A column's numbers, where its nulls are for a kernel, and the nulls as an array of bool."""

    values: Any
    nulls: Nulls
    missing: Callable[[], Any]
    validity: Any = None
    """What the layout needs to make a result that is null in the same places, if it can share the bitmap."""
    offset: int = 0
    """Of the first element in the bitmap."""
    doubt: Doubt | None = None
    """Whether NaN, where it counts as null, may be among the values, unseen."""

    def settled(self) -> View:
        """Return a view whose nulls are all known."""
        return self if self.doubt is None else self.doubt.settle()

    def in_band(self) -> View:
        """Return a view whose nulls a kernel knows, NaN by their value, without a look at them before."""
        return self if self.doubt is None else self.doubt.in_band()


class Doubt(Protocol):
    """That NaN may be among the numbers of a column."""

    def settle(self) -> View:
        """Look, and return a view in which such rows are null."""

    def in_band(self) -> View:
        """Return a view in which NaN are nulls, without a look if that can be."""

    def dispel(self) -> None:
        """Take note that there is none."""


def missing_in(views: Sequence[View]) -> Any:
    """Return where any of several columns is null, as an array of bool."""
    missing = views[0].missing()
    for view in views[1:]:
        missing = missing | view.missing()
    return missing


Missing = Any
"""Where a result is null: an array of bool, where a `View` is, or None."""


class Layout(Protocol):
    """One way in which a library keeps a column."""

    nulls: str
    """Where a result keeps nulls: "in band" (only some dtypes can) or "mask"."""
    passes_over_nan: bool
    """Whether NaN is neither a null nor a value that an extreme takes."""
    nan_is_null: bool
    """Whether a column of floats has no NaN among its values that are not null."""

    def matches(self, dtype: Any) -> bool:
        """Tell whether a dtype is kept in this way."""

    def storage(self, dtype: Any) -> np.dtype:
        """Dtype of the numbers that a column of this dtype shows."""

    def view(self, array: Any) -> View:
        """Show the column's array."""

    def raw(self, array: Any) -> View:
        """Show the column's array to be moved as it is: NaN is a number like any other."""

    def wrap(self, values: Any, missing: Missing, dtype: Any) -> Any:
        """Make an array of dtype `dtype`, null where `missing`, or where a view is null."""

    def result(self, storage: np.dtype, dtype: Any) -> Any:
        """Dtype of this family for numbers of dtype `storage`, from a column of `dtype`."""


class Library(Protocol):
    """What is asked of the library that a frame belongs to: pandas or cuDF.

    Arrays are what `array` gives and a layout's `wrap` makes: a library's own arrays under its series.
    """

    @property
    def numbers(self) -> Any:
        """The module of the arrays of numbers that its layouts show: NumPy or CuPy."""

    @property
    def layouts(self) -> tuple[Layout, ...]: ...

    null_sums: bool
    """Whether the sum and the product of a group without values are null."""

    widens_by_value: bool
    """Whether the dtype of an answer depends on its values."""

    scans_by_code: bool
    """Whether its arrays are those of a backend that scans within groups without sorting rows."""

    wrong_groups: tuple[str, ...]
    """Reductions of its group-by whose answers are wrong for some values."""

    def __hash__(self) -> int: ...

    def is_numeric(self, dtype: Any) -> bool:
        """Tell whether `numeric_only` keeps a column of this dtype."""

    def raises_on_overflow(self, dtype: Any) -> bool:
        """Tell whether sums of this dtype raise, rather than wrapping around."""

    def answer(self, method: str, dtype: Any) -> Any:
        """Return the dtype of the library's own answer of a method; raises a TypeError if it has none."""

    def grouped(self, method: str, dtype: Any) -> Any:
        """Return the dtype of an answer of a method of the library's group-by; raises as `answer`.

        Where the library chooses it by the values, it is the one that holds the answer whatever they are.
        """

    def holds_null(self, dtype: Any) -> bool:
        """Tell whether columns of a dtype can have nulls."""

    def nullable(self, array: Any) -> Any:
        """Return an array in the dtype that it has once some of its values are null; itself, if that is its own."""

    def nulled(self, array: Any, missing: Any) -> Any:
        """Return an array that is null where `missing`, of another dtype if its own has no null."""

    def picked(self, array: Any) -> Any:
        """Return an array with its nulls as the library's ``first`` and ``last`` of groups write them."""

    def key_index(self, arrays: list[Any], names: Sequence[Any]) -> Any:
        """Return an index of one level an array."""

    def stored(self, value: Any, dtype: Any) -> Any:
        """Return the number that a column of times or decimals stores for a value; raises a TypeError."""

    def unit(self, dtype: Any) -> str:
        """Return the unit in which a dtype of times stores them."""

    def select(self, frame: Any, keep: list[bool]) -> Any:
        """Return some columns of a frame."""

    def names(self, frame: Any) -> list[Any]:
        """Return the names of the columns of a frame, in order."""

    def column(self, frame: Any, name: Any) -> Any:
        """Return one column of a frame, as `columns` does."""

    def columns(self, frame: Any) -> list[Any]:
        """Return the columns of a frame in order, as series or what does as one here: name, dtype and length."""

    def array(self, column: Any) -> Any:
        """Return the array under a column."""

    def empty(self, dtype: Any) -> Any:
        """Return an array of no rows."""

    def rebuild(self, frame: Any, arrays: list[Any], index: Any = None) -> Any:
        """Return `frame` with the arrays as its columns: same names, same index unless one is given."""

    def take(self, array: Any, positions: Any, nulls: bool = False) -> Any:
        """Return the rows of an array at these positions; with `nulls`, a null at -1."""

    def take_index(self, index: Any, positions: Any) -> Any:
        """Return the rows of an index at these positions."""

    def series(self, array: Any, index: Any, name: Any = None) -> Any:
        """Return an array as a series."""

    def unnamed(self, array: Any) -> Any:
        """Return an array as a column, as `columns` does."""

    def frame(self, arrays: list[Any], names: Any, index: Any, like: Any = None) -> Any:
        """Return arrays as a frame; its names are of the kind that those of a frame `like` are, if it has them."""

    def range_index(self, start: int, stop: int) -> Any:
        """Return an index of consecutive numbers."""

    def missing(self, column: Any) -> Any:
        """Return where a series is null, as an array of bool; None if it is nowhere."""

    def valid(self, column: Any) -> Any:
        """Return where a series is not null, as an array of bool."""

    def codes(self, column: Any) -> tuple[Any, Nulls]:
        """Return an array of integers, equal where values of a series are, and where nulls are if not one value.

        Raises a TypeError for values that cannot be hashed.
        """

    def group_codes(self, arrays: list[Any]) -> Any:
        """Return an array of integers, equal where the rows of all arrays are; nulls equal nulls."""

    def group(self, method: str, column: Any, codes: Any) -> Any:
        """Return the array of the library's own reduction of the rows with equal codes, in the codes' order."""

    def order(self, index: Any) -> Any:
        """Return the positions of an index' rows in the order of its values, equal ones as they are."""

    def sort(self, frame: Any) -> Any:
        """Return a frame or series in the order of its index, nulls last."""

    def labels(self, pairs: list[Any]) -> Any:
        """Return names of columns of two levels."""

    def floats(self, column: Any) -> Any:
        """Return the numbers of a series as float64, NaN where it is null."""

    def from_floats(self, values: Any) -> Any:
        """Return numbers as an array of the library's float64, null where they are NaN."""

    def seek_valid(self, column: Any, from_end: bool) -> Callable[[], int | None]:
        """Begin to look for the first (or last) value of a series; what is returned says in which row it is, if any.

        It looks at no more than it takes, and does not wait for what a GPU is given to do since.
        """

    def fill(self, column: Any, reverse: bool, limit: int | None) -> Any:
        """Fill nulls from the rows before, or with `reverse` after: an array of any dtype."""

    def keep(self, column: Any, row: int) -> Any:
        """Return one row as a small host value that tasks can send each other."""

    def number(self, kept: Any, dtype: Any) -> Any:
        """Return the number of a kept row of a fixed-width column, as a scalar on the host."""

    def repeat(self, kept: Any, count: int, dtype: Any) -> Any:
        """Return a kept row as an array, `count` times."""

    def part(self, array: Any, start: int, stop: int) -> Any:
        """Return the rows of an array from `start` to `stop`, in the same memory: not for users to write to."""

    def slice(self, column: Any, start: int, stop: int) -> Any:
        """Return the rows of a column from `start` to `stop`."""

    def prepend(self, kept: Any, array: Any) -> Any:
        """Return an array with a kept row of the same dtype before it."""

    def copy(self, array: Any) -> Any:
        """Return an array that shares no memory with this one."""

    def concatenate(self, arrays: list[Any]) -> Any:
        """Join arrays of one dtype; categoricals get the categories of all."""

    def reading(self, frame: Any) -> AbstractContextManager[Any]:
        """Keep a frame's memory where it is, and let results come from the library's own allocator."""
