"""What is done to columns: reductions and scans of groups, of which rows that are in no groups are one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ..frames.protocol import Library
from .groups import Groups, ReducibleGroups, States
from .runs import Runs


class Typed(Protocol):
    """What is done to one column, or to several that are the inputs of one operator."""

    def dtype(self, columns: Sequence[Any]) -> Any:
        """Dtype of the answer; raises what the user should see before anything is computed."""


class ColumnOperation(Typed, Protocol):
    """What gives one answer a row."""

    @property
    def label(self) -> str:
        """For the names of tasks, and messages."""


class GroupOperation(Typed, Protocol):
    """What is done to columns of groups."""

    def aggregate(self, columns: Sequence[Any], groups: ReducibleGroups) -> Callable[[], States]:
        """Begin to reduce each group; the function that is returned waits for the states."""

    def combine(self, states: Sequence[States]) -> States:
        """States of neighbouring parts of one group, on the host, as one."""

    def merge(self, library: Library, states: States, groups: ReducibleGroups) -> States:
        """Arrays of states, of which those of equal keys become one."""


class GroupReduction(GroupOperation, Protocol):
    """One answer a group."""

    @property
    def name(self) -> str:
        """For the names of tasks, and messages."""

    def finalize(self, columns: Sequence[Any], states: States) -> Any:
        """Array of the answers of groups, given their states."""

    def finalize_runs(
        self, columns: Sequence[Any], states: States, runs: Runs, carried: States | None
    ) -> Any:
        """Array of the answers of runs, given the state of the one that was open before."""


class GroupScan(GroupOperation, ColumnOperation, Protocol):
    """One answer a row."""

    @property
    def needs_neighbours(self) -> bool:
        """Whether it compares a row with the one before in its group, so that equal keys must be adjacent."""

    @property
    def reverse(self) -> bool:
        """Whether rows are met from the last to the first."""

    def apply(self, columns: Sequence[Any], groups: Groups, prior: States | None) -> Any:
        """Array of the answers of rows, given the states of their groups before."""


Operation = TypeVar("Operation", bound=Typed)
Done = TypeVar("Done", bound=Typed, covariant=True)


@dataclass(frozen=True)
class Part(Generic[Done]):
    """One column of a result: its name, what it is made of (columns, keys; none: rows are counted), and how."""

    name: Hashable
    sources: tuple[Hashable, ...]
    operation: Done


@dataclass(frozen=True)
class JointPart(Part[Done]):
    """Several columns of a result, which one operation gives as a list of arrays: `name` is all of theirs."""

    places: tuple[int, ...] = ()
    """Where they stand among the columns of all joint parts."""


def each_of(function: Callable[[Any], Any], answer: Any) -> Any:
    """Return what a function returns of an operation's answer, or of each of several."""
    return [function(one) for one in answer] if isinstance(answer, list) else function(answer)


def named_answers(parts: Sequence[Part[Any]], answers: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the names of a result's columns, and their arrays."""
    if not any(isinstance(part, JointPart) for part in parts):
        return [part.name for part in parts], answers
    found: dict[int, tuple[Any, Any]] = {}
    for part, answer in zip(parts, answers, strict=True):
        assert isinstance(part, JointPart)
        arrays = answer if isinstance(answer, list) else [answer]
        found |= dict(zip(part.places, zip(part.name, arrays, strict=True), strict=True))  # type: ignore[call-overload]
    pairs = [found[place] for place in sorted(found)]
    return [name for name, _ in pairs], [array for _, array in pairs]
