"""What is asked of a dataframe library: six protocols by meaning, and the views and layouts of its columns.

`Schema` answers for dtypes, `Arrays` handles the columns of frames, `Index` their labels, `GroupBy` rows with equal
keys, `Ordering` keys that rows are sorted by, and `ListColumns` lists. A `Library` is all six in one object. A layout
shows the numbers of a column and where its nulls are, without a copy where memory allows, and makes a column out of
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from ..kernels import Nulls
from .grouping import GroupBy
from .host_values import HostValues
from .index import Index
from .lists import ListColumns
from .ordering import Ordering
from .sparse import SparseColumns

T = TypeVar("T")


class DType(Protocol):
    """A dtype of NumPy or of a library; its kind is a letter, as NumPy's are."""

    @property
    def kind(self) -> str: ...
    def __hash__(self) -> int: ...


class Column(Protocol):
    """A column of a frame: a series, or what does as one here."""

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


class Array(Protocol):
    """An array as the library itself keeps under a series: of NumPy or pandas, or a column of cuDF."""

    @property
    def dtype(self) -> DType: ...
    def __len__(self) -> int: ...


class HostRow(Protocol):
    """One row of a column as a small value on the host, which tasks can send each other."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> Any: ...


Values: TypeAlias = Any
"""A NumPy or CuPy array: what kernels take."""

Labels: TypeAlias = Any
"""An index of a library."""

Scalar: TypeAlias = Any
"""One number, of NumPy or Python."""


@dataclass(frozen=True)
class View:
    """A column's numbers, where its nulls are for a kernel, and the nulls as an array of bool."""

    values: Values
    nulls: Nulls
    missing: Callable[[], Values]
    validity: Any = None
    """What holds the bitmap, for a layout that makes results with the nulls of this column; None if nothing does."""
    offset: int = 0
    """Of the first element in the bitmap."""
    unchecked_nan: UncheckedNan | None = None
    """Set if NaN, which is null here, may be among the values and is not in `nulls`."""

    def __repr__(self) -> str:
        unchecked = "" if self.unchecked_nan is None else ", NaN unchecked"
        where = "nowhere" if self.nulls is None else type(self.nulls).__name__
        return f"<View of {len(self.values)} {self.values.dtype}, nulls: {where}{unchecked}>"

    def resolved(self) -> View:
        """Return a view whose nulls are all known."""
        return self if self.unchecked_nan is None else self.unchecked_nan.resolve_nulls()

    def in_band(self) -> View:
        """Return a view in which a kernel takes NaN for null, without a pass that looks for it if that can be."""
        return self if self.unchecked_nan is None else self.unchecked_nan.in_band()


class UncheckedNan(Protocol):
    """NaN that nobody has looked for yet in a column whose NaN are null."""

    def resolve_nulls(self) -> View:
        """Look for NaN, and return a view in which such rows are null."""

    def in_band(self) -> View:
        """Return a view in which a kernel takes NaN for null, without a pass that looks for it if that can be."""

    def mark_no_nan(self) -> None:
        """Record that the column has no NaN."""


Missing: TypeAlias = Any
"""Where a result is null: an array of bool, the nulls of a `View`, or None if nowhere."""


class Layout(Protocol):
    """One way in which a library keeps columns of fixed width."""

    nulls: str
    """Where a result keeps nulls: "in band" (only some dtypes can) or "mask"."""
    passes_over_nan: bool
    """Whether NaN is not null, but min and max skip it."""
    groups_pass_over_nan: bool
    """Whether min and max of groups do."""
    nan_is_null: bool
    """Whether NaN is null."""

    def matches(self, dtype: DType) -> bool:
        """Tell whether columns of a dtype are kept in this way."""

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


class Schema(Protocol):
    """Facts about dtypes."""

    widens_by_value: bool
    """Whether the dtype of an answer of the library depends on its values."""
    null_sums: bool
    """Whether the sum and the product of a group without values are null."""
    wrong_groups: tuple[str, ...]
    """Methods of the library's group-by whose answers are wrong for some values."""

    def layout(self, dtype: DType) -> Layout | None:
        """Return the layout of a dtype; None if its columns hold no numbers of fixed width."""

    def moved_layout(self, dtype: DType) -> Layout | None:
        """Return the layout of a dtype whose numbers kernels compare and move; 128-bit decimals have none."""

    def is_number(self, dtype: DType) -> bool:
        """Tell whether columns of a dtype hold numbers or bool that can be scanned, and not times."""

    def is_real(self, dtype: DType) -> bool:
        """Tell whether columns of a dtype hold real numbers or bool, which `floats` returns."""

    def is_numeric(self, dtype: DType) -> bool:
        """Tell whether `numeric_only` keeps a column of a dtype."""

    def raises_on_overflow(self, dtype: DType) -> bool:
        """Tell whether sums of a dtype raise, rather than wrapping around."""

    def rounds_products(self, dtype: DType) -> bool:
        """Tell whether each step of a product of a dtype is rounded to its digits, as that of decimals is."""

    def holds_null(self, dtype: DType) -> bool:
        """Tell whether columns of a dtype can have nulls."""

    def nullable(self, dtype: DType) -> DType:
        """Return the dtype that holds all values of a dtype, and nulls: itself, if it does."""

    def time_unit(self, dtype: DType) -> str:
        """Return the unit in which a dtype of times stores them."""

    def stored_number(self, value: object, dtype: DType) -> int:
        """Return the number that a column of times or decimals stores for a value; raises a TypeError."""

    def answer_dtype(self, method: str, dtype: DType, /, **options: Hashable) -> DType:
        """Return the dtype of the library's own answer of a method; raises a TypeError if it has none."""

    def group_dtype(self, method: str, dtype: DType, /, **options: Hashable) -> DType:
        """Return the dtype of an answer of a method of the library's group-by; raises as `answer_dtype`.

        Where the library chooses it by the values, it is the one that holds the answer whatever they are.
        """


class Arrays(Protocol):
    """The columns of frames, and the arrays under them."""

    @property
    def xp(self) -> Any:
        """The module of the arrays that layouts show: NumPy or CuPy."""

    @property
    def few_rows(self) -> int:
        """How many rows at most are copied in less time than an operation takes to begin."""

    # --- frames and their columns

    def names(self, frame: Frame) -> list[Hashable]:
        """Return the names of the columns of a frame, in order."""

    def column(self, frame: Frame, name: Hashable) -> Column:
        """Return one column of a frame, as `columns` does."""

    def columns(self, frame: Frame) -> list[Column]:
        """Return the columns of a frame, in order."""

    def select(self, frame: Frame, chosen: list[bool]) -> Frame:
        """Return some columns of a frame: one flag a column tells which."""

    def rows(self, frame: Frame, rows: Values | slice) -> Frame:
        """Return the rows of a frame or series at these positions, or in a slice."""

    def no_rows(self, frame: Frame) -> Frame:
        """Return a frame or series without its rows."""

    def rebuild(self, frame: Frame, arrays: list[Array], index: Labels | None = None) -> Frame:
        """Return `frame` with the arrays as its columns: same names, same index unless one is given."""

    def frame(
        self,
        arrays: list[Array],
        names: Sequence[Hashable],
        index: Labels | None,
        like: Frame | None = None,
    ) -> Frame:
        """Return arrays as a frame; its names are of the kind that those of a frame `like` are, if it has them."""

    def beside(self, frames: Sequence[Frame], names: Sequence[Hashable], like: Frame) -> Frame:
        """Return the columns of frames of one index, beside each other.

        Whoever writes to the answer writes to none of the frames. Without frames it has the index of `like`.
        """

    def series(self, array: Array, index: Labels | None, name: Hashable = None) -> Frame:
        """Return an array as a series."""

    def reading(self, frame: Frame) -> AbstractContextManager[object]:
        """Keep a frame's memory where it is, and let results come from the library's own allocator."""

    def pair_names(self, frame: Frame, pairs: list[Any]) -> Labels:
        """Return pairs of a column's name and another as names of columns, of one level more than the frame's."""

    # --- columns and their arrays

    def array(self, column: Column) -> Array:
        """Return the array under a column."""

    def as_column(self, array: Array) -> Column:
        """Return an array as a column without a name."""

    def slice_column(self, column: Column, start: int, stop: int) -> Column:
        """Return the rows of a column from `start` to `stop`."""

    def slice_array(self, array: Array, start: int, stop: int) -> Array:
        """Return the rows of an array from `start` to `stop`, in the same memory: not for users to write to."""

    def empty(self, dtype: DType) -> Array:
        """Return an array of no rows."""

    def one(self, value: object, dtype: DType) -> Array:
        """Return one value as an array of one row; raises a TypeError if it is null or not of the dtype."""

    def copy(self, array: Array) -> Array:
        """Return an array that shares no memory with this one."""

    def packed(self, array: Array) -> Any:
        """Return what an array is pickled as: as few objects as may be, on the host."""

    def unpacked(self, packed: Any) -> Array:
        """Return the array of which something was packed."""

    def take(self, array: Array, positions: Values, nulls: bool = False) -> Array:
        """Return the rows of an array at these positions; with `nulls`, a null at -1."""

    def shift(self, array: Array, periods: int, /, *fill: Any) -> Array:
        """Return each row's value so many rows before, or behind; where there is none, null or the one value given.

        NumPy's integers and bool become nullable where no value is given.
        """

    def subtract(self, array: Array, earlier: Array) -> Array:
        """Return values less others; these are of a dtype that has a null.

        Raises
        ------
        OverflowError
            For NumPy's integers whose difference is beyond 64 bits.
        """

    def diff(self, array: Array, periods: int) -> Array:
        """Return each row's value less that of so many rows before, or behind; null where there is none."""

    def always_counted(self, array: Array) -> Array | None:
        """Return values that the library counts even where none is there, in their order; None if there are none."""

    def concatenate(self, arrays: list[Array]) -> Array:
        """Join arrays of one dtype; categoricals get the categories of all."""

    def replace(self, array: Array, start: int, rows: Array) -> Array:
        """Return an array with these rows in the place of its own from `start` on; it may be written to itself."""

    def floats(self, column: Column) -> Values:
        """Return the numbers of a column as float64, NaN where it is null."""

    def from_floats(self, values: Values, numbers: slice | None = None) -> Array:
        """Return numbers of float64 as an array, null where they are NaN.

        `numbers` are the rows that are not NaN, if these are known.
        """

    def from_integers(self, values: Values) -> Array:
        """Return numbers of int64 as an array."""

    # --- nulls

    def missing(self, column: Column) -> Values | None:
        """Return where a column is null, as an array of bool; None if it is nowhere."""

    def valid(self, column: Column) -> Values:
        """Return where a column is not null, as an array of bool."""

    def set_null(self, array: Array, missing: Values) -> Array:
        """Return an array that is null where `missing`, of the dtype that `nullable` says."""

    def to_nullable(self, array: Array) -> Array:
        """Return an array in the dtype that `nullable` says: itself, if that is its own."""

    def fill(self, column: Column, reverse: bool, limit: int | None) -> Array:
        """Fill nulls from the rows before, or with `reverse` after: an array of any dtype."""

    def seek_valid(self, column: Column, from_end: bool) -> Callable[[], int | None]:
        """Begin to look for the first (or last) value of a column; what is returned says in which row it is, if any.

        It looks at no more than it takes, and does not wait for what a GPU is given to do since.
        """

    def resolved(self, views: list[View]) -> list[View]:
        """Return views whose nulls are all known."""

    def in_band(self, views: list[View]) -> list[View]:
        """Return views in which a kernel takes unchecked NaN for null."""

    def assume_no_nan(
        self,
        views: list[View],
        run: Callable[[list[View]], Callable[[], T]],
        saw_nan: Callable[[T], bool],
        resolve: Callable[[list[View]], list[View]] = ...,
    ) -> Callable[[], T]:
        """Begin `run` as if no NaN were unchecked; what is returned ends it: see `nan.assume_no_nan`."""

    # --- rows on the host

    def fetch(self, values: Values) -> Callable[[], np.ndarray]:
        """Begin to copy numbers to the host; what is returned waits for them, and for nothing that begins later."""

    def host_row(self, column: Column, row: int) -> HostRow:
        """Return one row of a column as a value on the host."""

    def number(self, row: HostRow, dtype: DType) -> Scalar:
        """Return the number of a host row of a dtype of fixed width, as a scalar."""

    def repeat(self, row: HostRow, count: int, dtype: DType) -> Array:
        """Return a host row as an array, `count` times."""

    def prepend(self, row: HostRow, array: Array) -> Array:
        """Return an array with a host row of the same dtype before it."""

    def prepend_number(self, number: Scalar, values: Values) -> Values:
        """Return numbers with a scalar of the host before them."""


class Library(Schema, Arrays, Index, GroupBy, Ordering, ListColumns, Protocol):
    """What is asked of the library that a frame belongs to: pandas, cuDF or another."""

    @property
    def host_values(self) -> HostValues | None:
        """What makes columns values that Python combines; None if they stay on a GPU."""

    @property
    def sparse(self) -> SparseColumns | None:
        """What makes columns dense; None if the library has no others."""

    def __hash__(self) -> int: ...
