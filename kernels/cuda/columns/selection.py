"""Passes of selections: the columns that a predicate, runs of keys or flags are read from, and their nulls."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ...compiler import argument_types as types
from ...late_dataclass import dataclass
from ...nulls import Mask, Nulls
from ...operators.inference import lifted
from ...operators.operator import ROLES, Operator
from ...selection import Predicate, Runs, Segments, Selection, counter_of
from ..core.closure_constants import kernel_code
from ..core.device_arrays import kind_of_nulls, readable
from ..core.plan import NOWHERE, Form, Nullness
from ..core.visitors import HEAD_FLAGS, SELECT, UNIQUE, VisitorSpec
from .column_pass import ColumnPass
from .columns import fits, launch_columns


@dataclass(frozen=True, eq=False)
class Selected:
    """A pass that selects rows, without outputs, and its inputs."""

    only: ColumnPass
    length: int
    """The number of rows."""
    data: list[Any]
    masks: list[Mask]
    scalars: list[Any]
    continues: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of a launch in addition to the columns."""
        return {"scalars": self.scalars, "continues": self.continues}


def head_flags(selection: Predicate | Runs, out: Any = None) -> Any:
    """Write whether each row is selected; see `kernels.head_flags` and `kernels.flags`."""
    found = selected(selection)
    flags = cupy.ndarray(found.length, np.bool_) if out is None else out
    if found.only.selection == "flags":
        flags[:] = found.data[0]
    elif found.length:
        only = visited(found.only, HEAD_FLAGS)
        launch_columns(
            only, found.length, found.data, found.masks, outs=[flags], waits=False, **found.options
        )
    return flags


def selected(selection: Selection | Segments) -> Selected:
    """Return the pass that selects the rows of a bool array, a predicate, or runs of keys."""
    if isinstance(selection, Predicate):
        return _predicate(selection)
    if isinstance(selection, Segments):
        return Selected(_bits(selection.last), selection.length, [], [_end_bits(selection)], [])
    if not isinstance(selection, Runs):
        flags = readable(selection)
        return Selected(_flags(flags.dtype, False), len(flags), [flags], [], [])
    keys = [readable(k) for k in selection.keys]
    nulls = tuple([nullness(m if isinstance(m, Mask) else None) for m in selection.nulls])
    masks = [m for m in selection.nulls if isinstance(m, Mask)]
    runs = _runs(tuple([k.dtype for k in keys]), nulls, selection.last)
    if len(keys) > 1 and not fits(runs):  # flags of halves of the keys are combined
        half = len(keys) // 2
        some = replace(selection, keys=selection.keys[:half], nulls=selection.nulls[:half])
        others = replace(selection, keys=selection.keys[half:], nulls=selection.nulls[half:])
        flags = head_flags(some) | head_flags(others)
        flat = _flags(flags.dtype, selection.last)
        return Selected(flat, selection.length, [flags], [], [], selection.continues)
    return Selected(runs, selection.length, keys, masks, [], selection.continues)


def _predicate(selection: Predicate) -> Selected:
    rows: list[Any] = []
    scalars: list[Any] = []
    nulls, order = [], []
    counter, numbers = parametric(selection.counter, tuple(map(_dtype, selection.inputs)))
    inputs = (*numbers, *selection.inputs)
    missing = (*[None] * len(numbers), *(selection.nulls or ()))
    for value, its_nulls in zip(inputs, missing, strict=True):
        if isinstance(value, cupy.ndarray):
            order.append(("row", len(rows)))
            rows.append(readable(value))
            nulls.append(its_nulls)
        else:
            order.append(("scalar", len(scalars)))
            scalars.append(np.asarray(value)[()])
    forms = tuple([r.dtype for r in rows]), tuple([s.dtype for s in scalars])
    only = _predicated(counter, *forms, tuple(map(nullness, nulls)), tuple(order))
    masks = [m for m in nulls if isinstance(m, Mask)]
    return Selected(only, len(rows[0]), rows, masks, scalars)


def _dtype(value: Any) -> np.dtype:
    """Return the dtype of an array or a scalar."""
    found: np.dtype = np.asarray(value).dtype if np.isscalar(value) else value.dtype
    return found


@lru_cache(maxsize=1024)
def parametric(counter: Operator, inputs: Form) -> tuple[Operator, tuple[np.generic, ...]]:
    """Return the counter of rows with the numbers that its function captures as parameters, and these numbers."""
    found = lifted(counter, inputs)
    if found != types.boolean:
        raise TypeError(f"a predicate must return bool, found {found}")
    code = kernel_code(counter, inputs)
    (numbers,) = (v for v, role in zip(code.values, ROLES, strict=True) if role == "lift")
    return (counter_of(code.functions["lift"], counter.name), numbers) if numbers else (counter, ())


@lru_cache(maxsize=1024)
def _predicated(
    counter: Operator,
    rows: Form,
    scalars: Form,
    nulls: tuple[Nullness, ...],
    order: tuple[tuple[str, int], ...],
) -> ColumnPass:
    return ColumnPass(SELECT, "predicate", rows, nulls, scalars, counter, order)


@lru_cache(maxsize=1024)
def _runs(keys: Form, nulls: tuple[Nullness, ...], last: bool) -> ColumnPass:
    return ColumnPass(UNIQUE, "runs", keys, nulls, last=last)


@lru_cache(maxsize=1024)
def _flags(dtype: np.dtype, last: bool) -> ColumnPass:
    return ColumnPass(SELECT, "flags", (dtype,), (NOWHERE,), last=last)


OFFSETS_A_THREAD = 8
"""Offsets of a thread, which sets bits in the same word at once: short segments often share a word."""


@lru_cache(maxsize=2)
def _bits(last: bool) -> ColumnPass:
    return ColumnPass(SELECT, "bits", (), (Nullness("bits", 1),), last=last)


def _end_bits(segments: Segments) -> Mask:
    """Return bits of rows that are set where segments start or end: flags of bytes would take eight times as much."""
    bits = cupy.zeros(-(-segments.length // 32), np.uint32)
    offsets = segments.offsets[1:] if segments.last else segments.offsets[:-1]
    if len(offsets):
        known = [np.int64(number) for number in (len(offsets), segments.last, segments.length)]
        _set_bits()(offsets, *known, bits, size=-(-len(offsets) // OFFSETS_A_THREAD))
    return Mask(bits.view(np.uint8), 0, 3, 1)


@lru_cache(maxsize=1)
def _set_bits() -> Any:
    return cupy.ElementwiseKernel(
        "raw T offsets, int64 count, int64 last, int64 length",
        "raw uint32 bits",
        f"""
        long long word = 0, k = {OFFSETS_A_THREAD}LL * i;
        const long long end = min(k + {OFFSETS_A_THREAD}, (long long)count);
        unsigned int found = 0;
        for (; k < end; k++) {{
          const long long row = (long long)offsets[k] - last;
          if (row < 0 || row >= length) continue;
          if (row >> 5 != word) {{
            if (found) atomicOr(&bits[word], found);
            word = row >> 5, found = 0;
          }}
          found |= 1u << (row & 31);
        }}
        if (found) atomicOr(&bits[word], found);
        """,
        "set_bits",
    )


@lru_cache(maxsize=1024)
def visited(each: ColumnPass, visitor: VisitorSpec) -> ColumnPass:
    """Return a pass that selects the same rows for another visitor."""
    return replace(each, visitor=visitor)


def nullness(nulls: Nulls) -> Nullness:
    """Return how a pass describes where missing elements are marked."""
    return Nullness(kind_of_nulls(nulls), nulls.null if isinstance(nulls, Mask) else 0)


def masks_of(nulls: Nulls) -> list[Mask]:
    """Return the mask of these nulls, if there is one."""
    return [nulls] if isinstance(nulls, Mask) else []
