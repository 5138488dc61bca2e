"""Predicates that are Python functions of columns: checked, compared by their content, and compiled for kernels.

Numba compiles them; what it cannot compile is refused in words that say what can be. This module must never know
frames' partitions, nor run a function on rows.
"""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
from collections.abc import Callable, Hashable
from types import CodeType, FunctionType
from typing import Any

import cloudpickle
import numpy as np

from ... import kernels
from ...frames.messages import ColumnError
from ...kernels.compiler.frozen_functions import freeze
from ...kernels.compiler.function_fingerprint import fingerprint
from ...kernels.late_dataclass import dataclass
from ...kernels.messages import hint, not_among
from ...kernels.operators.inference import Endless


@dataclass(frozen=True, eq=False)
class Function:
    """A predicate that is a Python function; its parameters are named like the columns that it takes."""

    function: Callable[..., Any]
    columns: tuple[Hashable, ...]

    @functools.cached_property
    def token(self) -> str:
        """Differs between contents of functions."""
        return fingerprint(self.function, self.columns)

    @property
    def key(self) -> tuple[Any, ...]:
        """Differs between functions in this process."""
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


OF_FRAME = (
    "; a function takes columns by name: of the whole frame, give its answer, a boolean Series"
)
"""The end of the message about a function whose parameter may be meant for the frame."""


@functools.lru_cache(maxsize=256)
def check_defined(function: FunctionType, title: str) -> None:
    """Raise a TypeError that names a name which a frozen function uses and which was not defined."""
    codes = [function.__code__]
    for code in codes:
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
    steps = (step for code in codes for step in dis.get_instructions(code))
    for name in dict.fromkeys(step.argval for step in steps if step.opname == "LOAD_GLOBAL"):
        if name not in function.__globals__ and not hasattr(builtins, name):
            raise TypeError(f"{title} uses the name {name!r}, which is not defined")


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
                of_frame = "" if len(columns) > 1 or hint(name, names) else OF_FRAME
                raise ColumnError(f"predicate: parameter {not_among(name, names)}{of_frame}")
            if names.count(name) > 1:
                raise ValueError(
                    f"predicate: parameter {name!r} names a column that is there twice; rename one"
                )
    frozen = freeze(plain)
    check_defined(frozen, "predicate")
    return Function(frozen, columns)


def _first_but_zero(a: Any, b: Any) -> Any:
    return b if a == 0 else a


@functools.lru_cache(maxsize=256)
def answer_dtype(function: Any, dtypes: tuple[np.dtype, ...], title: str) -> np.dtype:
    """Return the dtype of the answers of a frozen function; a TypeError if it does not compile."""
    try:
        lifts = kernels.Operator(_first_but_zero, False, function, name=title, inputs=len(dtypes))
        found = kernels.signature(lifts, dtypes)
    except (Endless, ImportError):  # of the compiler
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
