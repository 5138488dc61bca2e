"""Scans of columns of any dtype by an operator, in groups or not: each dtype is scanned in one of three ways.

Kernels scan numbers and times. What Python combines, such as strings, the host scans; running extremes of other values
that have an order are those of their ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..frames.messages import of_columns
from ..frames.protocol import DType, Library
from ..frames.registry import library_of
from .groups import Groups, ReducibleGroups, States
from .host_scalar import HostScalar
from .host_scan import HostScan, check_reproducible
from .join_scan import JoinScan
from .kernel_scan import KernelScan
from .operator_facts import facts_of
from .ranked_scan import RankedScan
from .scan_options import ScanBase
from .value_scan import ValueScan

T = TypeVar("T", bound=ScanBase)


@dataclass(frozen=True)
class Scan(ScanBase):
    """A scan of one column, or of several that are the operator's inputs."""

    def of_column(self, name: Hashable) -> Scan:
        """Return the scan of one column, which need not have its name when it is scanned."""
        if not isinstance(self.options.initial, dict):
            return self
        return replace(self, options=replace(self.options, initial=self.options.initial_of(name)))

    @property
    def by_kernels(self) -> KernelScan:
        """The same scan, of columns that kernels hold."""
        return self._as(KernelScan)

    def _of(self, columns: Sequence[Any]) -> KernelScan | ValueScan:
        if len(columns) == 1 and facts_of(self.op).library_method is not None:
            return self._of_dtype(library_of(columns[0]), columns[0].dtype)
        return self.by_kernels

    def _of_dtype(self, library: Library, dtype: DType) -> KernelScan | ValueScan:
        """Return the way in which a column of a dtype is scanned, by an operator that libraries have a method of."""
        facts, host = facts_of(self.op), library.host_values
        if host is not None and host.combines(facts.library_method, dtype):
            if facts.of_integers is not None:
                check_reproducible(library, dtype)
            joins = host.joins(facts.library_method, dtype)
            return self._as(JoinScan if joins else HostScan)
        if facts.extreme and library.layout(dtype) is None:
            return self._as(RankedScan)
        return self.by_kernels

    def _as(self, kind: type[T]) -> T:
        return kind(self.label, self.op, self.options, self.in_groups)

    def dtype(self, columns: Sequence[Any]) -> Any:
        with of_columns(self.label, columns):
            dense = _dense(columns)
            found = self._of(dense).dtype(dense)
            return self._sparse_dtype(columns) or found

    def _sparse_dtype(self, columns: Sequence[Any]) -> Any:
        """Return the dtype of an answer that is sparse, as that of the library's method is; None for any other."""
        method, library = facts_of(self.op).library_method, library_of(columns[0])
        if library.sparse is None or not library.sparse.holds(columns[0].dtype):
            return None
        if method is None or self.in_groups or self.options.dtype is not None:
            return None
        return library.answer_dtype(method, columns[0].dtype)

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        columns = _dense(columns)
        return self._of(columns).aggregate(columns, groups)

    def combine(self, states: Sequence[States]) -> States:
        first = states[0][0]
        if isinstance(first, HostScalar):
            return self._of_dtype(first.library, first.dtype).combine(states)
        return self.by_kernels.combine(states)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        first = states[0]
        of_kernels = isinstance(first, library.xp.ndarray) and first.dtype.kind in "biufV"
        found = self.by_kernels if of_kernels else self._of_dtype(library, first.dtype)
        return found.merge(library, states, groups)

    def apply(self, columns: Sequence[Any], groups: Groups, prior: States | None) -> Any:
        dense, dtype = _dense(columns), self._sparse_dtype(columns)
        found = self._of(dense).apply(dense, groups, prior)
        sparse = library_of(columns[0]).sparse
        return found if sparse is None or dtype is None else sparse.array(found, dtype)


def _dense(columns: Sequence[Any]) -> list[Any]:
    """Return columns of which none is sparse."""
    sparse = library_of(columns[0]).sparse
    return list(columns) if sparse is None else [sparse.dense(column) for column in columns]
