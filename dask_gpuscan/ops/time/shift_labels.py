"""Labels of rows moved by a duration or by a rule of a calendar: the rows stay where they are."""

from __future__ import annotations

from typing import Any

import pandas as pd
from pandas.tseries.offsets import BaseOffset, Day, Tick

from ...frames.registry import columns_of, library_of
from ...frames.types import Frame, Labels
from ...kernels.late_dataclass import dataclass


@dataclass(frozen=True)
class ShiftLabels:
    """The rows of a frame or series whose index holds times, with later labels."""

    periods: int
    freq: BaseOffset | pd.Timedelta

    kind = "move_labels"
    label = "shift-labels"

    def check(self, frame: Frame) -> None:
        """Raise a TypeError unless the index holds datetimes or timedeltas."""
        index = _host_index(frame)
        if not isinstance(index, (pd.DatetimeIndex, pd.TimedeltaIndex)):
            raise TypeError(
                f"freq moves labels that are datetimes or timedeltas, found an index of dtype {index.dtype}; "
                f"leave freq out to move values"
            )
        try:
            self._shifted(index[:0])
        except TypeError as error:
            raise TypeError(f"freq must be a duration, as labels are, found {self.freq}") from error

    def apply(self, frame: Frame) -> Any:
        """Return the rows with their new labels."""
        library = library_of(frame)
        with library.acquire(frame):
            labels = self._shifted(_host_index(frame))
            (name,) = library.index_names(frame)
            index = library.index_of_times(labels, labels.dtype, name)
            # users may write to the answer
            arrays = [library.copy(library.array(column)) for column in columns_of(frame)]
            return library.rebuild(frame, arrays, index)

    def _shifted(self, labels: Labels) -> Any:
        return labels.shift(self.periods, self.freq)

    def keeps_gaps(self, frame: Frame) -> bool:
        """Return whether all labels move equally far, so that those of two partitions stay apart."""
        zoned = getattr(_host_index(frame), "tz", None) is not None
        return isinstance(self.freq, (Tick, pd.Timedelta)) or (
            isinstance(self.freq, Day) and not zoned
        )

    def moved(self, label: Any) -> Any:
        """Return one label moved in the same way."""
        return self._shifted(pd.Index([label]))[0]


def _host_index(frame: Frame) -> Any:
    """Return the index of a frame as one of pandas, which has the rules of calendars."""
    index = library_of(frame).index(frame)
    return index.to_pandas() if hasattr(index, "to_pandas") else index
