"""Operators that restart at head flags among their inputs, or at heads that their states count."""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..compiler.pack import written
from ..messages import shown
from .operator import Operator


def segmented(op: Operator) -> Operator:
    """Return the operator that restarts `op` wherever a head flag is true.

    Parameters
    ----------
    op : Operator
        Any operator. The new one takes one more input, first: the head flags.

    Returns
    -------
    Operator
        Its state is ``(head, *state of op)``.

    Notes
    -----
    The construction is that of Blelloch, *Prefix sums and their applications* (CMU-CS-90-190, 1.5):
    a scan within segments is a scan with a flag in its state.

    Examples
    --------
    >>> import dask_gpuscan, numpy as np
    >>> head = np.array([True, False, True, False])
    >>> dask_gpuscan.scan((head, np.array([1, 2, 3, 4])), segmented(dask_gpuscan.add))
    array([1, 3, 3, 7])
    """
    if not isinstance(op, Operator):
        raise TypeError(f"op must be an Operator, found {shown(op)}")
    base_combine, base_lift, base_lower = op.combine, op.lift, op.lower

    def identity(*dtypes: np.dtype) -> Any:
        inner = op.identity_for(*dtypes[1:])
        return (False, *inner) if isinstance(inner, tuple) else (False, inner)

    def combine_scalar(a, b):
        return b if b[0] else (a[0], base_combine(a[1], b[1]))

    def combine_tuple(a, b):
        return b if b[0] else (a[0], *base_combine(a[1:], b[1:]))

    # for any dtype, the identity has the form of the state
    is_tuple = isinstance(op.identity_for(*[np.dtype("f8")] * op.inputs), tuple)
    return Operator(
        combine_tuple if is_tuple else combine_scalar,
        identity,
        _segmented_lift(base_lift, op.inputs, is_tuple),
        _segmented_lower(base_lower, is_tuple),
        name=f"segmented({op.name})",
        inputs=op.inputs + 1,
        null_identity=op.null_identity,
        in_order=op.in_order,
        check=op.check,
    )


def _segmented_lift(base: Any, inputs: int, is_tuple: bool) -> Callable[..., Any]:
    elements = ", ".join(f"x{i}" for i in range(inputs))
    state = elements if base is None else f"{'*' * is_tuple}base({elements})"
    text = f"lambda base: lambda head, {elements}: (head != 0, {state})"
    made: Callable[..., Any] = eval(written(text))(base)
    return made


def _segmented_lower(base: Any, is_tuple: bool) -> Callable[..., Any]:
    def scalar(s):
        return s[1]

    def lowered_scalar(s):
        return base(s[1])

    def state(s):
        return s[1:]

    def lowered_state(s):
        return base(s[1:])

    if is_tuple:
        return state if base is None else lowered_state
    return scalar if base is None else lowered_scalar


@lru_cache(maxsize=1024)
def counted_segments(op: Operator, is_tuple: bool) -> Operator:
    """Return the operator on ``(heads, *state)``: `op` restarts at heads, which are counted.

    Parameters
    ----------
    op : Operator
    is_tuple : bool
        Whether its state is a tuple.

    Notes
    -----
    `segmented` with a count instead of the flag; it has no lift, as it only combines states.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN
    >>> from dask_gpuscan.kernels.scan import fold
    >>> fold(counted_segments(BUILT_IN["add"], False), [(1, 5), (0, 2), (2, 4), (0, 1)])
    (np.int64(3), np.int64(5))
    """
    base = op.combine

    def scalars(a, b):
        return (a[0] + b[0], base(a[1], b[1]) if b[0] == 0 else b[1])

    def tuples(a, b):
        state = base(a[1:], b[1:]) if b[0] == 0 else b[1:]
        return (a[0] + b[0], *state)

    return Operator(tuples if is_tuple else scalars, (0, 0), name=f"counted_segments({op.name})")


def _latest(a, b):
    return (a[0] + b[0], a[1] if b[0] == 0 else b[1])


LATEST = Operator(_latest, (0, 0), name="latest")
"""State: the number of heads, and the position of the latest head."""
