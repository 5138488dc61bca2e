"""Which scans of a dict one kernel does together, and what is listed of their states."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dask_gpuscan import add, maximum, minimum, multiply
from dask_gpuscan.api.frame.operator_scans import scan_parts
from dask_gpuscan.frames.pandas.library import PANDAS
from dask_gpuscan.ops.core.columnwise import of_one_group
from dask_gpuscan.ops.core.groups import FORWARD
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scan", [(minimum, "n", "exclusive"), (minimum, "n")])
@pytest.mark.parametrize(("rows", "expected"), [([None, 3, 5], 3), ([None], pd.NA)])
def test_states_of_libraries_whose_integers_may_be_null(scan, rows, expected):
    nullable = pd.DataFrame({"n": pd.array(rows, "Int64")})
    (part,) = scan_parts(nullable, {"low": scan}, ScanArguments(), None, {})
    states = part.operation.aggregate([nullable["n"]], FORWARD)()
    # cuDF's int64 holds nulls, and that of pandas, where its states are listed, does not
    numpy = np.dtype(np.int64)
    answers = tuple([replace(one, dtype=numpy, shown=numpy) for one in part.operation.answers])
    columns = [pd.Series([], dtype=numpy, name="n")]
    (found,) = replace(part.operation, answers=answers).last(columns, of_one_group(PANDAS, states))
    assert found.dtype == "Int64"
    assert found.tolist() == [expected]
    answers = tuple([replace(one, dtype=pd.CategoricalDtype()) for one in answers])
    with pytest.raises(TypeError, match="scans of category have no answers in pandas"):
        replace(part.operation, answers=answers).last(columns, of_one_group(PANDAS, states))
