"""Rolling windows of CuPy arrays."""

from typing import Any

from ..operators import Operator
from ..options import ScanOptions
from ..windows import Windows


def rolling(op: Operator, arrays: tuple[Any, ...], windows: Windows, options: ScanOptions) -> Any:
    """Combine the elements of each window; see `kernels.rolling`.

    Raises
    ------
    NotImplementedError
        Always.
    """
    raise NotImplementedError("rolling windows take NumPy arrays, and no CuPy arrays yet")
