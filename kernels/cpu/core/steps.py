"""The inner loops of scans and reductions, over single elements and over four lanes of elements at once.

Elements are visited along a *line*: positions ``start + i * stride`` of flat arrays. Four *lanes* are walked at the
same time, so that four combinations overlap instead of waiting for each other.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

from typing import NamedTuple

import numpy as np

from ...compiler.functions import ANSWERS, INPUTS, ROLES, STATES, njit
from ...operators.calls import answer, combine, identity_of, lift
from ...operators.operator import Operator
from ...operators.signature import State
from ...options import Exclusive
from .elements import cast, is_null, load, store

Arrays = np.ndarray | tuple[np.ndarray, ...]
KernelNulls = None | bool | tuple[np.ndarray, int, int, int]
"""None, whether nulls are in band, or the fields of a `Mask`."""


class OperatorInputs(NamedTuple):
    """The operator, the arrays with their nulls, and the identity."""

    op: Operator
    xs: Arrays
    nulls: KernelNulls
    identity: State


ROLES[OperatorInputs] = {"xs": INPUTS, "identity": STATES}


class Output(NamedTuple):
    """The output of a scan: its arrays, the value for missing elements if they are marked, and the state to write."""

    outs: Arrays
    null_value: State
    mark_nulls: bool
    exclusive: Exclusive


ROLES[Output] = {"outs": ANSWERS, "null_value": ANSWERS}


@njit
def state_of(source, element, at):
    """Return the state of the element at a position; the identity if the element is missing."""
    state = cast(source.identity, lift(source.op, element))
    return identity_of(source.op, source.identity) if is_null(source.nulls, element, at) else state


@njit
def reduce_step(source, state, at):
    """Combine the element at one position into `state`."""
    return cast(
        source.identity, combine(source.op, state, state_of(source, load(source.xs, at), at))
    )


@njit
def scan_step(source, output, state, at):
    """Combine the element at one position into `state` and, with an output, write the answer there."""
    element = load(source.xs, at)
    lifted = cast(source.identity, lift(source.op, element))
    missing = is_null(source.nulls, element, at)
    lifted = identity_of(source.op, source.identity) if missing else lifted
    after = cast(source.identity, combine(source.op, state, lifted))
    if output is not None:
        written = answer(source.op, output.exclusive, state, after)
        value = cast(output.null_value, written)
        # a select, not a branch: nulls come in no order that a branch predictor could learn
        store(output.outs, at, output.null_value if missing & output.mark_nulls else value)
    return after


@njit
def reduce_lanes(source, start, lane, stride, count):
    """Reduce four lanes of `count` elements at once."""
    a = b = c = d = source.identity
    for i in range(count):
        at = start + i * stride
        a = reduce_step(source, a, at)
        b = reduce_step(source, b, at + lane)
        c = reduce_step(source, c, at + 2 * lane)
        d = reduce_step(source, d, at + 3 * lane)
    return a, b, c, d


@njit
def scan_lanes(source, output, states, start, lane, stride, count):
    """Scan four lanes of `count` elements at once, from four states."""
    a, b, c, d = states
    for i in range(count):
        at = start + i * stride
        a = scan_step(source, output, a, at)
        b = scan_step(source, output, b, at + lane)
        c = scan_step(source, output, c, at + 2 * lane)
        d = scan_step(source, output, d, at + 3 * lane)
    return a, b, c, d


@njit
def reduce_line(source, state, start, stride, size):
    """Reduce `size` elements from `state`; return the state after them, and the three states between the lanes."""
    op, identity = source.op, source.identity
    count = size // 4
    lane = count * stride
    a, b, c, d = reduce_lanes(source, start, lane, stride, count)
    a = cast(identity, combine(op, state, a))
    ab = cast(identity, combine(op, a, b))
    abc = cast(identity, combine(op, ab, c))
    state = cast(identity, combine(op, abc, d))
    for i in range(4 * count, size):
        state = reduce_step(source, state, start + i * stride)
    return state, (a, ab, abc)


@njit
def scan_line(source, output, state, start, stride, size):
    """Scan `size` elements one by one from `state`; return the state after them."""
    for i in range(size):
        state = scan_step(source, output, state, start + i * stride)
    return state
