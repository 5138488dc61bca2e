"""One element, and four lanes of elements at once: what scans and reductions do between two look-backs.

Elements are visited along a *line*: positions ``start + i * stride`` of flat arrays. Four *lanes* are walked at
the same time, so that four combinations are in flight where one alone would wait for the last. This module
must never know of tiles.
"""

# Numba reads these functions; annotations would say less than its own types do.
# mypy: disable-error-code="no-untyped-def"

import numba

from ..jit import OPTIONS
from ..operator_calls import combine, lift, lower
from .elements import cast, is_null, load, store


@numba.njit(**OPTIONS)
def reduce_step(op, xs, nulls, identity, state, at):
    """Combine the element at one position into `state`."""
    element = load(xs, at)
    lifted = cast(identity, lift(op, element))
    lifted = identity if is_null(nulls, element, at) else lifted
    return cast(identity, combine(op, state, lifted))


@numba.njit(**OPTIONS)
def scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, state, at):
    """Combine the element at one position into `state` and write what the scan says there."""
    element = load(xs, at)
    lifted = cast(identity, lift(op, element))
    missing = is_null(nulls, element, at)
    lifted = identity if missing else lifted
    after = cast(identity, combine(op, state, lifted))
    if outs is not None:
        value = cast(null_value, lower(op, state) if exclusive else lower(op, after))
        # a select, not a branch: nulls come in no order that a branch predictor could learn
        store(outs, at, null_value if missing & mark else value)
    return after


@numba.njit(**OPTIONS)
def reduce_lanes(op, xs, nulls, identity, start, lane, stride, count):
    """Reduce four lanes of `count` elements at once."""
    a = b = c = d = identity
    for i in range(count):
        at = start + i * stride
        a = reduce_step(op, xs, nulls, identity, a, at)
        b = reduce_step(op, xs, nulls, identity, b, at + lane)
        c = reduce_step(op, xs, nulls, identity, c, at + 2 * lane)
        d = reduce_step(op, xs, nulls, identity, d, at + 3 * lane)
    return a, b, c, d


@numba.njit(**OPTIONS)
def scan_lanes(
    op, xs, nulls, outs, null_value, mark, exclusive, identity, seeds, start, lane, stride, count
):
    """Scan four lanes of `count` elements at once, from four seeds."""
    a, b, c, d = seeds
    for i in range(count):
        at = start + i * stride
        a = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, a, at)
        b = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, b, at + lane)
        c = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, c, at + 2 * lane)
        d = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, d, at + 3 * lane)
    return a, b, c, d


@numba.njit(**OPTIONS)
def reduce_line(op, xs, nulls, identity, seed, start, stride, size):
    """Reduce `size` elements to their state from `seed`, and the three states between the lanes."""
    count = size // 4
    lane = count * stride
    a, b, c, d = reduce_lanes(op, xs, nulls, identity, start, lane, stride, count)
    a = cast(identity, combine(op, seed, a))
    ab = cast(identity, combine(op, a, b))
    abc = cast(identity, combine(op, ab, c))
    state = cast(identity, combine(op, abc, d))
    for i in range(4 * count, size):
        state = reduce_step(op, xs, nulls, identity, state, start + i * stride)
    return state, (a, ab, abc)


@numba.njit(**OPTIONS)
def walk_line(
    op, xs, nulls, outs, null_value, mark, exclusive, identity, state, start, stride, size
):
    """Scan `size` elements one by one from `state`; return the state after them."""
    for i in range(size):
        at = start + i * stride
        state = scan_step(op, xs, nulls, outs, null_value, mark, exclusive, identity, state, at)
    return state
