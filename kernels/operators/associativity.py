"""Checks the laws that scans rely on, by a search for counter-examples among samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..messages import shown
from ..scalars import is_number
from .operator import NUMBERS, Operator


def counter_example(
    op: Operator,
    combine: Callable[[Any, Any], Any],
    states: Sequence[Any],
    same: Callable[[Any, Any], bool],
) -> str | None:
    """Return a message about the first three states that are not associative; None if there are none."""
    for a, b, c in product(states, repeat=3):
        one, other = combine(combine(a, b), c), combine(a, combine(b, c))
        if not same(one, other):
            x, y, z, left, right = (repr(bare(state)) for state in (a, b, c, one, other))
            return (
                f"{op.name} is not associative: combine(combine({x}, {y}), {z}) is {left}, "
                f"combine({x}, combine({y}, {z})) is {right}"
            )
    return None


def bare(state: Any) -> Any:
    """Return a state as Python numbers."""
    if isinstance(state, tuple):
        return tuple(map(bare, state))
    return state.item() if isinstance(state, np.generic) else state


def check_associative(op: Operator, samples: Sequence[Any], *, rtol: float = 1e-9) -> None:
    """Look for a counter-example to the laws that a scan relies on.

    Parameters
    ----------
    op : Operator
        The operator to check.
    samples : sequence
        Elements; for an operator of several inputs, tuples of elements. All triples are tried.
    rtol : float, default 1e-9
        Relative tolerance for floating-point states.

    Raises
    ------
    ValueError
        With the counter-example, if ``combine`` is not associative on the samples, or changes a state that it
        combines with the identity.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> check_associative(BUILT_IN["add"], [1, 2, 3])
    >>> check_associative(Operator(lambda a, b: a - b, 0, name="minus"), [1, 2, 3])
    Traceback (most recent call last):
        ...
    ValueError: minus is not associative: combine(combine(1, 1), 1) is -1, combine(1, combine(1, 1)) is 1
    """
    if not isinstance(op, Operator):
        raise TypeError(f"op must be an Operator, found {shown(op)}")
    if not is_number(rtol) or not rtol >= 0:
        raise ValueError(f"rtol must be a number that is not negative, found {shown(rtol)}")
    try:
        elements = [e if isinstance(e, tuple) else (e,) for e in samples]
    except TypeError:
        raise TypeError(f"samples must be a list of elements, found {shown(samples)}") from None
    if not all(isinstance(x, NUMBERS) for element in elements for x in element):
        raise TypeError(f"samples must be numbers, or tuples of numbers, found {shown(samples)}")
    if any(len(e) != op.inputs for e in elements):
        raise ValueError(f"samples must be elements of {op.inputs} numbers for {op.name}")
    if not elements:
        raise ValueError("samples must hold at least one element")
    dtypes = [np.asarray(x).dtype for x in elements[0]]
    identity = op.identity_for(*dtypes)

    def lift(element: tuple[Any, ...]) -> Any:
        if op.lift is not None:
            return op.lift(*element)
        return element if op.inputs > 1 else element[0]

    def same(x: Any, y: Any) -> bool:
        return bool(np.all(np.isclose(x, y, rtol=float(rtol), atol=0, equal_nan=True)))

    states = [lift(e) for e in elements]
    found = counter_example(op, op.combine, states, same)
    if found:
        raise ValueError(found)
    for s in states:
        for left, right in ((identity, s), (s, identity)):
            if not same(op.combine(left, right), s):
                raise ValueError(
                    f"{op.name} has no identity {identity!r}: combine({left!r}, {right!r}) is "
                    f"{op.combine(left, right)!r}, not {s!r}"
                )
