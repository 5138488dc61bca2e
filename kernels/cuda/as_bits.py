"""Passes that do not look at what their elements are, as passes over unsigned integers of the same width.

Dtypes of one width then have one kernel. It is compiled so; launches keep the dtypes of the elements, as nothing that
they need depends on more than widths.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ..built_in import facts_of
from .column_pass import ColumnPass
from .plan import Form, Pass


def as_bits(each: Pass) -> Pass:
    """Return the pass that a kernel is compiled from: over unsigned integers where the functions allow it."""
    of = each.operator
    if of is None or of.is_native or _looks_at_elements(each):
        return each
    dtype, kinds = of.inputs[0], facts_of(of.op).as_bits
    rest = (*of.inputs, *of.state, *of.outputs)
    if dtype.kind not in kinds or any(d != dtype and d.kind != "b" for d in rest):
        return each
    fields = (of.identity,) if of.scalar_state else of.identity
    identity = tuple(_bits(field) for field in fields)
    changed = replace(
        of,
        inputs=_unsigned(of.inputs),
        state=_unsigned(of.state),
        outputs=_unsigned(of.outputs),
        identity=identity[0] if of.scalar_state else identity,
    )
    return replace(each, operator=changed)  # type: ignore[type-var]


def _looks_at_elements(each: Any) -> bool:
    """Tell whether NaN or NaT are looked for, or written."""
    nulls = each.value_nulls.kind if isinstance(each, ColumnPass) else each.nulls
    return nulls == "in band" or getattr(each, "mark_nulls", False)


def _unsigned(form: Form) -> Form:
    return tuple(d if d.kind == "b" else np.dtype(f"u{d.itemsize}") for d in form)


def _bits(field: Any) -> Any:
    found = np.asarray(field)
    return found.view(*_unsigned((found.dtype,)))[()]
