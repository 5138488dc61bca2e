"""Plans of scans by an operator for the dtypes of columns, and the columns as a kernel takes them.

If a column's library has the method (cumsum, cumprod, cummax, cummin), the answer has the dtype of the library's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from ... import kernels
from ...frames.messages import HINT
from ...frames.protocol import Library
from ...frames.types import Column, DType, Layout
from ...kernels import Operator
from ...kernels.bounded_cache import BoundedCache
from ...kernels.late_dataclass import dataclass
from ...kernels.operators.clamped import clamped_add
from ...kernels.operators.signature import user_state
from .operator_traits import (
    SIGNED_SUMS,
    OperatorTraits,
    operator_for,
    operator_in_groups,
    traits_of,
)

FLOAT64 = np.dtype(np.float64)

Bounds = tuple[Any, Any] | None
"""The least and the greatest number that a sum may be at each step, either or both None for no bound."""


@dataclass(frozen=True)
class ScanPlan:
    """The dtypes of a scan."""

    library: Library
    layouts: tuple[Layout, ...]
    storages: tuple[np.dtype, ...]
    kernel_dtype: np.dtype
    """Dtype to answer in, and to accumulate in where the element itself is the state."""
    dtype: DType
    """Dtype of the result, which holds every answer exactly."""
    answers: DType
    """The dtype that users get."""
    layout: Layout
    """Layout of the result."""
    has_nulls: bool
    """Whether answers at nulls are null."""
    op: Operator
    """Operator that writes the answers."""
    traits: OperatorTraits
    """The traits of the operator `meant`."""
    keeps_nan: bool
    """Whether its state stays NaN once an element was NaN."""
    checks_overflow: bool
    """Whether the library raises, rather than wrapping around, for this dtype."""
    meant: Operator
    """The given operator, or the one that is used for it for answers of this dtype."""
    zero: Any
    """The state of zero, from which an exclusive scan starts, if that is not the operator's identity; else None."""
    held_by: np.dtype | None
    """The requested integers, which must hold each element; None if elements are taken as they are."""
    is_plain: bool = field(init=False)
    """Whether users get answers of the dtype of the result."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_plain", bool(self.answers == self.dtype))

    @property
    def narrows(self) -> bool:
        """Whether the requested dtype is of Arrow's integers, which may not hold an answer."""
        return not self.is_plain and self.library.raises_on_overflow(self.answers)


PLANS: BoundedCache[Any, ScanPlan] = BoundedCache()
"""Plans that have been made, by the library, the operator's token and the other arguments of `scan_plan`."""


def scan_plan(
    library: Library,
    op: Operator,
    dtypes: tuple[Any, ...],
    requested: Any,
    in_groups: bool = False,
    bounds: Bounds = None,
) -> ScanPlan:
    """Work out the dtypes of a scan; raises a TypeError that says what can be done.

    Parameters
    ----------
    library : Library
    op : Operator
    dtypes : tuple of dtypes
        Of the columns.
    requested : dtype, optional
        For the answers.
    in_groups : bool
        Whether rows are in groups, for which libraries and kernels use other dtypes.
    bounds : pair of numbers, optional
        Sums are clamped to these.
    """
    key = library, op.token, dtypes, requested, in_groups, bounds
    known = PLANS.get(key)
    if known is not None:
        return known
    traits, asked = traits_of(op), requested
    for dtype in dtypes if bounds is not None else ():
        if library.layout(dtype) is None or not library.is_real(dtype):
            raise TypeError(f"dtype {dtype} cannot be clamped; {HINT}")
    if in_groups:
        for dtype in dtypes:
            if library.layout(dtype) is not None and library.moved_layout(dtype) is None:
                raise TypeError(f"dtype {dtype} cannot be scanned within groups; {HINT}")
        if traits.library_method is not None and requested is None:
            answer = library.group_dtype(traits.library_method, dtypes[0])
            requested = answer if library.is_number(answer) else None
    layouts = []
    for dtype in dtypes:
        layout = library.layout(dtype)
        if layout is None:
            if traits.library_method is not None:
                library.answer_dtype(traits.library_method, dtype)  # raises the reason
            raise TypeError(f"dtype {dtype} cannot be scanned; {HINT}")
        layouts.append(layout)
    storages = tuple(x.storage(d) for x, d in zip(layouts, dtypes, strict=True))
    pairs = list(zip(layouts, dtypes, strict=True))
    own, source = [*pairs, *(p for p in pairs if p[0].nulls == "mask")][-1]  # one that has nulls
    times = [d for d in dtypes if not library.is_number(d)]
    nullable = any(s.kind in "fc" for s in storages)
    result: Any
    answers: Any = None
    if requested is not None:
        if times:
            raise TypeError(f"dtype={requested} cannot be asked for a column of {times[0]}")
        result = _requested(library, requested, own, source)
        if own.nulls == "in band" and storages[-1].kind == "f" and _is_numpy_integer(result):
            raise TypeError(
                f"dtype={result} cannot hold the nulls of a column of {source}; ask for a nullable dtype "
                f"such as 'Int64', or cast the column"
            )
        if asked is not None and bounds is None and _is_checked(library, result):
            answers, result = result, own.result(_wide(op, storages, result), source)
    elif traits.library_method is not None:
        result = library.answer_dtype(traits.library_method, source)
    elif times:
        if not traits.takes_times:
            raise TypeError(
                f"{op.name} is not defined for {times[0]}; cast it with astype('int64')"
            )
        result = source
    else:
        types = kernels.signature(op, storages)
        if not types.scalar_output:
            raise TypeError(
                f"{op.name} has a tuple state and no lower, so it has no one value a row; "
                f"give it lower="
            )
        out = types.outputs[0]
        result = own.result(out, source)
        if nullable and not traits.answers_at_nulls:
            result, answers = library.masked(result), library.nullable(result)
    layout = library.layout(result)
    assert layout is not None
    answers = result if answers is None else answers
    kernel_dtype = layout.storage(result)
    if bounds is None:
        meant = operator_for(op, kernel_dtype)
    else:
        meant = clamped_add(kernel_dtype, *bounds)
    traits = traits_of(meant)
    kernels.signature(meant, storages, kernel_dtype)
    passes = own.groups_pass_over_nan if in_groups else own.passes_over_nan
    writer = traits.over_nan if passes and traits.over_nan is not None else meant
    is_integer = kernel_dtype.kind in "iu"
    if in_groups:
        writer = operator_in_groups(writer, kernel_dtype)
    elif not own.passes_over_nan and kernel_dtype.kind in "fc":
        writer = traits_of(writer).over_rows or writer  # Arrow's sums begin with 0.0
    zero = None
    if writer in SIGNED_SUMS:
        zero = user_state(writer, kernel_dtype.type(0), storages, kernel_dtype, "initial")
    held_by = None
    looked_at = any(s.kind == "f" for s in storages) or _is_checked(library, answers)
    if asked is not None and is_integer and looked_at:
        if bounds is not None:  # sums have 64 bits
            held_by = np.dtype(f"{kernel_dtype.kind}8")
        elif _accumulates(op):
            held_by = layout.storage(answers)
    found = ScanPlan(
        library,
        tuple(layouts),
        storages,
        kernel_dtype,
        result,
        answers,
        layout,
        has_nulls=(layout.nulls == "mask" or kernel_dtype.kind in "fc" or bool(times))
        and not traits.answers_at_nulls,
        op=writer,
        traits=traits,
        keeps_nan=traits.keeps_nan and kernel_dtype.kind == "f",
        checks_overflow=is_integer
        and traits.overflow is not None
        and not in_groups
        and library.raises_on_overflow(result),
        meant=meant,
        zero=zero,
        held_by=held_by,
    )
    return PLANS.store(key, found)


def combined_plan(library: Library, op: Operator, columns: Sequence[Column]) -> ScanPlan:
    """Return the plan of an operator that combines the rows of each group or window.

    Overflow is not checked, since no answer shows it: sums and products have 64 bits, as those of groups.
    """
    dtypes, method = tuple([c.dtype for c in columns]), traits_of(op).library_method
    wide = None
    if method is not None and library.is_number(dtypes[0]) and dtypes[0].kind in "iu":
        wide = library.group_dtype(method, dtypes[0])
    return scan_plan(library, op, dtypes, None if wide == dtypes[0] else wide)


def _requested(library: Library, requested: Any, own: Layout, source: DType) -> Any:
    """The dtype that a user asked for, in the family of the column unless it names its own."""
    if not library.is_number(requested):
        raise TypeError(f"dtype must be a numeric dtype, found {requested}")
    return own.result(requested, source) if isinstance(requested, np.dtype) else requested


def _is_numpy_integer(dtype: DType) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "biu"


def _accumulates(op: Operator) -> bool:
    """Return whether elements become answers of the dtype before they are combined."""
    return op.lift is None and op.inputs == 1


def _is_checked(library: Library, dtype: DType) -> bool:
    """Return whether a dtype is of integers for which a library raises rather than wrapping around."""
    return library.is_number(dtype) and dtype.kind in "iu" and library.raises_on_overflow(dtype)


def _wide(op: Operator, storages: tuple[np.dtype, ...], dtype: DType) -> np.dtype:
    """Return the 64-bit integers in which answers of a dtype are computed, so that each can be checked."""
    found = "" if _accumulates(op) else kernels.signature(op, storages).outputs[0].kind
    return np.dtype(f"{found if found in ('i', 'u') else dtype.kind}8")
