"""The backends that tests run on: where arrays and frames live, and how to get them there and back.

A behaviour test takes the fixture `backend` and runs once on each backend that is present.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Backend:
    """The embedded CPU backend: NumPy arrays and pandas frames, which are their own host copies."""

    name: str = "cpu"

    def array(self, values: Any) -> Any:
        return np.asarray(values)

    def to_numpy(self, array: Any) -> np.ndarray:
        return array

    def frame(self, frame: Any) -> Any:
        return frame

    def to_pandas(self, frame: Any) -> Any:
        return frame


def same(left: Any, right: Any, rtol: float = 1e-9) -> None:
    """Assert that two frames or series are equal, dtypes, index and names included."""
    check = pd.testing.assert_frame_equal if right.ndim == 2 else pd.testing.assert_series_equal
    check(left, right, rtol=rtol, atol=1e-9, check_freq=False)
