"""Several scans in one pass: each by its own operator, of a column or of values computed from columns.

All scans that one kernel can do become one operator (`operator`), whose states are handed on as those of any scan. A
scan that needs more than an operator's functions, such as a product of floating-point numbers, is done alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from .... import kernels
from ....frames.messages import naming
from ....frames.protocol import Library
from ....frames.registry import library_of
from ....frames.types import Column, DType, Missing, Scalar, Values, View
from ....kernels import InBand, Operator
from ....kernels.late_dataclass import dataclass
from ....kernels.options import Exclusive
from ...core.groups import (
    Groups,
    OneGroup,
    ReducibleGroups,
    States,
    at_identity,
    fields_of,
    folded,
    lowered,
    merged,
    state_of,
)
from ...core.operation import Needs
from ..column_scan import Scan
from ..inputs import Input, evaluated, kept, raw_view

# --- one scan among others ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ScanOf:
    """A scan of values computed from columns, in the rows that are kept."""

    scan: Scan
    of: tuple[Input, ...]
    names: tuple[Hashable, ...]
    """The names of the columns that it is given."""
    where: Input | None = None

    needs = Needs.STATES

    @property
    def label(self) -> str:
        """Name of the scan."""
        return self.scan.label

    @property
    def reverse(self) -> bool:
        """Whether rows are met from the last to the first."""
        return self.scan.reverse

    def _inputs(self, columns: Sequence[Column]) -> tuple[list[Any], Any]:
        """Return the inputs, and which rows are kept; the values of other rows change no state."""
        named = dict(zip(self.names, columns, strict=True))
        found = [evaluated(of, named) for of in self.of]
        if self.where is None:
            return found, None
        keep = kept(self.where, named)
        neutral = self.scan.op.identity_for(np.dtype(np.float64))
        return [_filled(column, keep, neutral) for column in found], keep

    def dtype(self, columns: Sequence[Column]) -> Any:
        """Dtype of the answer."""
        return self.scan.dtype(self._inputs(columns)[0])

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        """Begin to reduce each group."""
        return self.scan.aggregate(self._inputs(columns)[0], groups)

    def combine(self, states: Sequence[States]) -> States:
        """States of neighbouring parts of one group, on the host, as one."""
        return self.scan.combine(states)

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Arrays of states; those of equal keys become one."""
        return self.scan.merge(library, states, groups)

    def last(self, columns: Sequence[Column], states: States) -> Any:
        """Array of the answer after all rows of each group, given arrays of states."""
        return self.scan.last(self._inputs(columns)[0], states)

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        """Array of the answers of rows."""
        found, keep = self._inputs(columns)
        array = self.scan.apply(found, groups, prior)
        return array if keep is None else library_of(columns[0]).set_null(array, ~keep)


def _filled(column: Column, keep: Values, neutral: Scalar) -> Any:
    """Return a column with values that change no state where rows are not kept."""
    library = library_of(column)
    layout = library.layout(column.dtype)
    if layout is None:
        return column
    view = layout.raw(library.array(column))
    values = library.xp.where(keep, view.values, view.values.dtype.type(neutral))
    missing = None if view.nulls is None else view.missing() & keep
    return library.as_column(layout.wrap(values, missing, column.dtype))


# --- several scans at once ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Read:
    """An input of an operator, and whether an array of bool behind it says where it is null."""

    of: Input
    masked: bool


@dataclass(frozen=True)
class Answer:
    """A column of an answer, and whether an array of bool behind its own says where it is null."""

    dtype: DType
    """A dtype that holds every answer exactly."""
    shown: DType
    """The dtype that users get."""
    masked: bool


@dataclass(frozen=True)
class FusedScan:
    """Scans by one operator of all; the answer is a list of arrays."""

    op: Operator
    names: tuple[Hashable, ...]
    """The names of the columns that it is given."""
    reads: tuple[Read, ...]
    answers: tuple[Answer, ...]
    reverse: bool = False

    label = "scan-fused"
    needs = Needs.STATES

    def dtype(self, columns: Sequence[Column]) -> list[Any]:
        """Dtypes of the answers."""
        return [answer.shown for answer in self.answers]

    def _values(self, columns: Sequence[Column]) -> Any:
        """Return the inputs of the operator."""
        named = dict(zip(self.names, columns, strict=True))
        arrays = []
        for read in self.reads:
            view = raw_view(evaluated(read.of, named))
            arrays += [view.values, view.missing()] if read.masked else [view.values]
        return tuple(arrays) if len(arrays) > 1 else arrays[0]

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        """Begin to reduce each group."""
        return groups.reduce(self.op, self._values(columns))

    def combine(self, states: Sequence[States]) -> States:
        """States of neighbouring parts of one group, on the host, as one."""
        return states[0] if len(states) == 1 else folded(self.op, list(states))

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Arrays of states; those of equal keys become one."""
        return merged(self.op, states, groups)

    def last(self, columns: Sequence[Column], states: States) -> list[Any]:
        """Arrays of the answers after all rows of each group, given arrays of states."""
        outs = iter(lowered(library_of(columns[0]), self.op, states))
        return [
            self._wrapped(columns, a, next(outs), next(outs) if a.masked else None)
            for a in self.answers
        ]

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> list[Any]:
        """Arrays of the answers of rows."""
        carry_in = None if prior is None else state_of(prior)
        outs = iter(groups.scan(self.op, self._values(columns), carry_in=carry_in))
        return [
            self._wrapped(columns, a, next(outs), next(outs) if a.masked else None)
            for a in self.answers
        ]

    def _wrapped(
        self, columns: Sequence[Column], answer: Answer, out: Values, missing: Missing
    ) -> Any:
        library = library_of(columns[0])
        # a state may come from another library, whose integers may be null
        dtype = answer.dtype if missing is None else library.masked(answer.dtype)
        layout = library.layout(dtype)
        if layout is None:
            raise TypeError(f"scans of {dtype} have no answers in pandas; save the state as it is")
        array = layout.wrap(out, missing, dtype)
        if answer.shown == answer.dtype:
            return array
        with naming("scan", columns):
            return library.from_masked(array, answer.shown)


@dataclass(frozen=True)
class OfOneColumn(FusedScan):
    """Scans of one column, in which the kernel passes over nulls: these are null in all answers or in none."""

    exclusive: Exclusive = False
    has_nulls: bool = True
    """Whether answers at nulls are null."""
    keeps_nan: bool = False
    """Whether a state shows that a NaN was among the elements."""
    valued: tuple[tuple[int, int] | None, ...] = field(default=(), repr=False)
    """For each answer that is null before the first value, the part of the state that is the identity until then."""

    def _views(self, columns: Sequence[Column]) -> list[Any]:
        library = library_of(columns[0])
        layout = library.layout(columns[0].dtype)
        assert layout is not None
        return [layout.view(library.array(columns[0]))]

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        """Begin to reduce each group."""
        (inputs,) = library_of(columns[0]).in_band(self._views(columns))
        return groups.reduce(self.op, inputs.values, nulls=inputs.nulls)

    def last(self, columns: Sequence[Column], states: States) -> list[Any]:
        """Arrays of the answers after all rows of each group; nulls change none of them."""
        outs = lowered(library_of(columns[0]), self.op, states)
        identity, found = fields_of(self.op.identity), []
        for answer, out, own in zip(self.answers, outs, self.valued, strict=True):
            missing = None
            if own is not None:
                fields = slice(*own)
                missing = at_identity(states[fields], identity[fields]) | (out != out)
            found.append(self._wrapped(columns, answer, out, missing))
        return found

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> list[Any]:
        """Arrays of the answers of rows."""
        library, views = library_of(columns[0]), self._views(columns)
        if not (self.keeps_nan and isinstance(groups, OneGroup)):
            views = library.resolved(views)
        options: dict[str, Any] = {
            "exclusive": self.exclusive,
            "carry_in": None if prior is None else state_of(prior),
        }

        def scan(views: list[View]) -> Callable[[], tuple[View, Any, Any]]:
            (inputs,), state = views, None
            given = {**options, "nulls": inputs.nulls}
            if self._marks(inputs, groups):
                given["mark_nulls"] = True
            if isinstance(groups, OneGroup):
                outs, state = kernels.scan(
                    self.op,
                    inputs.values,
                    reverse=self.reverse,
                    carry_out=inputs.unchecked_nan is not None,
                    **given,
                )
            else:
                outs = groups.scan(self.op, inputs.values, **given)
            return lambda: (inputs, outs, state)

        inputs, outs, _ = library.assume_no_nan(views, scan, lambda found: _any_nan(found[2]))()
        null = self.has_nulls and inputs.nulls is not None and not self._marks(inputs, groups)
        missing = inputs if null else None
        return [
            self._wrapped(columns, answer, out, missing)
            for answer, out in zip(self.answers, outs, strict=True)
        ]

    def _marks(self, inputs: View, groups: Groups) -> bool:
        """Return whether the kernel writes the nulls of answers."""
        return (
            self.has_nulls
            and isinstance(inputs.nulls, InBand)
            and not any(answer.masked for answer in self.answers)
            and (groups.marks_nulls or isinstance(groups, OneGroup))
        )


def _any_nan(state: Any) -> bool:
    return any(bool(np.isnan(part)) for part in fields_of(state))
