"""The backends that tests run on, with conversions of arrays and frames to and from the host.

A test of behaviour takes the fixture `backend`, and runs once on each backend that is present.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import currently_in_test_context, reject

from dask_gpuscan.frames.registry import schema_of
from helpers.versions import older


@dataclass(frozen=True)
class Backend:
    """The CPU backend: NumPy arrays and pandas frames, which need no conversion."""

    name: str = "cpu"

    def holds(self, dtype: Any) -> bool:
        """Return whether there are arrays of this dtype."""
        return True

    def array(self, values: Any) -> Any:
        return np.asarray(values)

    def to_numpy(self, array: Any) -> np.ndarray:
        return array

    def frame(self, frame: Any) -> Any:
        return frame

    def to_pandas(self, frame: Any) -> Any:
        return frame

    def held(self, frame: Any) -> Any:
        """Return a frame of pandas with the nulls that `to_pandas` would return."""
        return frame

    def answer(self, frame: Any, method: Callable[[Any], Any]) -> Any:
        """Return the answer of the backend's own library, or None if it has no such method."""
        try:
            return self.to_pandas(method(self.frame(frame)))
        except (TypeError, ValueError, NotImplementedError, AttributeError, RuntimeError):
            return None


@dataclass(frozen=True)
class Cuda(Backend):
    """CuPy arrays and cuDF frames on a GPU."""

    name: str = "cuda"

    def holds(self, dtype: Any) -> bool:
        return np.dtype(dtype).kind not in "mM"

    def array(self, values: Any) -> Any:
        import cupy

        return cupy.asarray(values)

    def to_numpy(self, array: Any) -> np.ndarray:
        import cupy

        return cupy.asnumpy(array)

    def frame(self, frame: Any) -> Any:
        cudf = pytest.importorskip("cudf")
        dtypes = [frame.dtype] if frame.ndim == 1 else list(frame.dtypes)
        levels = map(frame.index.get_level_values, range(frame.index.nlevels))
        dtypes += [level.dtype for level in levels if level.dtype != object]
        if not all(map(_is_held_by_cudf, dtypes)):
            if currently_in_test_context():
                reject()
            pytest.skip(f"cuDF has no columns of {dtypes}")
        return cudf.from_pandas(frame)

    def to_pandas(self, frame: Any) -> Any:
        return frame.to_pandas()

    def held(self, frame: Any) -> Any:
        return frame.assign(  # null flags become None
            **{
                name: column.where(column.notna(), None)
                for name, column in frame.items()
                if column.dtype == object
            }
        )


def _is_held_by_cudf(dtype: Any) -> bool:
    if isinstance(dtype, np.dtype):
        return dtype.kind in "biufmM" and dtype != np.float16
    return not isinstance(dtype, (pd.PeriodDtype, pd.SparseDtype)) and "date32" not in str(dtype)


def has_cuda() -> bool:
    """Return whether there are CuPy and a device."""
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        return False


def same(left: Any, right: Any, rtol: float = 1e-9, atol: float = 1e-9) -> None:
    """Assert that two frames or series are equal, dtypes, index and names included."""
    check = pd.testing.assert_frame_equal if right.ndim == 2 else pd.testing.assert_series_equal
    # in pandas 2 the dtype of object labels, such as strings, depends on which are null
    objects = left.index.nlevels > 1 or left.index.dtype == object
    kind = False if objects and older("pandas", "3") else "equiv"
    check(left, right, rtol=rtol, atol=atol, check_freq=False, check_index_type=kind)


def same_schema(left: Any, right: Any) -> None:
    """Assert that two frames have the same columns and index, whatever their rows."""
    assert schema_of(left) == schema_of(right)
