"""What a scan of columns is told: its operator, and how it is done."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from ..frames.messages import FLAG, refuse_flag
from ..kernels import Operator


@dataclass(frozen=True)
class ScanOptions:
    """How a scan is done; see `Gpuscan.cumsum` for what users are told.

    Parameters
    ----------
    exclusive : bool
        Whether a row's answer is the state before it.
    initial : scalar, state or dict of column to these, optional
        What a scan, or the scan of each group, starts from.
    reverse : bool
        Whether rows are met from the last to the first.
    skipna : bool
        Whether a scan goes on after nulls; else all that follows one is null.
    dtype : dtype, optional
        To accumulate and answer in.

    Raises
    ------
    ValueError
        For a flag that is neither True nor False.
    """

    exclusive: bool = False
    initial: Any = None
    reverse: bool = False
    skipna: bool = True
    dtype: Any = None

    def __post_init__(self) -> None:
        for name in ("exclusive", "reverse", "skipna"):
            if not isinstance(getattr(self, name), FLAG):
                refuse_flag(name, getattr(self, name))

    def initial_of(self, name: Hashable) -> Any:
        """Return what the scan of a column of this name starts from."""
        return self.initial.get(name) if isinstance(self.initial, dict) else self.initial


@dataclass(frozen=True)
class ScanBase:
    """What every scan of columns is told."""

    label: str
    op: Operator
    options: ScanOptions = ScanOptions()
    in_groups: bool = False

    needs_neighbours = False

    @property
    def reverse(self) -> bool:
        return self.options.reverse

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return (self.label, self.op.token, repr(self.options), self.in_groups)
