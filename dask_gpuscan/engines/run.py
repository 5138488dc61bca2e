"""Chooses the engine that runs an operation; nothing above looks at the kind of an object.

The engines of streams and of Dask are imported when one of their objects is met; there is none before its class has
been imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Any, Protocol

from ..forks import importing
from . import eager, eager_arrays


class Engine(Protocol):
    """An engine for one kind of frames and series: a module that has these functions.

    The first four are kinds of operations, which `run` takes.
    """

    def look_back(self, obj: Any, carry: Any) -> Any:
        """Return a carry over the rows, which sees those before each part."""

    def map_overlap(self, obj: Any, carry: Any) -> Any:
        """Return a carry over the rows, which sees those around each part."""

    def tree_reduce(self, obj: Any, reduction: Any) -> Any:
        """Return a reduction of all rows."""

    def rank(self, obj: Any, ranking: Any) -> Any:
        """Return the ranks of rows."""

    def sort(self, obj: Any, order: Any, ignore_index: bool, /) -> Any:
        """Return the rows in order; with `ignore_index`, under a default index."""

    def move_labels(self, obj: Any, move: Any) -> Any:
        """Return the rows with moved labels."""

    def map_partitions(
        self,
        obj: Any,
        function: Callable[..., Any],
        *given: Any,
        keeps_divisions: bool = True,
        typed_by_rows: bool = False,
    ) -> Any:
        """Return the results of a function for each part, which gets the further arguments too.

        Parameters
        ----------
        obj : frame or series
        function : callable
            Looks at each row by itself.
        *given
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
        """Return the results of a function for each part and a reduction of all rows, with the further arguments.

        Parameters
        ----------
        label : str
            For messages.
        obj : frame or series
        reduced : callable
            Makes the reduction, of the same engine and in one part.
        function : callable
            Keeps rows.
        *given
        """

    def filter(self, obj: Any, predicate: Any, /) -> Any:
        """Return the rows that a predicate keeps."""

    def partition(self, obj: Any, predicate: Any, /) -> tuple[Any, Any]:
        """Return the rows that a predicate keeps, and the others."""

    def append_mask(self, obj: Any, mask: Any, name: str, /) -> Any:
        """Return a frame with one more column: where a series or an array is true."""

    def with_column(self, obj: Any, column: Any, name: str, /) -> Any:
        """Return a frame with one more column, which has its rows."""

    def align_columns(
        self, obj: Any, others: Sequence[Any], names: Sequence[Hashable], what: str, by_label: bool
    ) -> Any:
        """Return a frame of the columns of a frame or series and of others, row by row, by these names.

        Parameters
        ----------
        obj : frame or series
        others : sequence of series
            With as many rows, and in the same parts.
        names : sequence
        what : str
            The name of the others in messages.
        by_label : bool
            Whether labels of rows must be the same; else rows are matched by position.

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
        """Return a frame or series with the columns and the index of this one, which may have no rows."""

    def accepted(self, obj: Any) -> Any:
        """Return a frame or series of the dtypes that its parts have, if these are computed on.

        Raises
        ------
        ValueError
            For a label that cannot name a column.
        TypeError
            For a column whose dtype cannot be cast to one that is computed on.
        """

    def check_mask(self, obj: Any, mask: Any) -> None:
        """Check that a mask may keep rows of a frame; raises a TypeError if it cannot."""

    def check_predicate(self, obj: Any, predicate: Any) -> None:
        """Raise the errors of a predicate, if rows are chosen later."""

    def is_sorted_by_index(self, obj: Any) -> bool:
        """Return whether equal labels of the index are known to be in one part."""

    def collection(self, side: Any, keeps_index: bool) -> Any:
        """Return a frame of any engine as one of this engine; unless `keeps_index`, its index may change."""

    def rebalance(self, obj: Any) -> Any:
        """Return the rows spread evenly over parts."""

    def renumber(self, obj: Any) -> Any:
        """Return rows, numbered from 0 in each part, under one default index."""

    def select(self, obj: Any, flags: Sequence[bool]) -> Any:
        """Return a frame with the columns that are flagged."""

    def narrow(self, obj: Any, names: Iterable[Hashable]) -> Any:
        """Return a frame with these columns, and with others if they are there anyway."""

    def choose(self, obj: Any, names: Iterable[Hashable]) -> Any:
        """Return a frame with these columns and no others; a series as it is."""

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
"""Kinds of objects that are not in memory, and their classes by module and name."""


@cache
def _kind_of(cls: type) -> int | None:
    """Return the kind of the objects of a class; None for those in memory."""
    for kind, module, name in CLASSES:
        if issubclass(cls, getattr(sys.modules.get(module), name, ())):
            return kind
    return None


def is_stream(obj: Any) -> bool:
    """Return whether an object is a stream."""
    cls: Any = type(obj)  # mypy takes a class for unhashable
    return _kind_of(cls) == STREAM


def engine_of(*objs: Any) -> Engine:
    """Return the engine of one or several frames or series: of streams if one is a stream, else of Dask if one is."""
    classes: Iterable[Any] = map(type, objs)
    kinds = set(map(_kind_of, classes))
    if STREAM in kinds:
        return _engine(STREAM)
    return _engine(OF_DASK) if OF_DASK in kinds else eager


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
    """Return an operation on a frame or series: computed at once, or lazily for a Dask collection."""
    return getattr(engine_of(obj), operation.kind)(obj, operation)


def methods_of(obj: Any) -> Any:
    """Return the methods of ``.gpuscan``, whose answers are frames also for streams of tables."""
    return obj._frame_methods if is_stream(obj) else obj.gpuscan


def meta_of(obj: Any) -> Any:
    """Return a frame or series with the columns and the index of this one, which may have no rows."""
    return engine_of(obj).meta(obj)


class ArrayEngine(Protocol):
    """An engine for one kind of arrays: a module that has these functions."""

    def kind(self, obj: Any) -> type | None:
        """Return the class that arrays must share to be scanned together; None for arrays of other engines."""

    def meta(self, array: Any) -> Any:
        """Return an array of NumPy or CuPy with the dtype and the number of dimensions, which may be empty."""

    def positions(self, array: Any) -> Any:
        """Return an array of the library whose arrays positions in the array must be."""

    def scan(self, arrays: Sequence[Any], carry: Any, codes: Any = None) -> Any:
        """Return a carry over arrays along its axis; with `codes`, the group of each place along the axis."""

    def summed_area_table(self, x: Any, axes: Any = None, *, dtype: Any = None) -> Any:
        """Return the sum of all elements up to each one along some axes."""

    def window_sum(self, table: Any, lows: Any, highs: Any, axes: Any) -> Any:
        """Return the sums of boxes between corners, from a table."""

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
    """Return the engine of an array, or of several together."""
    classes: Iterable[Any] = map(type, arrays)
    if ARRAY_OF_DASK in map(_kind_of, classes):
        with importing:
            from .dask import arrays as dask_arrays

        return dask_arrays
    return eager_arrays


def check_in_memory(name: str, obj: Any, hint: str) -> None:
    """Check that an argument is computed; raises a TypeError with a hint if it is lazy."""
    dask = sys.modules.get("dask.base")
    if dask is not None and dask.is_dask_collection(obj):
        raise TypeError(f"{name} is a Dask collection; {hint}")
