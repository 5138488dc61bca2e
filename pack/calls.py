"""The calls whose kernels come with the package."""

from collections.abc import Callable
import dask_gpuscan
import numpy as np
import pandas as pd

d = pd.DataFrame({"x": np.arange(20000) % 1000 + 0.5, "g": np.arange(20000) % 7})
CALLS: dict[str, Callable] = {
    "cumsum": lambda: d["x"].gpuscan.cumsum(),
    "groupcumsum": lambda: d.gpuscan.groupby("g")["x"].cumsum(),
    "filter": lambda: d.gpuscan.filter(d["x"] > 3),
    "filtertext": lambda: d.gpuscan.filter("x > 3"),
    "sort": lambda: d.gpuscan.sort_values("x"),
}
