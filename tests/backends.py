"""The backends that tests run on: where arrays and frames live, and how to get them there and back.

A behaviour test takes the fixture `backend` and runs once on each backend that is present.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest


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


@dataclass(frozen=True)
class Cuda(Backend):
    """CuPy arrays on a GPU; frames come with cuDF."""

    name: str = "cuda"

    def array(self, values: Any) -> Any:
        import cupy

        return cupy.asarray(values)

    def to_numpy(self, array: Any) -> np.ndarray:
        import cupy

        return cupy.asnumpy(array)

    def frame(self, frame: Any) -> Any:
        pytest.skip("frames on the GPU need cuDF")


def has_cuda() -> bool:
    """Tell whether CuPy and a device are there."""
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        return False


def same(left: Any, right: Any, rtol: float = 1e-9) -> None:
    """Assert that two frames or series are equal, dtypes, index and names included."""
    check = pd.testing.assert_frame_equal if right.ndim == 2 else pd.testing.assert_series_equal
    check(left, right, rtol=rtol, atol=1e-9, check_freq=False)
