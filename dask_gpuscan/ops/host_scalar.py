"""A value of a column on the host, of any dtype, which partitions tell each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..frames.protocol import Library


@dataclass(frozen=True)
class HostScalar:
    """A row of a column on the host, as its library keeps it, so that it can become a column again."""

    library: Library
    row: Any
    """None where there is no value."""
    dtype: Any

    @property
    def array(self) -> Any:
        """The value as an array of one row, or of none."""
        if self.row is None:
            return self.library.empty(self.dtype)
        return self.library.repeat(self.row, 1, self.dtype)
