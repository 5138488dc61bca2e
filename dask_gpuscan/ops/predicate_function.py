"""Predicates that are Python functions of columns: checked, told apart by their content, and compiled for kernels.

Numba compiles them; what it cannot compile is refused in words that say what can be. This module must never know
frames' partitions, nor run a function on rows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle
import numpy as np

from .. import kernels
from ..frames.protocol import Library, View
from ..frames.registry import column_of
from ..kernels.messages import not_among
from ..kernels.selection import counter_of
from ..kernels.user_functions import fingerprint, freeze


@dataclass(frozen=True, eq=False)
class Function:
    """A predicate that is a Python function; its parameters are named like the columns that it takes."""

    function: Callable[..., Any]
    columns: tuple[Hashable, ...]

    @functools.cached_property
    def token(self) -> str:
        """What tells this function from any other content."""
        return fingerprint(self.function, self.columns)

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from others, in this process."""
        return self.function, self.columns

    def __dask_tokenize__(self) -> tuple[str, str]:
        return ("dask_gpuscan.Function", self.token)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    def __reduce__(self) -> Any:
        return (_load, (cloudpickle.dumps(self.function), self.columns))


@functools.lru_cache(maxsize=256)
def _load(pickled: bytes, columns: tuple[Hashable, ...]) -> Function:
    return Function(cloudpickle.loads(pickled), columns)


def function_of(predicate: Any, names: list[Any], ndim: int) -> Function:
    """Return a Python function as a predicate of columns with these names, if its parameters are among them."""
    plain = getattr(predicate, "py_func", predicate)
    if not inspect.isfunction(plain):
        raise TypeError(f"predicate must be a function written in Python, found {predicate!r}")
    parameters = inspect.signature(plain).parameters.values()
    columns = tuple(p.name for p in parameters if p.default is p.empty)
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters) or not columns:
        raise TypeError(f"predicate must take columns by name, found {inspect.signature(plain)}")
    if ndim == 1:
        if len(columns) != 1:
            raise TypeError(f"predicate of a Series must take one parameter, found {len(columns)}")
    else:
        for name in columns:
            if name not in names:
                raise ValueError(f"predicate: parameter {not_among(name, names)}")
            if names.count(name) > 1:
                raise ValueError(
                    f"predicate: parameter {name!r} names a column that is there twice; rename one"
                )
    return Function(freeze(plain), columns)


def shown(library: Library, frame: Any, names: Sequence[Hashable], title: str) -> list[View]:
    """Show columns of numbers to a function; their nulls are those that are no numbers."""
    views = []
    for name in names:
        column = column_of(frame, name)
        if not library.is_number(column.dtype):
            raise TypeError(
                f"{title} takes column {name!r} of dtype {column.dtype}: functions take numbers and bool; "
                f"give a string or a boolean Series"
            )
        layout = library.layout(column.dtype)
        assert layout is not None
        view = layout.raw(library.array(column))
        views.append(view if layout.nulls == "mask" else replace(view, nulls=None))
    return views


def compiled(function: Any, views: Sequence[View], numbers: list[Any], title: str) -> Any:
    """A function of the elements of some columns and of numbers, for kernels; rows with nulls are kept out."""
    inputs, nulls = [v.values for v in views], [v.nulls for v in views]
    dtypes = [np.asarray(x).dtype if np.isscalar(x) else x.dtype for x in (*inputs, *numbers)]
    counter = _counter(function, tuple(dtypes), title)
    return kernels.Predicate(counter, [*inputs, *numbers], [*nulls, *(None for _ in numbers)])


def _first_but_zero(a: Any, b: Any) -> Any:
    return b if a == 0 else a


@functools.lru_cache(maxsize=256)
def _counter(function: Any, dtypes: tuple[np.dtype, ...], title: str) -> kernels.Operator:
    """Return what counts rows by a frozen function; a TypeError if it does not compile, or is not of bool."""
    found = answer_dtype(function, dtypes, title)
    if found != np.bool_:
        raise TypeError(f"{title} must be boolean, found a function that returns {found}")
    return counter_of(function, title)


@functools.lru_cache(maxsize=256)
def answer_dtype(function: Any, dtypes: tuple[np.dtype, ...], title: str) -> np.dtype:
    """Return the dtype of the answers of a frozen function; a TypeError if it does not compile."""
    try:
        lifts = kernels.Operator(_first_but_zero, False, function, name=title, inputs=len(dtypes))
        found = kernels.signature(lifts, dtypes)
    except kernels.Endless:
        raise
    except Exception as error:  # whatever Python or Numba raises for code that is no arithmetic
        reason = str(error).removeprefix(f"{title}: ").partition(" File ")[0].strip(" .")
        if isinstance(error, RecursionError):  # from module to module
            reason = "it calls what is no arithmetic"
        raise TypeError(
            f"{title} cannot be compiled for elements of {', '.join(map(str, dtypes))}: {reason}. A function "
            f"takes numbers and bool, and may use arithmetic, comparisons, conditionals, math, constants and "
            f"functions of the same kind, but no files, objects or strings; for anything else give a boolean "
            f"Series or a text"
        ) from error
    if not found.scalar_output:
        raise TypeError(f"{title} must return one number, found a tuple")
    return found.outputs[0]
