"""What an operation tells the look-back over partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Summary(Protocol):
    """What stands for a partition, and for neighbouring partitions."""

    def aggregate(self, partition: Any) -> Any:
        """Small host value that stands for a partition."""

    def combine(self, aggregates: Sequence[Any]) -> Any:
        """One aggregate for one or more neighbouring partitions, given in scan order."""


class Carry(Summary, Protocol):
    """What a feature tells the look-back.

    Attributes
    ----------
    label : str
        For the names of tasks.
    reverse : bool
        Whether partitions look at the later ones instead.

    A carry whose aggregates may be large tells how many partitions look back at the same one (``window``); None if
    they are small, as of a carry that does not tell.
    """

    @property
    def label(self) -> str: ...
    @property
    def reverse(self) -> bool: ...

    def apply(self, partition: Any, prefix: Any) -> Any:
        """Output of a partition; `prefix` is the aggregate of all before it, None for the first."""


class DataFrameCarry(Carry, Protocol):
    """What a feature of dataframes tells beside.

    Attributes
    ----------
    columnwise : bool
        Whether each column of the output depends on the column of that name alone.
    keeps_index : bool
        Whether the output has its input's index, so that divisions hold.

    A carry may tell, too, that divisions hold for rows that are left out (``keeps_divisions = True``), which
    carry applies to the partition that nothing follows (``final``), if that one has more to write, and which columns
    it reads beside the one that is asked for (``key_columns``).
    """

    @property
    def columnwise(self) -> bool: ...
    @property
    def keeps_index(self) -> bool: ...

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""

    def meta(self, frame: Any) -> Any:
        """Empty output for an empty input, which has been checked."""


class SurroundedCarry(Protocol):
    """What a feature of dataframes tells that looks at the partitions before, at those behind, or at both.

    Attributes
    ----------
    label, columnwise, keeps_index
        As of other carries.
    before, after : Summary or None
        Of the partitions before, and of those behind from the last to the next one; None if it does not look there.
    """

    @property
    def label(self) -> str: ...
    @property
    def columnwise(self) -> bool: ...
    @property
    def keeps_index(self) -> bool: ...
    @property
    def before(self) -> Summary | None: ...
    @property
    def after(self) -> Summary | None: ...

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""

    def meta(self, frame: Any) -> Any:
        """Empty output for an empty input, which has been checked."""

    def apply(self, partition: Any, before: Any, after: Any) -> Any:
        """Output of a partition, given the aggregates of what is on either side; None where nothing is."""
