"""Scans of columns of any dtype by an operator, in groups or not: the way for columns of a dtype is chosen once.

Kernels scan numbers and times. Python on the host scans values that only it combines, such as strings. Running extremes
of other values that have an order are scanned by their ranks. Sparse columns are dense while they are scanned.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from ...frames.messages import name_columns
from ...frames.protocol import Library
from ...frames.registry import library_of
from ...frames.types import Column, DType
from ...kernels.late_dataclass import dataclass
from ..core.groups import Groups, ReducibleGroups, States
from ..core.plans import PlannedOperation
from .host_scan import HostScan, JoinScan, check_reproducible
from .kernel_scan import KernelScan, ScanBase
from .operator_traits import PLAIN, TRAITS, traits_of
from .ranked_scan import RankedScan
from .value_scan import HostScalar, ValueScan


@dataclass(frozen=True)
class Scan(PlannedOperation, ScanBase):
    """A scan of one column, or of several that are the operator's inputs."""

    def __post_init__(self) -> None:
        if isinstance(self.options.initial, dict):
            vars(self)["by_name"] = True

    def of_column(self, name: Hashable) -> Scan:
        """Return the scan of the column of this name, which may have another name when it is scanned."""
        if not isinstance(self.options.initial, dict):
            return self
        return replace(self, options=replace(self.options, initial=self.options.initial_of(name)))

    @property
    def by_kernels(self) -> KernelScan:
        """The same scan, of columns that kernels hold."""
        return KernelScan(self.label, self.op, self.options, self.in_groups, self.bounds)

    def of(self, library: Library, *dtypes: DType) -> ColumnScan:
        """Return the scan of columns of these dtypes."""
        kind = _kind(library, self.op.token, dtypes, self.bounds is not None, self.options.dtype)
        return kind(self.label, self.op, self.options, self.in_groups, self.bounds)

    def plan(self, columns: Sequence[Column]) -> ColumnScan:
        return self.of(library_of(columns[0]), *[column.dtype for column in columns])

    def planned(self, columns: Sequence[Column]) -> tuple[ColumnScan, Any]:
        """Return the scan of these columns and the dtype of its answer."""
        if isinstance(self.options.initial, dict):
            return self.of_column(columns[0].name).planned(columns)
        try:
            return super().planned(columns)
        except (TypeError, ValueError) as error:
            name_columns(error, self.label, columns)
            raise

    def dtype(self, columns: Sequence[Column]) -> Any:
        return self.planned(columns)[1]

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        return self.planned(columns)[0].aggregate(columns, groups)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        return self.planned(columns)[0].apply(columns, groups, prior)

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the answer after all rows of each group, given arrays of states."""
        dense = _dense(columns)
        return self.planned(dense)[0].last(dense, states)

    def combine(self, states: Sequence[States]) -> States:
        first = states[0][0]
        of_kernels = not isinstance(first, HostScalar)
        scan = self.by_kernels if of_kernels else self.of(first.library, first.dtype)
        return scan.combine(states)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        first = states[0]
        of_kernels = isinstance(first, library.xp.ndarray) and first.dtype.kind in "biufV"
        of_kernels = of_kernels and first.dtype.char != "g"  # Python scans longdouble
        scan = self.by_kernels if of_kernels else self.of(library, first.dtype)
        return scan.merge(library, states, groups)


@dataclass(frozen=True)
class SparseScan(Scan):
    """A scan of columns, some of them sparse: dense columns of the same values are scanned."""

    def dtype(self, columns: Sequence[Column]) -> Any:
        dense = _dense(columns)
        found = self.plan(dense).dtype(dense)
        return self._answer(columns[0]) or found

    def _answer(self, column: Column) -> DType | None:
        """Return the dtype of a sparse answer, as the library's method gives it; None if the answer is dense."""
        library, method = library_of(column), traits_of(self.op).library_method
        if method is None or self.in_groups or self.options.dtype is not None:
            return None
        return library.answer_dtype(method, column.dtype)

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        return super().aggregate(_dense(columns), groups)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        found, dtype = super().apply(_dense(columns), groups, prior), self._answer(columns[0])
        sparse = library_of(columns[0]).sparse
        return found if sparse is None or dtype is None else sparse.array(found, dtype)


ColumnScan = KernelScan | ValueScan | SparseScan
"""A scan of columns of known dtypes."""


def _kind(
    library: Library, op: str, dtypes: tuple[DType, ...], clamped: bool, asked: DType | None
) -> type[ColumnScan]:
    """Return how columns of these dtypes are scanned by the operator of a token; `asked` is the requested dtype."""
    traits, host, dtype = TRAITS.get(op, PLAIN), library.host_values, dtypes[0]
    if library.sparse is not None and any(map(library.sparse.holds, dtypes)):
        return SparseScan
    if len(dtypes) > 1 or traits.library_method is None or clamped:
        return KernelScan
    if host is not None and host.combines(
        traits.library_method,
        asked if asked is not None and host.takes_dtype(dtype, asked) else dtype,
    ):
        if traits.of_integers is not None:
            check_reproducible(library, dtype)
        return JoinScan if host.joins(traits.library_method, dtype) else HostScan
    return RankedScan if traits.extreme and library.layout(dtype) is None else KernelScan


def _dense(columns: Sequence[Column]) -> list[Any]:
    """Return all columns as dense ones."""
    sparse = library_of(columns[0]).sparse
    return list(columns) if sparse is None else [sparse.dense(column) for column in columns]
