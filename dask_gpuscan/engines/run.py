"""Chooses the engine that runs an operation, so that nothing in `api/` looks at the type of an object.

The engines of streams and of Dask are imported with their first object; an object exists only after its class was
imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Any, Protocol

from ..forks import importing
from . import eager, eager_arrays


class Engine(Protocol):
    """An engine for one kind of frames and series: a module with these functions.

    The first four are the kinds of operations that `run` takes.
    """

    def look_back(self, obj: Any, carry: Any) -> Any:
        """Apply a carry that depends on the rows before each part."""

    def map_overlap(self, obj: Any, carry: Any) -> Any:
        """Apply a carry that depends on the rows around each part."""

    def tree_reduce(self, obj: Any, reduction: Any) -> Any:
        """Reduce all rows."""

    def rank(self, obj: Any, ranking: Any) -> Any:
        """Return the ranks of rows."""

    def sort(self, obj: Any, order: Any, ignore_index: bool, /) -> Any:
        """Sort the rows; with `ignore_index`, they get a default index."""

    def in_order(self, obj: Any, order: Any, /) -> Any:
        """Return an object with the rows in order, and with a method that gives answers the rows' own order."""

    def move_labels(self, obj: Any, move: Any) -> Any:
        """Shift the labels of rows."""

    def map_partitions(
        self,
        obj: Any,
        function: Callable[..., Any],
        *given: Any,
        keeps_divisions: bool = True,
        typed_by_rows: bool = False,
    ) -> Any:
        """Apply a function to each part, with more arguments.

        Parameters
        ----------
        obj : frame or series
        function : callable
            A function that treats each row independently of the others.
        *given
            More arguments of the function.
        keeps_divisions : bool, default True
            Whether the answer has the labels of the index.
        typed_by_rows : bool, default False
            Whether the function may return other dtypes for no rows.
        """

    def broadcast(
        self,
        label: str,
        obj: Any,
        reduced: Callable[[], Any],
        function: Callable[..., Any],
        *given: Any,
    ) -> Any:
        """Apply a function to each part and a reduction of all rows, with more arguments.

        Parameters
        ----------
        label : str
            The name of the operation in messages.
        obj : frame or series
        reduced : callable
            Returns the reduction, which has one part.
        function : callable
            A function that returns the same rows.
        *given
            More arguments of the function.
        """

    def filter(self, obj: Any, predicate: Any, /) -> Any:
        """Return the rows that a predicate keeps."""

    def partition(self, obj: Any, predicate: Any, /) -> tuple[Any, Any]:
        """Return the rows that a predicate keeps, and the others."""

    def append_mask(self, obj: Any, mask: Any, name: str, /) -> Any:
        """Append a column that says where a series or an array is true."""

    def read_once(self, obj: Any) -> Any:
        """Return the rows so that all that is computed from them has the same parts, whatever columns it needs."""

    def with_column(self, obj: Any, column: Any, name: str, /) -> Any:
        """Append a column of the same rows."""

    def align_columns(
        self, obj: Any, others: Sequence[Any], names: Sequence[Hashable], what: str, by_label: bool
    ) -> Any:
        """Join the columns of a frame or series and of others, row by row, under new names.

        Parameters
        ----------
        obj : frame or series
        others : sequence of series
            Series with as many rows, in the same parts.
        names : sequence
            The names of all columns.
        what : str
            The name of the others in messages.
        by_label : bool
            Whether labels of rows must be equal; otherwise rows are matched by position.

        Raises
        ------
        TypeError, ValueError
            If rows do not match; for a lazy frame, when it is computed.
        """

    def merge_asof(self, left: Any, right: Any, question: Any) -> Any:
        """Return each row of the left side with its match."""

    @property
    def IN_PARTS(self) -> bool:
        """Whether rows come in parts: answers of parts are combined, and a part may be empty."""

    def meta(self, obj: Any) -> Any:
        """Return a frame or series with the same columns and index, with or without rows."""

    def accepted(self, obj: Any) -> Any:
        """Return a frame or series in dtypes that operations take.

        Raises
        ------
        ValueError
            If a label cannot name a column.
        TypeError
            If a column cannot be cast to a dtype that operations take.
        """

    def check_mask(self, obj: Any, mask: Any) -> None:
        """Raise a TypeError if a mask cannot filter the rows of a frame."""

    def check_predicate(self, obj: Any, predicate: Any) -> None:
        """Raise the errors of a predicate, if rows are filtered later."""

    def is_sorted_by_index(self, obj: Any) -> bool:
        """Return whether equal labels of the index are known to be in one part."""

    def collection(self, side: Any, keeps_index: bool) -> Any:
        """Return a side of a join, of any engine, for this engine; unless `keeps_index`, its index may change."""

    def rebalance(self, obj: Any) -> Any:
        """Spread the rows evenly over parts."""

    def renumber(self, obj: Any) -> Any:
        """Number the rows, which are numbered from 0 in each part, over all parts."""

    def select(self, obj: Any, flags: Sequence[bool]) -> Any:
        """Return the columns whose flag is true."""

    def narrow(self, obj: Any, names: Iterable[Hashable]) -> Any:
        """Return at least the columns of these names; others may stay if they cost nothing."""

    def choose(self, obj: Any, names: Iterable[Hashable]) -> Any:
        """Return the columns of these names only; a series is returned unchanged."""

    def is_column(self, obj: Any, name: Hashable, series: Any) -> bool:
        """Return whether a series is known to be the column of this name of a frame."""

    def as_series(self, like: Any, values: Any) -> Any:
        """Return values, one a row, as a series of the library of a frame; raises a TypeError for anything else."""


STREAM, OF_DASK, ARRAY_OF_DASK = range(3)

CLASSES = (
    (STREAM, "dask_gpuscan.engines.stream.stream", "Stream"),
    (OF_DASK, "dask.dataframe", "Series"),
    (OF_DASK, "dask.dataframe", "DataFrame"),
    (ARRAY_OF_DASK, "dask.array", "Array"),
)
"""The kinds of objects that are not in memory, with their classes by module and name."""


@cache
def _kind_of(cls: type) -> int | None:
    """Return the kind of the objects of a class; None for those in memory."""
    for kind, module, name in CLASSES:
        if issubclass(cls, getattr(sys.modules.get(module), name, ())):
            return kind
    return None


def is_stream(obj: Any) -> bool:
    """Return whether an object is a stream."""
    cls: Any = type(obj)  # mypy does not know that classes are hashable
    return _kind_of(cls) == STREAM


def engine_of(*objs: Any) -> Engine:
    """Return the engine of frames or series: of streams if one is a stream, or else of Dask if one is a collection."""
    engine: Engine = eager
    for obj in objs:
        cls: Any = type(obj)  # mypy does not know that classes are hashable
        kind = _kind_of(cls)
        if kind == STREAM:
            return _engine(STREAM)
        if kind == OF_DASK:
            engine = _engine(OF_DASK)
    return engine


@cache
def _engine(kind: int) -> Engine:
    """Import the engine of streams or of Dask."""
    with importing:
        if kind == STREAM:
            from .stream import engine as stream

            return stream
        from .dask import engine as dask

        return dask


def run(obj: Any, operation: Any) -> Any:
    """Run an operation on a frame or series: at once, or lazily for a Dask collection or a stream."""
    return getattr(engine_of(obj), operation.kind)(obj, operation)


def methods_of(obj: Any) -> Any:
    """Return the methods of ``.gpuscan`` that answer with frames, also for streams of tables."""
    return obj._frame_methods if is_stream(obj) else obj.gpuscan


def meta_of(obj: Any) -> Any:
    """Return a frame or series with the same columns and index, with or without rows."""
    return engine_of(obj).meta(obj)


class ArrayEngine(Protocol):
    """An engine for one kind of arrays: a module with these functions."""

    def kind(self, obj: Any) -> type | None:
        """Return the class that arrays must share to be scanned together; None for arrays of other engines."""

    def meta(self, array: Any) -> Any:
        """Return a NumPy or CuPy array with the same dtype and number of dimensions; it may be empty."""

    def positions(self, array: Any) -> Any:
        """Return an array of the library that positions in the array must have."""

    def scan(self, arrays: Sequence[Any], carry: Any, codes: Any = None) -> Any:
        """Apply a carry to arrays along its axis; `codes` are the groups of the places along the axis."""

    def summed_area_table(self, x: Any, axes: Any = None, *, dtype: Any = None) -> Any:
        """Return the sum of all elements up to each one along some axes."""

    def window_sum(self, table: Any, lows: Any, highs: Any, axes: Any) -> Any:
        """Return the sums of boxes, given by their corners, from a table."""

    def box_filter(
        self,
        x: Any,
        radius: Any,
        *,
        axes: Any = None,
        mode: Any = "reflect",
        cval: Any = 0,
        dtype: Any = None,
    ) -> Any:
        """Return the mean of the box around each element."""


def array_engine_of(*arrays: Any) -> ArrayEngine:
    """Return the engine of arrays: that of Dask if one is a Dask array."""
    classes: Iterable[Any] = map(type, arrays)
    if ARRAY_OF_DASK in map(_kind_of, classes):
        with importing:
            from .dask import arrays as dask_arrays

        return dask_arrays
    return eager_arrays


def check_in_memory(name: str, obj: Any, hint: str) -> None:
    """Raise a TypeError with a hint if an argument is a Dask collection."""
    dask = sys.modules.get("dask.base")
    if dask is not None and dask.is_dask_collection(obj):
        raise TypeError(f"{name} is a Dask collection; {hint}")
