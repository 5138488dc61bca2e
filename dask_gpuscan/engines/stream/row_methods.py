"""Methods of streams that treat each row independently, as those of frames: columns, names, dtypes and operators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NoReturn, Self

import pandas as pd

from ...frames.keys import is_name
from ...frames.messages import first_line
from ...kernels.messages import shown
from ...ops.predicates.filter import append_column


def _operator(function: Callable[[Any, Any], Any]) -> Any:
    """Return a method that applies an operator of two operands to each batch."""

    def method(self: RowMethods, other: Any) -> Any:
        title = function.__name__.strip("_")
        _check_operand(title, other)
        if isinstance(other, RowMethods) and other.ndim != self.ndim:
            # pandas would align rows with columns
            raise TypeError(
                f"{title} of a stream: a frame and a series have no rows to meet; take one column of the frame, or "
                f"make a frame of the series by to_frame()"
            )
        return self.map_batches(function, other)

    return method


def _reflected(function: Callable[[Any, Any], Any]) -> Any:
    """Return a method that applies an operator with the stream as second operand."""

    def method(self: RowMethods, other: Any) -> Any:
        _check_operand(function.__name__.strip("_"), other)
        return self.map_batches(_swapped, function, other)

    return method


def _check_operand(title: str, other: Any) -> None:
    """Raise a TypeError for rows that are not a stream: each batch would get all of them."""
    if not isinstance(other, RowMethods) and pd.api.types.is_list_like(other):
        raise TypeError(
            f"{title} of a stream: rows must be a stream of the same rows, found {shown(other)}"
        )


def _swapped(batch: Any, function: Callable[[Any, Any], Any], other: Any) -> Any:
    return function(other, batch)


class RowMethods:
    """The methods of `Stream` that treat each row independently of the others."""

    if not TYPE_CHECKING:  # with it, type checkers would accept any name

        def __getattr__(self, name: str) -> NoReturn:
            """Raise an AttributeError that names what a stream has instead of a method of frames or series."""
            if name.startswith("_"):
                raise AttributeError(name)
            if hasattr(type(self), name):
                way_out = ""  # a property of frames on a series, or the other way round
            elif self.ndim == 2 and name in self.columns:
                way_out = f"; take a column by rows[{name!r}]"
            elif hasattr(type(self.gpuscan), name):
                way_out = f"; use rows.gpuscan.{name}"
            elif hasattr(pd.DataFrame, name) or hasattr(pd.Series, name):
                way_out = (
                    "; give map_batches a function of batches for what looks at each row by itself, or call it on "
                    "compute(), which gives all rows"
                )
            else:
                way_out = ""
            raise AttributeError(f"a stream has no {name}{way_out}")

    @property
    def ndim(self) -> int:
        """2 for a frame, 1 for a series."""
        raise NotImplementedError

    def map_batches(self, function: Callable[..., Any], *given: Any, **options: Any) -> Self:
        """Apply a function to each batch."""
        raise NotImplementedError

    def assign(self, **columns: Any) -> Self:
        """Return the rows with more columns: streams of the same rows, functions of a batch, or scalars.

        Examples
        --------
        >>> import pandas as pd, dask_gpuscan
        >>> rows = dask_gpuscan.stream([pd.DataFrame({"x": [1, 2]})])
        >>> rows.assign(y=rows["x"] * 10, z=lambda batch: batch.x + batch.y).compute()
           x   y   z
        0  1  10  11
        1  2  20  22
        """
        found = self
        for name, column in columns.items():
            if isinstance(column, RowMethods):
                found = found.map_batches(append_column, column, name, label="assign")
            else:
                _check_operand("assign", column)
                found = found.map_batches(assigned, name, column, label="assign")
        return found

    def to_frame(self, name: Hashable = None) -> Self:
        """Return a series as a frame of one column."""
        if self.ndim == 2:
            raise TypeError("to_frame is for a series, found a stream of frames")
        if not is_name(name):
            raise TypeError(f"name must be the name of a column, found {shown(name)}")
        return self.map_batches(_method, "to_frame", *(() if name is None else (name,)))

    def rename(self, **options: Any) -> Self:
        """Rename columns, or a series, with the options of the library's own method."""
        if options.get("inplace"):
            raise TypeError("rename of a stream: inplace is not taken, as a stream is not changed")
        try:
            return self.map_batches(_renamed, options)
        except (KeyError, TypeError, ValueError) as error:  # the library's, for the empty frame
            given = ", ".join(f"{name}={shown(value)}" for name, value in options.items())
            raise TypeError(
                f"rename takes a dict of columns to names, or a function of a name, found {given}: {first_line(error)}"
            ) from error

    def where(self, condition: Self, other: Any) -> Self:
        """Return the values where a stream of bool is true, and another value elsewhere."""
        if not isinstance(condition, RowMethods):
            raise TypeError(f"condition must be a stream of bool, found {shown(condition)}")
        _check_operand("where", other)
        return self.map_batches(_where, condition, other)

    def isna(self) -> Self:
        """Return where values are null."""
        return self.map_batches(_method, "isna")

    def notna(self) -> Self:
        """Return where values are not null."""
        return self.map_batches(_method, "notna")

    def astype(self, dtype: Any) -> Self:
        """Cast the values to another dtype; for a frame, a dict may name the dtype of each column."""
        try:
            return self.map_batches(_method, "astype", dtype)
        except (KeyError, TypeError, ValueError) as error:  # the library's, for the empty frame
            raise TypeError(
                f"dtype must be a dtype, or a dict of columns to dtypes, found {shown(dtype)}: {first_line(error)}"
            ) from error

    __add__, __radd__ = _operator(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _operator(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _operator(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _operator(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _operator(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__ = _operator(operator.mod), _reflected(operator.mod)
    __and__, __rand__ = _operator(operator.and_), _reflected(operator.and_)
    __or__, __ror__ = _operator(operator.or_), _reflected(operator.or_)
    __xor__, __rxor__ = _operator(operator.xor), _reflected(operator.xor)
    __lt__, __le__ = _operator(operator.lt), _operator(operator.le)
    __gt__, __ge__ = _operator(operator.gt), _operator(operator.ge)
    __eq__, __ne__ = _operator(operator.eq), _operator(operator.ne)
    __hash__ = object.__hash__

    def __neg__(self) -> Self:
        return self.map_batches(operator.neg)

    def __invert__(self) -> Self:
        return self.map_batches(operator.invert)

    def __bool__(self) -> bool:
        raise TypeError("a stream is neither true nor false; it has no rows yet")


def assigned(batch: Any, name: str, column: Any) -> Any:
    """Return a batch with one more column: the answer of a function of the batch, or a scalar."""
    return batch.assign(**{name: column})


def _method(batch: Any, name: str, *given: Any) -> Any:
    return getattr(batch, name)(*given)


def _renamed(batch: Any, options: Any) -> Any:
    return batch.rename(**options)


def _where(batch: Any, condition: Any, other: Any) -> Any:
    return batch.where(condition, other)
