"""The first row within reach of each row of a CuPy array: by steps back that double, then by binary search.

Rows within reach are near, so what neighbouring threads read is in the cache.
"""

from functools import lru_cache
from typing import Any

import cupy as cp
import numpy as np

SEARCH = """
long long low = grouped ? starts[grouped ? i : 0] : 0, high = i;
const unsigned long long value = values[i];
for (long long step = 1; low < high; step *= 2) {
    const long long at = high - step > low ? high - step : low;
    if (value - (unsigned long long)values[at] > reach) { low = at + 1; break; }
    high = at;
}
while (low < high) {
    const long long middle = low + (high - low) / 2;
    if (value - (unsigned long long)values[middle] > reach) low = middle + 1;
    else high = middle;
}
first = low;
"""


@lru_cache(maxsize=1)
def _kernel() -> Any:
    return cp.ElementwiseKernel(
        "raw int64 values, uint64 reach, raw int64 starts, bool grouped",
        "int64 first",
        SEARCH,
        "first_within",
    )


def first_within(values: Any, reach: int, starts: Any) -> Any:
    """Return the first row within reach of each row; see `kernels.first_within`."""
    out = cp.empty(len(values), np.int64)
    grouped = starts is not None
    _kernel()(values, np.uint64(reach), starts if grouped else values, grouped, out)
    return out
