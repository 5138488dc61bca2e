"""Tries users' operators on some elements of the data, in three orders, before pieces of the data are combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from threading import Lock
from typing import Any

import numpy as np

from ..arrays import Array
from ..bounded_cache import BoundedCache
from ..nulls import NAT, InBand, Mask, Nulls
from ..options import ScanOptions
from .associativity import bare
from .inference import Form, compiled
from .operator import Operator
from .signature import Signature, changes_state, signature_of, state_of

ELEMENTS = 200
"""The number of elements of an array that are tried."""

BLOCKS = 4
"""The number of pieces of a longer array that they come from, as the ends of sorted data differ."""

FEW = 4
"""The number of elements that are combined first, as a message can show so many. Arrays of fewer elements are tried
together with earlier ones: partitions and batches may have one row each."""

TRIALS = 32
"""The number of samples of an operator and dtypes that are tried; later ones only if they are out of their range."""


class _Trials:
    """The trials of an operator and dtypes so far."""

    def __init__(self, inputs: Form) -> None:
        self.samples: set[bytes] = set()
        self.range = [(0.0, 0.0)] * len(inputs)
        """The range of each input's elements, doubled, so that slowly growing values are seldom tried again."""
        self.short = [np.empty(0, dtype) for dtype in inputs]
        """The last elements of arrays with few elements."""
        self.found: str | None = None
        """The message if it is not associative."""
        self.lock = Lock()

    def are_news(self, inputs: Sequence[np.ndarray]) -> bool:
        """Return whether to try elements, and record them as tried."""
        sample = b"".join([values.tobytes() for values in inputs])
        if sample in self.samples:
            return False
        known = len(self.samples) >= TRIALS
        for k, (values, (low, high)) in enumerate(zip(inputs, self.range, strict=True)):
            sizes = np.abs(values) if values.dtype.kind == "c" else values
            least, most = float(sizes.min()), float(sizes.max())
            if least < low or most > high:
                known = False
                self.range[k] = (min(low, 2 * least), max(high, 2 * most))
        if known:
            return False
        if len(self.samples) < TRIALS:
            self.samples.add(sample)
        return True


_tried: BoundedCache[tuple[str, Form, np.dtype | None], _Trials] = BoundedCache()
_making = Lock()


def try_on(op: Operator, arrays: tuple[Array, ...], options: ScanOptions) -> None:
    """Combine elements of the data in three orders, unless elements like these have been tried.

    Parameters
    ----------
    op : Operator
        An operator to check.
    arrays : tuple of arrays
        Elements that are missing or not finite are skipped.
    options : ScanOptions

    Raises
    ------
    ValueError
        If the results, which are shown, differ by more than rounding, or the identity changes an element. Integers that
        may have wrapped around and floats that are not finite are ignored.
    """
    if not arrays[0].size:
        return
    inputs = tuple([a.dtype for a in arrays])
    asked = (op.token, inputs, options.dtype)
    trials = _tried.get(asked)
    if trials is None:
        with _making:
            trials = _tried.get(asked) or _tried.store(asked, _Trials(inputs))
    on_host = isinstance(arrays[0], np.ndarray)
    if trials.found is None and (on_host or len(trials.samples) < TRIALS):
        # if these elements raise an error, the kernel raises it, too
        with trials.lock, suppress(Exception):
            trials.found = _found(
                op, signature_of(op, inputs, options.dtype), trials, arrays, options
            )
    if trials.found is not None:
        raise ValueError(trials.found)


def _found(
    op: Operator, types: Signature, trials: _Trials, arrays: tuple[Array, ...], options: ScanOptions
) -> str | None:
    """Return a message about elements that are not associative; None if there are none."""
    own = _elements(arrays, options.nulls, options.axis)
    enough = len(own[0]) >= 3
    samples = [own] if enough and trials.are_news(own) else []
    if len(own[0]) < FEW and (samples or not enough):
        joined = [np.concatenate(pair) for pair in zip(trials.short, own, strict=True)]
        trials.short = [values[-8 * FEW :] for values in joined]
        if len(joined[0]) >= 3 and trials.are_news(joined):
            samples.append(joined)
    for elements in samples:
        states = _states(op, types, elements)
        if found := _changed(op, types, states):
            return found
        few = [states[k : k + FEW] for k in range(0, len(states), FEW)]
        for some in [*few, states]:
            if found := _difference(op, types, some):
                return (
                    f"{op.name} is not associative on the data: {found}; a scan would depend on where the data are "
                    f"cut. If this is no more than rounding, make it with check=False; if each row depends on the "
                    f"decision before it, use .gpuscan.fold"
                )
    return None


def _elements(arrays: tuple[Array, ...], nulls: Nulls, axis: int) -> list[np.ndarray]:
    """Return elements of the first line along an axis, on the host: all, or some of each quarter and the last ones."""
    length = arrays[0].shape[axis]
    if length <= ELEMENTS:
        return _block(arrays, nulls, axis, 0, length)
    size = ELEMENTS // BLOCKS
    starts = [k * (length - size) // (BLOCKS - 1) for k in range(BLOCKS)]
    blocks = [_block(arrays, nulls, axis, start, size) for start in starts]
    return [np.concatenate(values) for values in zip(*blocks, strict=True)]


def _block(
    arrays: tuple[Array, ...], nulls: Nulls, axis: int, start: int, size: int
) -> list[np.ndarray]:
    """Return the elements of a block of the first line along an axis that are neither missing nor infinite."""
    shape = arrays[0].shape
    axis %= len(shape)
    line: list[Any] = [0] * len(shape)
    line[axis] = slice(start, start + size)
    found = [_on_host(a[tuple(line)]) for a in arrays]
    kept = np.ones(len(found[0]), bool)
    for values in found:
        if values.dtype.kind in "fc":
            kept &= np.isfinite(values)
        elif isinstance(nulls, InBand) and values.dtype == np.int64:
            kept &= values != NAT
    if isinstance(nulls, Mask):
        step = int(np.prod(shape[axis + 1 :], dtype=np.int64))
        bits = nulls.offset + step * (start + np.arange(len(kept)))
        first, last = int(bits[0]) >> nulls.shift, int(bits[-1]) >> nulls.shift
        held = _on_host(nulls.buffer[first : last + 1])[(bits >> nulls.shift) - first]
        kept &= (held >> (bits & ((1 << nulls.shift) - 1)) & 1) != nulls.null
    return [values[kept] for values in found]


def _on_host(array: Any) -> np.ndarray:
    found: np.ndarray = array if isinstance(array, np.ndarray) else array.get()
    return found


def _states(op: Operator, types: Signature, inputs: list[np.ndarray]) -> list[Any]:
    """Return the states of elements."""
    elements: list[Any] = list(zip(*inputs, strict=True) if op.inputs > 1 else inputs[0])
    lift = None if op.lift is None else compiled(op, "lift", elements[0])
    states = elements if lift is None else [lift(op, each) for each in elements]
    return states if _is_plain(types) else [state_of(types, state) for state in states]


def _changed(op: Operator, types: Signature, states: list[Any]) -> str | None:
    """Return a message about a state that the identity changes, if its answer changes, too; None if there is none."""
    none = types.identity
    combine = compiled(op, "combine", none, none)
    lower = None if op.lower is None else compiled(op, "lower", none)
    fields = _fields(types, states)
    for joined in ([combine(op, none, s) for s in states], [combine(op, s, none) for s in states]):
        changed = np.zeros(len(states), bool)
        for own, found in zip(fields, _fields(types, joined), strict=True):
            changed |= ~np.isclose(own, found, equal_nan=True)
        for k in np.flatnonzero(changed):
            if lower is not None and np.allclose(
                lower(op, states[k]), lower(op, state_of(types, joined[k])), equal_nan=True
            ):
                continue
            return changes_state(op, bare(none), bare(states[k]), bare(joined[k]))
    return None


def _fields(types: Signature, states: Sequence[Any]) -> list[np.ndarray]:
    """Return an array for each field of states."""
    each = [types.parts(state) for state in states]
    return [np.array([parts[k] for parts in each], d) for k, d in enumerate(types.state)]


def _difference(op: Operator, types: Signature, states: Sequence[Any]) -> str | None:
    """Return a message about states that are not associative; None if only rounding differs."""
    combine = compiled(op, "combine", types.identity, types.identity)
    seen = list(states)

    plain = _is_plain(types)

    def combined(a: Any, b: Any) -> Any:
        found = combine(op, a, b)
        seen.append(found if plain else state_of(types, found))
        return seen[-1]

    ends = [order(combined, states) for order in (_from_left, _from_right, _by_halves)]
    if all(end == ends[0] for end in ends) or _same_states(types, ends, seen):
        return None
    if op.lower is not None:
        lower = compiled(op, "lower", types.identity)
        answers = [lower(op, end) for end in ends]
        if all(np.allclose(answer, answers[0], equal_nan=True) for answer in answers):
            return None
    left, right, halves = (repr(bare(end)) for end in ends)
    of = f"{len(states)} elements"
    if len(states) <= FEW:
        of = f"the states {', '.join(repr(bare(state)) for state in states)}"
    return f"{of} combine to {left} from left to right, to {right} from right to left, and to {halves} by halves"


def _is_plain(types: Signature) -> bool:
    """Return whether the Python numbers that compiled functions return are states without a conversion."""
    return all(d.name in ("bool", "int64", "uint64", "float64", "complex128") for d in types.state)


def _from_left(combine: Callable[[Any, Any], Any], states: Sequence[Any]) -> Any:
    return reduce(combine, states)


def _from_right(combine: Callable[[Any, Any], Any], states: Sequence[Any]) -> Any:
    return reduce(lambda later, earlier: combine(earlier, later), reversed(states))


def _by_halves(combine: Callable[[Any, Any], Any], states: Sequence[Any]) -> Any:
    if len(states) == 1:
        return states[0]
    half = len(states) // 2
    return combine(_by_halves(combine, states[:half]), _by_halves(combine, states[half:]))


def _same_states(types: Signature, ends: Sequence[Any], seen: Sequence[Any]) -> bool:
    """Return whether states differ only by the rounding of intermediate states, or may have overflowed."""
    exact = True
    every = zip(types.state, _fields(types, seen), _fields(types, ends), strict=True)
    for dtype, values, found in every:
        if dtype.kind in "iu":
            limit = np.iinfo(dtype).max // 4
            if bool((values > limit).any() or (values < -limit).any()):
                return True
        elif dtype.kind in "fc":
            if not np.isfinite(values).all():
                return True
            rounding = np.sqrt(np.finfo(dtype).eps) * np.abs(values).max()
            exact &= bool(np.abs(found - found[0]).max() <= rounding)
            continue
        exact &= bool((found == found[0]).all())
    return exact
