"""Several scans of a frame in one pass, given as a dict."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from ..frames.registry import names_of
from ..graph.lookback import look_back, meta_of
from ..ops.columnwise import NamedCarry
from ..ops.fused_plan import entitled, fused_parts
from ..ops.operation import GroupScan, Part
from ..ops.scan_options import ScanOptions
from .arguments import check_flags, check_operator
from .scan_entries import scan_entries, scan_input


def check_scan(op: Any, positions: Any, **for_dicts: Any) -> None:
    """Check that a scan is by an operator or a dict of several, and that its arguments go with it."""
    check_flags(positions=positions)
    if isinstance(op, Mapping):
        if positions:
            raise ValueError(
                "positions=True goes with one operator; for a dict, assign row_number() as a column"
            )
        return
    check_operator(op)
    for name, given in for_dicts.items():
        if given is not None:
            raise TypeError(f"{name} goes with a dict of scans, found one operator")


def scan_parts(
    meta: Any,
    scans: Mapping[Hashable, Any],
    options: ScanOptions,
    where: Any,
    local_dict: Mapping[str, Any] | None,
    **groups: bool,
) -> tuple[Part[GroupScan], ...]:
    """Return the parts of an answer, of which each scan of a dict is a column.

    Raises
    ------
    TypeError, ValueError
        For what is no entry, or cannot be scanned, naming it.
    """
    names = names_of(meta)
    entries = scan_entries(scans, options, names, meta.ndim, local_dict)
    kept = None
    if where is not None:
        with entitled("where"):
            kept = scan_input(where, names, meta.ndim, local_dict)
    return tuple(fused_parts(meta, entries, kept, **groups))


def fused_scan(
    obj: Any,
    scans: Mapping[Hashable, Any],
    options: ScanOptions,
    where: Any,
    local_dict: Mapping[str, Any] | None,
) -> Any:
    """Return several scans of all rows as the columns of a frame."""
    parts = scan_parts(meta_of(obj), scans, options, where, local_dict)
    return look_back(obj, NamedCarry("scan-fused", parts, as_series=False))
