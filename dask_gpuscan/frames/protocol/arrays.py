"""Questions about frames, their columns, and the arrays under the columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from ..types import Array, Column, DType, Frame, HostRow, Labels, Scalar, Series, T, Values, View


class Arrays(Protocol):
    """The columns of frames, and the arrays under them."""

    @property
    def xp(self) -> Any:
        """The module of the arrays that layouts show: NumPy or CuPy."""

    @property
    def copy_threshold(self) -> int:
        """The most rows that are copied in less time than an operation takes to begin."""

    # --- frames and their columns

    def names(self, frame: Frame) -> list[Hashable]:
        """Return the names of the columns of a frame, in order."""

    def column(self, frame: Frame, name: Hashable) -> Column:
        """Return one column of a frame, as `columns` does."""

    def dtypes(self, frame: Frame) -> list[DType]:
        """Return the dtypes of the columns of a frame, in order."""

    def columns(self, frame: Frame) -> list[Column]:
        """Return the columns of a frame, in order."""

    def select(self, frame: Frame, chosen: list[bool]) -> Frame:
        """Return the columns of a frame whose flag is True; there is one flag a column."""

    def columns_at(self, frame: Frame, places: list[int]) -> Frame:
        """Return the columns of a frame at some places."""

    def append(self, frame: Frame, column: Column | Values, name: str) -> Frame:
        """Return a frame with one more column; in the levels of names below the first, its name is "".

        A column that has the name is replaced. The answer may share memory with the arguments.
        """

    def rows(self, frame: Frame, rows: Values | slice) -> Frame:
        """Return the rows of a frame or series at these positions, or in a slice."""

    def takes_whole_rows(self, frame: Frame) -> bool:
        """Return whether `rows` is faster than moving each column by itself, as it is for few rows."""

    def native(self, frame: Frame) -> Frame:
        """Return a frame or series in dtypes that are computed on, itself if it has these; refuse <NA> as a label."""

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
        """Return arrays as a frame; its names are of the same kind as those of a frame `like` that has them all."""

    def join_columns(
        self,
        left: Frame,
        right: Frame,
        columns: list[int | Array],
        names: Sequence[Hashable],
        index: Labels,
    ) -> Frame:
        """Return a frame of columns of a frame `left`, by their numbers, and of arrays, which become its own.

        Writing to it does not change `left`. Its labels have a name if that is the same on both sides.
        """

    def series(self, array: Array, index: Labels | None, name: Hashable = None) -> Series:
        """Return an array as a series."""

    def acquire(self, frame: Frame) -> AbstractContextManager[object]:
        """Keep a frame's memory where it is, and let results come from the library's own allocator."""

    def pair_names(self, frame: Frame, pairs: list[Any]) -> Labels:
        """Return pairs of a column's name and another one as names of columns, with one level more than the frame's."""

    # --- columns and their arrays

    def array(self, column: Column) -> Array:
        """Return the array under a column."""

    def as_column(self, array: Array, name: Hashable = None) -> Column:
        """Return an array as a column, by default without a name."""

    def slice_column(self, column: Column, start: int, stop: int) -> Column:
        """Return the rows of a column from `start` to `stop`."""

    def slice_array(self, array: Array, start: int, stop: int) -> Array:
        """Return the rows of an array from `start` to `stop`, in the same memory, so it must not be an answer."""

    def empty(self, dtype: DType) -> Array:
        """Return an array of no rows."""

    def one(self, value: object, dtype: DType) -> Array:
        """Return one value as an array of one row; raises a TypeError if it is null or not of the dtype."""

    def cast(self, array: Array, dtype: DType) -> Array:
        """Return an array as one of another dtype."""

    def copy(self, array: Array) -> Array:
        """Return an array that shares no memory with this one."""

    def to_pandas(self, array: Array) -> Any:
        """Return an array as one of pandas."""

    def from_pandas(self, array: Any) -> Array:
        """Return an array of pandas as one of this library."""

    def frame_to_pandas(self, frame: Frame) -> Any:
        """Return a frame, or a series, as one of pandas."""

    def frame_from_pandas(self, frame: Any) -> Frame:
        """Return a frame, or a series, of pandas as one of this library."""

    def packed(self, array: Array) -> Any:
        """Return an array in a form for pickling: few objects, on the host."""

    def unpacked(self, packed: Any) -> Array:
        """Return the array of a packed form."""

    def take(self, array: Array, positions: Values, nulls: bool = False) -> Array:
        """Return the rows of an array at these positions; with `nulls`, -1 stands for a null."""

    def shift(self, array: Array, periods: int, /, *fill: Any) -> Array:
        """Return for each row the value `periods` rows before it; `fill` or null where there is no such row.

        Without a fill, the answer has the dtype that `nullable` returns.
        """

    def subtract(self, array: Array, earlier: Array) -> Array:
        """Return the values minus `earlier` ones, which are as `to_masked` returns them.

        Raises
        ------
        OverflowError
            For integers whose difference the dtype of the answer does not hold.
        """

    def diff(self, array: Array, periods: int) -> Array:
        """Return each row's value minus that `periods` rows before it; null where there is no such row."""

    def relative(self, array: Array, earlier: Array) -> Array:
        """Return the values divided by `earlier` ones, whose dtype has a null, minus 1."""

    def relative_change(self, array: Array, periods: int) -> Array:
        """Return each row's value divided by that `periods` rows before it, minus 1; nulls are not filled."""

    def group_change(self, method: str, array: Array, /, **options: Hashable) -> Array:
        """Return the library's own answer of ``diff`` or ``pct_change`` for rows that are one group."""

    def always_counted(self, array: Array) -> Array | None:
        """Return the values that the library counts even if no row has them, in order: categories; None for others."""

    def concatenate(self, arrays: list[Array]) -> Array:
        """Join arrays of one dtype; categoricals get the categories of all."""

    def replace(self, array: Array, start: int, rows: Array) -> Array:
        """Return an array with these rows instead of its own from `start` on; it may be the array itself, changed."""

    def floats(self, column: Column) -> Values:
        """Return the numbers of a column as float64, NaN where it is null."""

    def from_floats(self, values: Values, numbers: slice | None = None) -> Array:
        """Return numbers of float64 as an array, null where they are NaN.

        `numbers` are the rows that are not NaN, if these are known.
        """

    def from_integers(self, values: Values) -> Array:
        """Return numbers of int64, or bool, as an array."""

    def one_each(self, count: int) -> Values:
        """Return `count` ones of int64 that are one number in memory, which shows that all are ones."""

    # --- nulls

    def missing(self, column: Column) -> Values | None:
        """Return where a column is null, as an array of bool; None if it has no null."""

    def valid(self, column: Column) -> Values:
        """Return where a column is not null, as an array of bool."""

    def set_null(self, array: Array, missing: Values) -> Array:
        """Return an array that is null where `missing`, in the dtype that `nullable` returns; see `to_nullable`."""

    def to_masked(self, array: Array) -> Array:
        """Return an array in the dtype that `masked` returns: the array itself, if that is its own dtype."""

    def from_masked(self, array: Array, dtype: DType) -> Array:
        """Return an array that `to_masked` made of one of `dtype`, in the dtype of `to_nullable`; raises as that."""

    def to_nullable(self, array: Array) -> Array:
        """Return an array in the dtype that `nullable` returns: the array itself, if that is its own dtype.

        Raises
        ------
        OverflowError
            For a value that this dtype does not hold exactly.
        """

    def fill(self, column: Column, reverse: bool, limit: int | None) -> Array:
        """Fill nulls from the rows before, or with `reverse` from those after, in columns of any dtype."""

    def seek_valid(self, column: Column, from_end: bool) -> Callable[[], int | None]:
        """Begin to look for the first (or last) value of a column; the answer, when called, returns its row or None.

        It looks at few rows first, and does not wait for work that a GPU is given later.
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
        """Begin `run` as if no NaN were unchecked, and return a function that ends it: see `cudf.nan.assume_no_nan`."""

    # --- rows on the host

    def fetch(self, values: Values) -> Callable[[], np.ndarray]:
        """Begin to copy numbers to the host; the answer, when called, waits for them and not for later work."""

    def host_row(self, column: Column, row: int) -> HostRow:
        """Return one row of a column as a value on the host."""

    def number(self, row: HostRow, dtype: DType) -> Scalar:
        """Return the number of a host row of a dtype of fixed width, as a scalar."""

    def repeat(self, row: HostRow, count: int, dtype: DType) -> Array:
        """Return a host row as an array, `count` times."""

    def prepend(self, row: HostRow, array: Array) -> Array:
        """Return an array with a host row of the same dtype before it."""

    def prepend_number(self, number: Scalar, values: Values) -> Values:
        """Return numbers with a scalar from the host before them."""
