"""Operations on columns: reductions and scans of groups; rows without groups are one group."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import IntEnum
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from ...frames.messages import refuse_values, title_of
from ...frames.protocol import Library
from ...frames.types import Column
from ...kernels.late_dataclass import dataclass
from ..runs import EndedRuns
from .groups import AdjacentGroups, Groups, ReducibleGroups, States


class Needs(IntEnum):
    """The parts of a group that an operation must see, from the least to the most."""

    NUMBERS = 0
    """The number of each row's group if there were no rows before; else states."""
    STATES = 1
    """One state for each part of the group; states of parts are combined."""
    NEIGHBOURS = 2
    """Each row together with the one before it in its group."""
    WHOLE_GROUPS = 3
    """All rows of the group at once."""


class Typed(Protocol):
    """An operation on one column, or on several that are the inputs of one operator."""

    def dtype(self, columns: Sequence[Column]) -> Any:
        """Dtype of the answer; raises what the user should see before anything is computed."""


class ColumnOperation(Typed, Protocol):
    """An operation that gives one answer a row."""

    @property
    def label(self) -> str:
        """For the names of tasks, and messages."""


class GroupOperation(Typed, Protocol):
    """An operation on columns of groups."""

    @property
    def needs(self) -> Needs:
        """The parts of a group that it must see."""

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        """Begin to reduce each group; the function that is returned waits for the states."""

    def combine(self, states: Sequence[States]) -> States:
        """States of neighbouring parts of one group, on the host, as one."""


AnswerRuns = Callable[[EndedRuns, "States | None"], Any]
"""Returns the answers of the runs that end, as an array, given the state of the run that was open before."""


class GroupReduction(GroupOperation, Protocol):
    """One answer a group."""

    @property
    def name(self) -> str:
        """For the names of tasks, and messages."""

    @property
    def at_borders(self) -> bool:
        """Whether it may need only the first and the last row of each group whose rows are adjacent."""

    def reduce_runs(self, columns: Sequence[Column], groups: AdjacentGroups) -> AnswerRuns:
        """Reduce groups whose rows are adjacent."""

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        """Return the answer of a group without rows, as an array of one row; None if it is null."""


class StateReduction:
    """The base of reductions that need states only: states of equal keys merge, wherever their rows are."""

    needs = Needs.STATES

    @property
    def at_borders(self) -> bool:
        return False

    def dtype(self, columns: Sequence[Column]) -> Any:
        raise NotImplementedError

    def aggregate(self, columns: Sequence[Column], groups: ReducibleGroups) -> Callable[[], States]:
        raise NotImplementedError

    def combine(self, states: Sequence[States]) -> States:
        raise NotImplementedError

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Return arrays of states in which those of each group have become one."""
        raise NotImplementedError

    def finalize(self, columns: Sequence[Column], states: States) -> Any:
        """Return the answers of groups as an array, given their states."""
        raise NotImplementedError

    def finalize_runs(
        self, columns: Sequence[Column], states: States, runs: EndedRuns, carried: States | None
    ) -> Any:
        """Return the answers of runs as an array, given the state of the one that was open before."""
        raise NotImplementedError

    def reduce_runs(self, columns: Sequence[Column], groups: AdjacentGroups) -> AnswerRuns:
        states = self.aggregate(columns, groups)()
        return lambda runs, carried: self.finalize_runs(columns, states, runs, carried)

    def of_nothing(self, columns: Sequence[Column]) -> Any:
        return None


class GroupScan(GroupOperation, ColumnOperation, Protocol):
    """One answer a row."""

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Return arrays of states in which those of each group have become one."""

    @property
    def reverse(self) -> bool:
        """Whether rows are met from the last to the first."""

    def apply(self, columns: Sequence[Column], groups: Groups, prior: States | None) -> Any:
        """Array of the answers of rows, given the states of their groups before."""


Operation = TypeVar("Operation", bound=Typed)
Done = TypeVar("Done", bound=Typed, covariant=True)


@dataclass(frozen=True)
class Part(Generic[Done]):
    """One column of a result: its name, its sources (columns or keys; none if rows are counted), and its operation."""

    name: Hashable
    sources: tuple[Hashable, ...]
    operation: Done

    def refuse(self, error: TypeError) -> NoReturn:
        """Raise an error of values that are reduced, with the names of the reduction and of its columns."""
        of: Any = self.operation
        label = of.name if hasattr(of, "name") else of.label
        refuse_values(label, [*map(title_of, self.sources)], error)


@dataclass(frozen=True)
class MultiOutput(Part[Done]):
    """Several columns of a result, which one operation gives as a list of arrays: `name` holds all their names."""

    places: tuple[int, ...] = ()
    """Their places among the columns of all joint parts."""
