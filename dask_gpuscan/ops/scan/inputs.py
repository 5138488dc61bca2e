"""Inputs of scans: columns, numbers that a text or a function computes from columns, and which rows are left out.

Inputs that kernels compile are computed in the pass that scans them; others by their library, before it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from ... import kernels
from ...frames.registry import library_of
from ...frames.types import Column, DType, View
from ...kernels import Operator
from ...kernels.late_dataclass import dataclass
from ..predicates.filter import truth
from ..predicates.function import Function, answer_dtype
from ..predicates.text import Expression
from .overflow import check_exact

Columns = Mapping[Hashable, Any]
"""Columns of a frame, or a series, by their names."""


@dataclass(frozen=True)
class PlainColumn:
    """A column as it is."""

    name: Hashable

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The one name."""
        return (self.name,)

    @property
    def key(self) -> Hashable:
        """Differs between inputs."""
        return self.name, type(self.name)


Input = PlainColumn | Expression | Function
"""An input has `columns`, the names of those that it is computed from, and a `key` that differs between inputs."""


@dataclass(frozen=True)
class Compiled:
    """A function of the elements of some columns, for kernels; nulls other than NaN come as arrays of their own."""

    function: Callable[..., Any] | None
    """None for the element itself."""
    reads: tuple[Input, ...]
    dtype: DType
    """The dtype of a column of its answers."""


def raw_view(column: Column) -> View:
    """Return a view of a column of fixed width, with NaN as numbers."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    assert layout is not None
    return layout.raw(library.array(column))


def has_mask(column: Column) -> bool:
    """Return whether a column of fixed width has a mask for nulls other than NaN."""
    layout = library_of(column).layout(column.dtype)
    return layout is not None and layout.nulls == "mask"


# --- by the library ----------------------------------------------------------------------------------


def evaluated(of: Input, columns: Columns) -> Any:
    """Return an input as a column.

    Raises
    ------
    TypeError
        For an input that cannot be computed from these columns.
    """
    if isinstance(of, PlainColumn):
        return columns[of.name]
    if isinstance(of, Function):
        return _mapped(of, columns)
    series = {name: _series(columns[name]) for name in of.columns}
    found = of.evaluate(series)
    if of.may_divide_by_zero and all(_is_numpys(s.dtype) for s in series.values()):
        no_rows = {name: s.iloc[:0] for name, s in series.items()}
        if of.evaluate(no_rows).dtype == np.int64:
            # floats, as in pandas where a zero is among the divisors: then the answer is infinite
            quotients = found.to_numpy()
            check_exact(quotients[np.isfinite(quotients)], "integers divided by others")
            return found.astype(np.float64)
    return found


def _series(column: Column) -> Any:
    """Return a column as a series, for its library to compute with; all columns of a frame get the same index."""
    library = library_of(column)
    rows = library.range_index(0, len(column))
    return library.series(library.array(column), rows, column.name)


def _is_numpys(dtype: DType) -> bool:
    return isinstance(dtype, np.dtype)


def _mapped(of: Function, columns: Columns) -> Any:
    """Return the answers of a function for each row, as a column."""
    found = _called(of, columns)
    inputs = [columns[name] for name in of.columns]
    library = library_of(inputs[0])
    views = [raw_view(c) for c in inputs]
    layout = library.layout(found.dtype)
    assert layout is not None
    values, _ = kernels.scan(_answering(of), tuple(v.values for v in views), carry_out=False)
    missing = None
    for view in views:
        if layout.nulls == "mask" and view.nulls is not None:
            missing = view.missing() if missing is None else missing | view.missing()
    array = layout.wrap(
        values.astype(layout.storage(found.dtype), copy=False), missing, found.dtype
    )
    return library.as_column(array)


def _answering(of: Function) -> Operator:
    """Return the operator whose scan applies a function to each row."""
    return Operator(
        lambda a, b: b if b[1] else a,
        (0, False),
        _with_true(of.function, len(of.columns)),
        lambda s: s[0],
        name=of.function.__name__,
        inputs=len(of.columns),
    )


def _with_true(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    elements = ", ".join(f"x{i}" for i in range(count))
    made: Callable[..., Any] = eval(f"lambda f: lambda {elements}: (f({elements}), True)")(function)
    return made


# --- in kernels --------------------------------------------------------------------------------------


def compiled(of: Input, columns: Columns) -> Compiled:
    """Return an input as kernels take it: computed in their pass if it can be, else read from `evaluated`."""
    if isinstance(of, Function):
        return _called(of, columns)
    if isinstance(of, Expression):
        found = _in_kernels(of, columns)
        if found is not None:
            return found
    return Compiled(None, (of,), evaluated(of, columns).dtype)


def _called(of: Function, columns: Columns) -> Compiled:
    inputs = [columns[name] for name in of.columns]
    library = library_of(inputs[0])
    for name, column in zip(of.columns, inputs, strict=True):
        if not library.is_number(column.dtype):
            raise TypeError(
                f"a function takes columns of numbers and bool, found {name!r} of dtype {column.dtype}; give a text"
            )
    storages = tuple(raw_view(c).values.dtype for c in inputs)
    answer = answer_dtype(of.function, storages, of.function.__name__)
    own = next((c for c in inputs if has_mask(c)), inputs[0])
    layout = library.layout(own.dtype)
    assert layout is not None
    reads = tuple(PlainColumn(name) for name in of.columns)
    return Compiled(of.function, reads, layout.result(answer, own.dtype))


def _in_kernels(of: Expression, columns: Columns) -> Compiled | None:
    """A text as a function that kernels compile; None if their answers might differ from the library's."""
    dtypes = {name: columns[name].dtype for name in of.columns}
    if not all(map(_is_numpys, dtypes.values())):
        return None
    masked = any(has_mask(columns[name]) for name in of.columns)
    found = of.number(dtypes) or of.function(dtypes, nulls=masked)
    if found is None:
        return None
    function, numbers = found
    reads = tuple(PlainColumn(name) for name in of.columns)
    return Compiled(
        with_numbers(function, len(reads), numbers), reads, evaluated(of, columns).dtype
    )


def with_numbers(
    function: Callable[..., Any], count: int, numbers: list[Any]
) -> Callable[..., Any]:
    """Return a function of `count` elements that calls `function` with them and then the numbers."""
    if not numbers:
        return function
    elements = ", ".join(f"x{i}" for i in range(count))
    names = ", ".join(f"n{i}" for i in range(len(numbers)))
    made: Callable[..., Any] = eval(
        f"lambda f, {names}: lambda {elements}: f({elements}, {names})"
    )(function, *numbers)
    return made


# --- rows that are left out --------------------------------------------------------------------------


def kept(where: Input, columns: Columns) -> Any:
    """Return which rows are not left out, as an array of bool."""
    return truth(evaluated(where, columns))
