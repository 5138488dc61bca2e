"""What ``scan`` takes as a dict: several scans, each of a column, of a text or of a function of columns."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..frames.keys import is_name
from ..kernels.messages import not_among, shown
from ..ops.fused_plan import Entry, entitled
from ..ops.predicate_function import Function, function_of
from ..ops.predicate_text import Expression, variables_of
from ..ops.predicate_variables import captured
from ..ops.scan_inputs import Column, Input
from ..ops.scan_options import ScanOptions
from .arguments import check_operator, checked_options
from .caller import caller_variables
from .tables import unwrapped

WHICH = ("inclusive", "exclusive")
"""What the last item of an entry says of its answers."""

ACCEPTED = "(operator, column, text or function) or (operator, ..., 'exclusive')"


def scan_entries(
    scans: Mapping[Hashable, Any],
    options: ScanOptions,
    names: list[Hashable],
    ndim: int,
    local_dict: Mapping[str, Any] | None,
) -> list[Entry]:
    """Return the entries that a dict stands for.

    Raises
    ------
    TypeError, ValueError
        For what is no entry, naming it.
    """
    if not scans:
        raise ValueError("scan takes at least one entry, found an empty dict")
    options = checked_options(options, list(scans))
    found = []
    for name, asked in scans.items():
        own = replace(options, initial=options.initial_of(name))
        with entitled(shown(name)):
            found.append(_entry(name, asked, own, names, ndim, local_dict))
    return found


def _entry(
    name: Hashable,
    asked: Any,
    options: ScanOptions,
    names: list[Hashable],
    ndim: int,
    local_dict: Mapping[str, Any] | None,
) -> Entry:
    if not isinstance(asked, tuple) or not 2 <= len(asked) <= 3:
        raise TypeError(f"an entry is {ACCEPTED}, found {shown(asked)}")
    op, of, *which = asked
    check_operator(op)
    if which:
        if which[0] not in WHICH:
            raise ValueError(
                f"an entry ends with 'exclusive' or 'inclusive', found {shown(which[0])}"
            )
        options = replace(options, exclusive=which[0] == "exclusive")
    several = of if isinstance(of, list) else [of]
    if len(several) != op.inputs:
        wanted = "one column, text or function" if op.inputs == 1 else f"a list of {op.inputs}"
        raise TypeError(f"{op.name} takes {wanted}, found {shown(of)}")
    inputs = tuple([scan_input(one, names, ndim, local_dict) for one in several])
    return Entry(name, op, inputs, options)


def scan_input(
    of: Any, names: Sequence[Hashable], ndim: int, local_dict: Mapping[str, Any] | None
) -> Input:
    """Return a column by its name, or else what a text or a function computes of columns.

    Raises
    ------
    TypeError
        For anything else.
    ValueError
        For names that are not there, and texts that are none.
    """
    if is_name(of) and of in names:
        if list(names).count(of) > 1:
            raise ValueError(f"column {shown(of)} is there twice; rename one of them first")
        return Column(of)
    if isinstance(of, str):
        variables = caller_variables(variables_of(of), local_dict)
        plain = {name: unwrapped(value) for name, value in variables.items()}
        text = Expression(of, captured(plain))
        text.check(list(names))
        return text
    if inspect.isfunction(of) or hasattr(of, "py_func"):
        function = function_of(of, list(names), ndim)
        return Function(function.function, tuple(names)) if ndim == 1 else function
    if is_name(of) and not callable(of):
        raise ValueError(f"column {not_among(of, list(names))}")
    raise TypeError(
        f"it must be a column, a text or a function of columns, found {shown(of)}; assign a Series as a column first"
    )
