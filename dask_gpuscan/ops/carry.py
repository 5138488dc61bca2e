"""What an operation tells the look-back over partitions, and the check that partitions have the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..frames.registry import each

Schema = tuple[tuple[Any, Any], ...]
"""Names and dtypes of columns; extension dtypes by name, as categories may differ by partition."""


class Carry(Protocol):
    """What a feature tells the look-back.

    Attributes
    ----------
    label : str
        For the names of tasks.
    reverse : bool
        Whether partitions look at the later ones instead.
    """

    @property
    def label(self) -> str: ...
    @property
    def reverse(self) -> bool: ...

    def aggregate(self, partition: Any) -> Any:
        """Small host value that stands for a partition."""

    def combine(self, aggregates: Sequence[Any]) -> Any:
        """One aggregate for one or more neighbouring partitions, given in scan order."""

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

    A carry may tell, too, that divisions hold for rows that are left out (``keeps_divisions = True``), and which
    carry applies to the partition that nothing follows (``final``), if that one has more to write.
    """

    @property
    def columnwise(self) -> bool: ...
    @property
    def keeps_index(self) -> bool: ...

    def check(self, frame: Any) -> None:
        """Raise the errors that a user should see early."""

    def meta(self, frame: Any) -> Any:
        """Empty output for an empty input, which has been checked."""


def final(carry: Carry) -> Carry:
    """Return the carry that applies to the partition that nothing follows."""
    return getattr(carry, "final", carry)


# --- partitions that match ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Aggregate:
    """What stands for a partition: the schema of its columns, and what its carry says of it."""

    schema: Schema
    inner: Any


@dataclass(frozen=True)
class Matching:
    """A carry that refuses partitions whose columns differ from those of the partitions before."""

    carry: DataFrameCarry

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "carry":
            raise AttributeError(name)
        return getattr(self.carry, name)  # what it says of itself, where it says it

    @property
    def final(self) -> Matching:
        """The carry for the partition that nothing follows."""
        last: Any = final(self.carry)
        return replace(self, carry=last)

    def aggregate(self, partition: Any) -> Aggregate:
        return Aggregate(schema_of(partition), self.carry.aggregate(partition))

    def combine(self, aggregates: Sequence[Aggregate]) -> Aggregate:
        schema = common_schema([a.schema for a in aggregates])
        return Aggregate(schema, self.carry.combine([a.inner for a in aggregates]))

    def apply(self, partition: Any, prefix: Aggregate | None) -> Any:
        if prefix is None:
            return self.carry.apply(partition, None)
        common_schema([prefix.schema, schema_of(partition)])
        return self.carry.apply(partition, prefix.inner)


def schema_of(frame: Any) -> Schema:
    """Return the names and dtypes of the columns of a frame, or of a series."""
    return tuple(
        (c.name, c.dtype if isinstance(c.dtype, np.dtype) else str(c.dtype)) for c in each(frame)
    )


def common_schema(schemas: Sequence[Schema]) -> Schema:
    """Return the one schema of all; raises a ValueError that names what differs."""
    for other in schemas[1:]:
        _check_schema(schemas[0], other)
    return schemas[0]


def _check_schema(earlier: Schema, later: Schema) -> None:
    """Raise a ValueError that names what differs between partitions."""
    if earlier == later:
        return
    if len(earlier) != len(later) or any(a[0] != b[0] for a, b in zip(earlier, later, strict=True)):
        names = [", ".join(str(name) for name, _ in s) for s in (earlier, later)]
        raise ValueError(f"partitions do not match: columns ({names[0]}) and ({names[1]})")
    name, dtype, other = next(
        (a[0], a[1], b[1]) for a, b in zip(earlier, later, strict=True) if a != b
    )
    raise ValueError(
        f"partitions do not match: column {name!r} is {dtype} in one and {other} in another; "
        f"cast it with astype first"
    )
