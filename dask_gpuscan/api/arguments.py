"""Checks of arguments that several public functions take: each names the argument and what is accepted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ..frames.keys import is_name
from ..frames.messages import FLAG, HINT, ColumnError
from ..frames.messages import check_flags as check_flags  # from here to all of this folder
from ..kernels import BUILT_IN, Operator
from ..kernels.messages import hint, name_list, not_among, shown
from ..kernels.scalars import is_integer, is_number
from ..ops.predicates.function import check_defined
from ..ops.scan.column_scan import Scan
from ..ops.scan.kernel_scan import ScanArguments
from ..ops.scan.plan import Bounds


def check_limit(limit: Any) -> int | None:
    """Return a limit of rows as an int, or None."""
    if limit is None:
        return None
    if not is_integer(limit) or limit < 1:
        raise ValueError(f"limit must be a positive integer or None, found {shown(limit)}")
    return min(int(limit), 2**62)


def check_count(name: str, count: Any, accepted: str = "an integer") -> int:
    """Return a number of rows, or a place among them, as an int; raises a TypeError for anything else."""
    if not is_integer(count):
        raise TypeError(f"{name} must be {accepted}, found {shown(count)}")
    return max(-(2**62), min(int(count), 2**62))


def check_choice(name: str, choice: Any, accepted: Sequence[Any]) -> None:
    """Check that an argument is one of a few values; raises a ValueError that names them."""
    for one in accepted:
        if choice is one or (isinstance(choice, str) and choice == one):
            return
    listed = ", ".join(map(repr, accepted))
    found = f"{shown(choice)}{hint(choice, accepted)}"
    raise ValueError(f"{name} must be one of {listed}, found {found}")


def check_inputs(op: Operator, columns: int) -> None:
    """Check that an operator takes so many columns; raises a TypeError that says how many it takes."""
    if columns != op.inputs:
        raise TypeError(
            f"{op.name} takes {op.inputs} input columns, found {columns}; choose them in order"
        )


def check_keywords(function: str, given: Iterable[str], accepted: Collection[str]) -> None:
    """Check that a function takes the given keywords; raises a TypeError that names those it takes."""
    for name in given:
        if name not in accepted:
            raise TypeError(
                f"{function} takes {name_list(accepted)}, found {shown(name)}{hint(name, accepted)}"
            )


def check_column(argument: str, name: Any, known: Sequence[Hashable]) -> None:
    """Check that an argument names one column; raises a ValueError that lists the columns."""
    if not is_name(name) or name not in known:
        raise ColumnError(f"{argument}={not_among(name, known)}")
    if known.count(name) > 1:
        raise ValueError(f"{argument} names {shown(name)}, which is there twice")


def check_choice_of_columns(columns: Any, known: Sequence[Hashable]) -> None:
    """Check that a column, or each of a list, is there once; raises a ValueError that lists the columns."""
    for name in columns if isinstance(columns, list) else [columns]:
        if not is_name(name) or name not in known:
            raise ColumnError(not_among(name, known))
        if known.count(name) > 1:
            raise ValueError(f"column {shown(name)} is there twice; rename one of them first")


def check_clustered(clustered: Any) -> None:
    """Check that the argument `clustered` is True, False, "check" or None."""
    checks = isinstance(clustered, str) and clustered == "check"
    if not (checks or clustered is None or isinstance(clustered, FLAG)):
        raise ValueError(
            f"clustered must be True or False, 'check' or None, found {shown(clustered)}"
        )


@contextmanager
def hints(is_series: bool, numeric_only: bool | None) -> Iterator[None]:
    """Add a way out to errors in the block that refuse a column.

    Parameters
    ----------
    is_series : bool
        Whether the column is a series, so that nothing can be left out.
    numeric_only : bool, optional
        The argument of that name; None for methods without.
    """
    try:
        yield
    except TypeError as error:
        raise_with_hint(error, is_series, numeric_only)
        raise


def raise_with_hint(error: TypeError, is_series: bool, numeric_only: bool | None) -> None:
    """Raise an error that refuses a column with a way out; see `hints`. Any other error is the caller's to raise."""
    text = str(error)
    if not text.endswith(HINT):
        return
    if is_series:
        text = text.removesuffix(", or leave it out")
    elif numeric_only is not None and not numeric_only:
        text += " with numeric_only=True"
    raise TypeError(text) from error.__cause__


def check_duration(
    name: str, given: Any, accepted: str, least: pd.Timedelta | None = None
) -> pd.Timedelta:
    """Return a duration, in nanoseconds; raises a ValueError for numbers, and for durations shorter than the least.

    Examples
    --------
    >>> check_duration("gap", "30min", "a duration")
    Timedelta('0 days 00:30:00')
    """
    try:
        found = (
            pd.NaT
            if isinstance(given, FLAG) or is_number(given)
            else pd.Timedelta(given).as_unit("ns")
        )
    except (AttributeError, TypeError, ValueError, OverflowError):
        found = pd.NaT
    if found is pd.NaT or (least is not None and found < least):
        raise ValueError(f"{name} must be {accepted}, found {shown(given)}")
    return found


def check_dtype(dtype: Any) -> Any:
    """Return a dtype, or a type of Arrow, as a dtype of pandas; or None."""
    if dtype is None:
        return None
    if isinstance(dtype, pa.DataType):
        return pd.ArrowDtype(dtype)
    try:
        return pd.api.types.pandas_dtype(dtype)
    except (TypeError, ValueError):
        raise TypeError(f"dtype must be a dtype, found {shown(dtype)}") from None


def sum_of(reproducible: Any) -> str:
    """Return the name of the operator of sums.

    Raises
    ------
    ValueError
        If `reproducible` is neither True nor False.
    """
    check_flags(reproducible=reproducible)
    return "add_reproducible" if reproducible else "add"


def check_bounds(lower: Any, upper: Any, reproducible: Any) -> Bounds:
    """Return the bounds that a sum is clamped to at each step, None for no bounds.

    Raises
    ------
    TypeError
        For a bound that is not a number.
    ValueError
        For NaN, for a lower bound above the upper one, and for bounds of reproducible sums.
    """
    for name, bound in (("lower", lower), ("upper", upper)):
        if bound is not None and not is_number(bound):
            raise TypeError(f"{name} must be a number or None, found {shown(bound)}")
        if bound is not None and bound != bound:
            raise ValueError(f"{name} must be a number or None, found NaN")
    if lower is not None and upper is not None and lower > upper:
        raise ValueError(
            f"lower must not be greater than upper, found {shown(lower)} and {shown(upper)}"
        )
    lower, upper = None if lower == -np.inf else lower, None if upper == np.inf else upper
    if lower is None and upper is None:
        return None
    if reproducible:
        raise ValueError("lower and upper go with reproducible=False only")
    return lower, upper


OPERATORS = {
    "cumprod": "multiply",
    "cummax": "maximum",
    "cummin": "minimum",
    "cumany": "logical_any",
    "cumall": "logical_all",
}
"""The operators of methods that accumulate, except for sums."""


def cumulative(
    label: str,
    in_groups: bool,
    numeric_only: Any,
    exclusive: Any,
    reverse: Any,
    initial: Any = None,
    skipna: Any = True,
    dtype: Any = None,
    reproducible: Any = False,
    lower: Any = None,
    upper: Any = None,
) -> Scan:
    """Return the scan of the method of this name, given its arguments; without `numeric_only`, that is None."""
    if numeric_only is not None:
        check_flags(numeric_only=numeric_only)
    options = ScanArguments(exclusive, initial, reverse, skipna, dtype)
    op = sum_of(reproducible) if label == "cumsum" else OPERATORS[label]
    bounds = check_bounds(lower, upper, reproducible)
    options = replace(options, dtype=check_dtype(dtype))
    return Scan(label, BUILT_IN[op], options, in_groups, bounds)


def checked_options(options: ScanArguments, columns: Callable[[], list[Hashable]]) -> ScanArguments:
    """Return options with a dtype of pandas; raises an error for initial values of unknown columns."""
    if options.dtype is not None:
        options = replace(options, dtype=check_dtype(options.dtype))
    if not isinstance(options.initial, Mapping):
        return options
    names = columns()
    for name in options.initial:
        if name not in names:
            raise ColumnError(f"initial: {not_among(name, names)}")
    return replace(options, initial=dict(options.initial))


def with_initial(scan: Scan, columns: Callable[[], list[Hashable]]) -> Scan:
    """Return a scan with checked initial values; raises an error for those of unknown columns."""
    initial = scan.options.initial
    if initial is None or not isinstance(initial, Mapping):
        return scan
    return replace(scan, options=checked_options(scan.options, columns))


def check_operator(op: Any) -> Operator:
    """Return an operator; raises a TypeError for anything else."""
    if not isinstance(op, Operator):
        raise TypeError(
            f"op must be an Operator made by dask_gpuscan.operator, or one of the built-in "
            f"dask_gpuscan.{{{', '.join(BUILT_IN)}}}; found {shown(op)}"
        )
    for function in (op.combine, op.lift, op.lower):
        if isinstance(function, FunctionType):
            check_defined(function, op.name)
    return op


def check_ddof(ddof: Any) -> int:
    """Return delta degrees of freedom as an int."""
    if not is_integer(ddof) or abs(int(ddof)) >= 2**31:
        raise ValueError(f"ddof must be an integer of at most 32 bits, found {shown(ddof)}")
    return int(ddof)


FUNCTIONS: dict[Any, str] = {
    len: "size",
    max: "max",
    min: "min",
    sum: "sum",
    **{
        getattr(np, name): name
        for name in ("sum", "prod", "max", "min", "mean", "any", "all", "cumsum", "cumprod")
    },
    **{getattr(np, f"nan{name}"): name for name in ("sum", "prod", "max", "min", "mean", "median")},
}
"""Functions, and the names of the methods that give the same answers."""


def method_name(method: str, func: Any) -> Any:
    """Return the name of the method that a function stands for, and anything else as it is.

    Raises
    ------
    TypeError
        For a function that stands for no method.
    """
    if not callable(func):
        return func
    name = getattr(func, "__name__", None)
    if isinstance(func, Hashable) and func in FUNCTIONS:
        return FUNCTIONS[func]
    if name is not None and getattr(pd.Series, name, None) is func:
        return name
    raise TypeError(
        f"{method} takes the name of a method, found the function {name or shown(func)}; combine answers of names, as "
        f"in x - groups.transform('mean'), or make an operator with dask_gpuscan.operator, for reduce(op) or scan(op)"
    )


def named_reductions(
    columns: list[Hashable], as_series: bool, functions: Any, named: Mapping[str, Any]
) -> tuple[list[tuple[Hashable, Hashable, str]], bool]:
    """Return the reductions of an ``agg``, each as (label, column, reduction), and whether labels have two levels."""
    if (functions is None) == (not named):
        raise TypeError(
            "agg takes either names of reductions or keywords name=(column, reduction), and no options; methods take "
            "these, as in std(ddof=0)"
        )
    if named:
        return [
            (keyword, *_pair(keyword, asked, columns, as_series))
            for keyword, asked in named.items()
        ], False
    if not isinstance(functions, Mapping):
        functions = dict.fromkeys(columns, functions)
    wanted: list[tuple[Hashable, Hashable, str]] = []
    lists = any(isinstance(names, (list, tuple)) for names in functions.values())
    for column, names in functions.items():
        if callable(names):
            method_name("agg", names)
        elif not isinstance(names, (str, list, tuple)):
            raise TypeError(f"agg takes names of reductions, found {shown(names)}")
        several = isinstance(names, (list, tuple))
        if several and not 0 < len(names) == len(set(map(repr, names))):
            raise ValueError(f"agg takes each name once, and at least one, found {shown(names)}")
        for name in names if several else [names]:
            label: Hashable = column
            if lists:
                title = getattr(name, "__name__", name)
                label = title if as_series else (column, title)
            wanted.append((label, column, method_name("agg", name)))
    return wanted, lists and not as_series


def _pair(
    keyword: str, asked: Any, columns: list[Hashable], as_series: bool
) -> tuple[Hashable, str]:
    """Return the column and the reduction that a keyword of ``agg`` asks for; a series needs the reduction only."""
    if isinstance(asked, pd.NamedAgg) and not (
        getattr(asked, "args", ()) or getattr(asked, "kwargs", {})
    ):
        return asked.column, method_name("agg", asked.aggfunc)
    if as_series and (isinstance(asked, str) or callable(asked)):
        return columns[0], method_name("agg", asked)
    if not isinstance(asked, tuple) or len(asked) != 2:
        raise TypeError(f"{keyword} must be (column, reduction), found {shown(asked)}")
    return asked[0], method_name("agg", asked[1])
