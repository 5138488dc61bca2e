"""Filter and partition: rows that a predicate keeps, compacted in their order with all their columns.

Columns of fixed width go through one fused pass of the kernels, together with the positions of the kept rows, at
which the others and the index are gathered. This module must never loop over rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from ... import kernels
from ...frames.protocol import Library
from ...frames.registry import column_of, library_of
from ...frames.types import Column, Frame, Values, View
from ...kernels.arrays import DTYPE
from ...kernels.selection import counter_of
from ..core.flat_frame import flat_frame
from .function import Function, answer_dtype
from .text import Expression

Predicate = Any
"""An `Expression`, a `Function`, or a series or array of bool."""


def _keep(library: Library, frame: Frame, predicate: Predicate) -> Any:
    """Return which rows of a frame a predicate keeps, in a form that kernels take."""
    if isinstance(predicate, Function):
        title, columns = f"predicate {predicate.function.__name__}", []
        for name in predicate.columns:
            column = column_of(frame, name)
            if not library.is_number(column.dtype):
                raise TypeError(
                    f"{title} takes column {name!r} of dtype {column.dtype}: functions take numbers and bool; "
                    f"give a string or a boolean Series"
                )
            columns.append(column)
        views = _shown(library, columns)
        dtypes = tuple([view.values.dtype for view in views])
        counter = _counter(predicate.function, dtypes, title)
        return kernels.Predicate(counter, [v.values for v in views], [v.nulls for v in views])
    if isinstance(predicate, Expression):
        found = fused(library, frame, predicate)
        if found is not None:
            return found
        predicate = predicate.evaluate({n: _series(frame, n) for n in predicate.columns})
    return _mask(frame, predicate)


def _mask(frame: Frame, predicate: Any) -> Any:
    """Return which rows of a frame a series or an array of bool keeps, as an array.

    Raises
    ------
    TypeError, ValueError
        If it is not boolean, or not of the rows of the frame.
    """
    library = library_of(frame)
    if len(predicate) != len(frame):
        raise ValueError(
            f"predicate must have as many rows as the frame, found {len(predicate)} for {len(frame)}"
        )
    if not hasattr(predicate, "iloc"):
        if predicate.dtype.kind != "b":
            raise TypeError(f"predicate must be boolean, found dtype {predicate.dtype}")
        if isinstance(predicate.dtype, np.dtype):
            return library.xp.asarray(predicate)
        return truth(library.series(predicate, library.index(frame)))
    if not library.same_index(library.index(predicate), library.index(frame)):
        raise ValueError("predicate must have the index of the frame; align it first, with reindex")
    return truth(predicate)


def _series(frame: Any, name: Hashable) -> Any:
    return frame if frame.ndim == 1 else frame[name]


def fused(library: Library, frame: Any, predicate: Expression) -> Any:
    """Return a text as a predicate that kernels compile; None if they might decide otherwise than the library."""
    names = predicate.columns
    columns = [frame if frame.ndim == 1 else library.column(frame, name) for name in names]
    dtypes = tuple(map(DTYPE, columns))
    if [dtype for dtype in dtypes if not isinstance(dtype, np.dtype)]:
        return None
    found = _counted(predicate, dtypes, False)
    if found is None:
        return None
    views = _shown(library, columns)
    nulls = [view.nulls for view in views]
    if nulls.count(None) < len(nulls):
        found = _counted(predicate, dtypes, True)
        if found is None:
            return None
    counter, numbers = found
    nulls += [None] * len(numbers)
    return kernels.Predicate(counter, [*[view.values for view in views], *numbers], nulls)


def _counted(
    predicate: Expression, dtypes: tuple[np.dtype, ...], nulls: bool
) -> tuple[kernels.Operator, list[Any]] | None:
    """Return what counts rows for columns of these dtypes, with `nulls` or not, and the numbers that it takes too."""
    key = "counted", nulls, *dtypes
    plan: tuple[Any] | None = predicate.plans.get(key)
    if plan is None:
        named = dict(zip(predicate.columns, dtypes, strict=True))
        found: Any = predicate.function(named, nulls)
        if found is not None:
            function, numbers = found
            every = *dtypes, *[np.asarray(x).dtype for x in numbers]
            found = _counter(function, every, predicate.title), numbers
        plan = predicate.plans.store(key, (found,))
    return plan[0]  # type: ignore[no-any-return]


def _shown(library: Library, columns: Sequence[Column]) -> list[View]:
    """Show columns of numbers to a function; their nulls are those that are no numbers."""
    views = []
    for column in columns:
        layout = library.layout(column.dtype)
        assert layout is not None
        view = layout.raw(library.array(column))
        views.append(view if layout.nulls == "mask" else view._replace(nulls=None))
    return views


@lru_cache(maxsize=256)
def _counter(function: Any, dtypes: tuple[np.dtype, ...], title: str) -> kernels.Operator:
    """Return what counts rows by a frozen function; a TypeError if it does not compile, or is not of bool."""
    found = answer_dtype(function, dtypes, title)
    if found != np.bool_:
        raise TypeError(f"{title} must be boolean, found a function that returns {found}")
    return counter_of(function, title)


def truth(column: Column) -> Any:
    """Return where a boolean series is true, as an array of bool; nulls are not."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    if layout is None or layout.storage(column.dtype) != np.bool_:
        raise TypeError(
            f"predicate must be boolean, found dtype {column.dtype}; cast it with astype('boolean')"
        )
    view = layout.raw(library.array(column))
    return view.values if view.nulls is None else view.values & ~view.missing()


def refuse_predicate(predicate: object) -> NoReturn:
    """Raise what a user sees for what is no predicate."""
    raise TypeError(
        f"predicate must be a boolean Series, a string or a function, "
        f"found {type(predicate).__name__}"
    )


def append_column(frame: Frame, column: Column | Values, name: str) -> Any:
    """Return a frame with one more column, which has its rows."""
    return library_of(frame).append(frame, column, name)


def append_mask_of(frame: Any, predicate: Any, name: str) -> Any:
    """Return a frame, or a series as one, with one more column: where a series or an array of bool is true."""
    mask = _mask(frame, predicate)
    frame = frame.to_frame(name=frame.name) if frame.ndim == 1 else frame
    return append_column(frame, mask, name)


def filter_rows(frame: Frame, predicate: Predicate) -> Any:
    """Return the rows of a frame that a predicate keeps."""
    library = library_of(frame)
    with library.acquire(frame):
        keep = _keep(library, frame, predicate)
        if library.takes_whole_rows(frame):
            return library.rows(frame, *kernels.select([], keep, positions=True))
        flat = flat_frame(library, frame)
        *arrays, positions = kernels.select(flat.arrays, keep, positions=True)
        return flat.rebuild(arrays, positions)


def split_rows(frame: Frame, predicate: Predicate) -> tuple[Any, Any]:
    """Return the rows that a predicate keeps, and the others."""
    library = library_of(frame)
    with library.acquire(frame):
        keep = _keep(library, frame, predicate)
        if library.takes_whole_rows(frame):
            (kept,), (rest,) = kernels.partition([], keep, positions=True)
            return library.rows(frame, kept), library.rows(frame, rest)
        flat = flat_frame(library, frame)
        kept, rest = (
            flat.rebuild(arrays, positions)
            for *arrays, positions in kernels.partition(flat.arrays, keep, positions=True)
        )
    return kept, rest
