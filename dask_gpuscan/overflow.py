"""Arrow's rule for integers: a cumulative sum or product that does not fit its type is an error.

NumPy and the nullable types wrap around, and so do our kernels; pandas' Arrow-backed columns raise. The
kernels' wrapped answer is checked here against the elements, which finds every overflow exactly, because
the answer before the first overflow is right. This module must never know how the answer was made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .columns import View


def check_overflow(scan: Any, column: Any, view: View, out: np.ndarray, before: Any) -> None:
    """Raise ``pyarrow.ArrowInvalid`` if an integer sum or product left its type.

    Parameters
    ----------
    scan : ScanColumn
    column : Series
        For its name.
    view : View
        The elements.
    out : array
        The scan's answer, wrapped around.
    before : scalar
        The state before the first element in scan order.
    """
    if out.dtype.kind not in "iu" or scan.op.name not in ("add", "multiply") or not len(out):
        return
    present = ~view.missing()
    elements = view.values[present].astype(out.dtype, copy=False)
    answers = out[present]
    if scan.reverse:
        elements, answers = elements[::-1], answers[::-1]
    first = np.asarray([before], out.dtype)
    with np.errstate(over="ignore"):
        if scan.op.name == "add":
            prior = answers if scan.exclusive else np.concatenate([first, answers[:-1]])
            after = prior + elements
            wrong = (after < prior) != (elements < 0)
        else:
            prior = answers if scan.exclusive else np.concatenate([first, answers[:-1]])
            after = prior * elements
            divisor = np.where(elements == 0, 1, elements)
            lowest = np.iinfo(out.dtype).min
            negated = (elements == -1) & (prior == lowest) if out.dtype.kind == "i" else False
            wrong = ((elements != 0) & (after // divisor != prior)) | negated
    if scan.exclusive:  # the answer after the last element is never written
        wrong = wrong[:-1]
    if wrong.any():
        raise pa.ArrowInvalid(
            f"overflow: {scan.label} of column {column.name!r} does not fit {out.dtype}; "
            f"ask for a wider dtype="
        )
