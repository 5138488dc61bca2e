"""Types that several modules share: dtypes, columns, arrays, and views of the numbers in them.

This module imports no other one of its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property, lru_cache, wraps
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from ..kernels import Nulls
from ..kernels.late_dataclass import dataclass

T = TypeVar("T")


class DType(Protocol):
    """A dtype of NumPy or of a library; its kind is a letter, as NumPy's are."""

    @property
    def kind(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...


class Column(Protocol):
    """A column of a frame: a series, or an object with a name, a dtype and a length."""

    @property
    def name(self) -> Hashable: ...
    @property
    def dtype(self) -> DType: ...
    def __len__(self) -> int: ...


class Frame(Protocol):
    """A frame (two dimensions) or series (one) of a library."""

    @property
    def ndim(self) -> int: ...
    def __len__(self) -> int: ...


class Series(Column, Frame, Protocol):
    """One column with the labels of its rows."""


class Array(Protocol):
    """The array under a series: of NumPy or pandas, or a column of cuDF."""

    @property
    def dtype(self) -> DType: ...
    def __len__(self) -> int: ...


class HostRow(Protocol):
    """One row of a column as a small value on the host, which is sent between tasks."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> Any: ...


Values: TypeAlias = Any
"""A NumPy or CuPy array, as kernels take it."""

ArrayModule: TypeAlias = Any
"""NumPy or CuPy."""

Labels: TypeAlias = Any
"""An index of a library."""

Scalar: TypeAlias = Any
"""One number, of NumPy or Python."""


@dataclass(frozen=True)
class GroupIds:
    """The group of each row, as a number from 0 to `groups` - 1: equal where keys are."""

    array: Values
    groups: int
    ordered: bool = False
    """Whether numbers are in the order of the keys, and no key is null."""
    first_rows: Values | None = None
    """The row in which each group is met first, if that is known: then all groups have rows."""
    keys_of: Callable[[Values], list[Array]] | None = None
    """Returns the keys of groups by their numbers, one array a column, if that takes no rows."""

    def __repr__(self) -> str:
        return f"<GroupIds of {len(self.array)} rows in {self.groups} groups>"


class View(NamedTuple):
    """A column's numbers, its nulls as a kernel takes them, and its nulls as an array of bool."""

    values: Values
    nulls: Nulls
    missing: Callable[[], Values]
    validity: Any = None
    """The owner of the bitmap, from which a layout makes results with the nulls of this column; None without one."""
    offset: int = 0
    """The bit of the first element in the bitmap."""
    unchecked_nan: UncheckedNan | None = None
    """Set if NaN, which is null here, may be among the values without being in `nulls`."""

    def __repr__(self) -> str:
        unchecked = "" if self.unchecked_nan is None else ", NaN unchecked"
        where = "nowhere" if self.nulls is None else type(self.nulls).__name__
        return f"<View of {len(self.values)} {self.values.dtype}, nulls: {where}{unchecked}>"

    def resolved(self) -> View:
        """Return a view whose nulls are all known."""
        return self if self.unchecked_nan is None else self.unchecked_nan.resolve_nulls()

    def in_band(self) -> View:
        """Return a view in which a kernel takes NaN for null; if possible, no pass looks for NaN first."""
        return self if self.unchecked_nan is None else self.unchecked_nan.in_band()


class UncheckedNan(Protocol):
    """NaN that was not yet looked for, in a column whose NaN is null."""

    def resolve_nulls(self) -> View:
        """Look for NaN, and return a view in which such rows are null."""

    def in_band(self) -> View:
        """Return a view in which a kernel takes NaN for null; if possible, no pass looks for NaN first."""

    def mark_no_nan(self) -> None:
        """Record that the column has no NaN."""


Missing: TypeAlias = Any
"""Where a result is null: an array of bool, the nulls of a `View`, or None for no nulls."""


NullStorage: TypeAlias = Literal["in band", "mask"]
"""Where a column keeps its nulls: among its numbers, if the dtype can, or in a mask."""


class Layout(Protocol):
    """One way in which a library keeps columns of fixed width."""

    nulls: NullStorage
    """Where a result keeps its nulls."""
    passes_over_nan: bool
    """Whether min and max skip NaN although it is not null."""
    groups_pass_over_nan: bool
    """Whether min and max of groups skip NaN although it is not null."""
    nan_is_null: bool
    """Whether NaN is null."""

    def matches(self, dtype: DType) -> bool:
        """Return whether columns of a dtype are kept in this way."""

    def storage(self, dtype: DType) -> np.dtype:
        """Return the dtype of the numbers in a column of `dtype`."""

    def view(self, array: Array) -> View:
        """Show the numbers of an array and where it is null; NaN may be unchecked."""

    def raw(self, array: Array) -> View:
        """Show the numbers of an array; NaN is a number like any other."""

    def wrap(self, values: Values, missing: Missing, dtype: DType) -> Array:
        """Return an array of dtype `dtype`, null where `missing`."""

    def result(self, storage: np.dtype, dtype: DType) -> DType:
        """Return the dtype of this layout for numbers of dtype `storage`, made from a column of `dtype`."""


@dataclass(frozen=True, eq=False)
class Lists:
    """A column of lists.

    Parameters
    ----------
    items : array of the library
        The items of all lists, one list after the other; null lists may have items, too.
    offsets : array of int32 or int64
        The first item of each list, counted from 0, and behind them the end of the last list.
    find_missing : callable
        Returns which lists are null, as an array of bool; None if none is.
    """

    items: Array
    offsets: Values
    find_missing: Callable[[], Values | None]

    @cached_property
    def missing(self) -> Values | None:
        """Which lists are null, as an array of bool; None if no list is."""
        return self.find_missing()

    @property
    def lengths(self) -> Values:
        """The number of items of each list, in the dtype of the offsets."""
        return self.offsets[1:] - self.offsets[:-1]


class Texts(NamedTuple):
    """Strings: their bytes in UTF-8, one string after the other, the start of each, and the end of the last."""

    data: np.ndarray
    offsets: np.ndarray


def asked_once(ask: Callable[..., DType]) -> Callable[..., DType]:
    """Return a function of a method, a dtype and options that calls `ask` once for each combination.

    For categories it calls each time: those of pandas are equal in another order, and those of cuDF have no hash.
    """
    known = lru_cache(maxsize=1024)(ask)

    @wraps(ask)
    def asked(method: str, dtype: DType, /, **options: Hashable) -> DType:
        found: DType = (ask if hasattr(dtype, "categories") else known)(method, dtype, **options)
        return found

    return asked
