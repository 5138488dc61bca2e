"""Filter and partition: rows that a predicate keeps, compacted in their order with all their columns.

Columns of fixed width go through one fused pass of the kernels, together with the positions of the kept rows, at
which the others and the index are gathered. This module must never loop over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import kernels
from ..frames.protocol import Library
from ..frames.registry import column_of, library_of
from .flat_frame import flat_frame
from .predicate_function import Function, compiled, shown
from .predicate_text import Expression

Predicate = Any
"""An `Expression`, a `Function`, or a series or array of bool."""


def _keep(frame: Any, predicate: Predicate) -> Any:
    """Return which rows of a frame a predicate keeps, in a form that kernels take."""
    library = library_of(frame)
    if isinstance(predicate, Function):
        title = f"predicate {predicate.function.__name__}"
        views = shown(library, frame, predicate.columns, title)
        return compiled(predicate.function, views, [], title)
    if isinstance(predicate, Expression):
        found = _fused(library, frame, predicate)
        if found is not None:
            return found
        predicate = predicate.evaluate({n: _series(frame, n) for n in predicate.columns})
    return _told(frame, predicate)


def _told(frame: Any, predicate: Any) -> Any:
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
        return library.xp.asarray(predicate)
    if not library.same_index(library.index(predicate), library.index(frame)):
        raise ValueError("predicate must have the index of the frame; align it first, with reindex")
    return truth(predicate)


def _series(frame: Any, name: Any) -> Any:
    return frame if frame.ndim == 1 else frame[name]


def _fused(library: Library, frame: Any, predicate: Expression) -> Any:
    """A text as a predicate that kernels compile; None if they might decide otherwise than the library."""
    dtypes = {name: column_of(frame, name).dtype for name in predicate.columns}
    if not all(isinstance(d, np.dtype) for d in dtypes.values()):
        return None
    function = predicate.function(dtypes)
    if function is None:
        return None
    views = shown(library, frame, predicate.columns, predicate.title)
    if any(view.nulls is not None for view in views):
        function = predicate.function(dtypes, nulls=True)
    return None if function is None else compiled(function[0], views, function[1], predicate.title)


def truth(column: Any) -> Any:
    """Return where a boolean series is true, as an array of bool; nulls are not."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    if layout is None or layout.storage(column.dtype) != np.bool_:
        raise TypeError(
            f"predicate must be boolean, found dtype {column.dtype}; cast it with astype('boolean')"
        )
    view = layout.raw(library.array(column))
    return view.values if view.nulls is None else view.values & ~view.missing()


def with_truth(frame: Any, predicate: Any, name: str) -> Any:
    """Return a frame, or a series as one, with one more column: where a series or an array of bool is true."""
    told = _told(frame, predicate)
    frame = frame.to_frame(name=frame.name) if frame.ndim == 1 else frame
    return frame.assign(**{name: told})


def filter_rows(frame: Any, predicate: Predicate) -> Any:
    """Return the rows of a frame that a predicate keeps."""
    with library_of(frame).reading(frame):
        keep = _keep(frame, predicate)
        flat = flat_frame(frame)
        *arrays, positions = kernels.select(flat.arrays, keep, positions=True)
        return flat.rebuild(arrays, positions)


def split_rows(frame: Any, predicate: Predicate) -> tuple[Any, Any]:
    """Return the rows that a predicate keeps, and the others."""
    with library_of(frame).reading(frame):
        keep = _keep(frame, predicate)
        flat = flat_frame(frame)
        kept, rest = (
            flat.rebuild(arrays, positions)
            for *arrays, positions in kernels.partition(flat.arrays, keep, positions=True)
        )
    return kept, rest
