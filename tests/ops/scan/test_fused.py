"""Which scans of a dict one kernel does together."""

import pandas as pd
import pytest

from dask_gpuscan import add, maximum, minimum, multiply
from dask_gpuscan.api.frame.operator_scans import scan_parts
from dask_gpuscan.ops.scan.fused.scan import FusedScan
from dask_gpuscan.ops.scan.kernel_scan import ScanArguments

PAIR = {"total": (add, "x"), "peak": (maximum, "x")}
MANY = {
    "total": (add, "x * n - 1.5"),
    "before": (minimum, "n", "exclusive"),
    "rows": (add, "n // 2 == 1"),
}


@pytest.mark.parametrize(
    ("scans", "kernels"), [(PAIR, 1), (MANY, 1), ({**MANY, "p": (multiply, "x")}, 2)]
)
def test_as_few_kernels_as_there_can_be(scans, kernels):
    meta = pd.DataFrame({"x": [1.0], "n": [1]})
    parts = scan_parts(meta, scans, ScanArguments(), "n > 0", {})
    assert len(parts) == kernels
    assert isinstance(parts[-1].operation, FusedScan)
