"""Without Numba, what the package has no machine code for says that it needs it."""

import json

import pytest

from helpers.programs import run

PROGRAM = """
import json, sys
sys.modules |= {"numba": None, "llvmlite": None}
import dask.dataframe as dd, numpy as np, pandas as pd, polars as pl, pyarrow as pa
import dask_gpuscan
from dask_gpuscan.kernels.compiler import pack
pack.FOLDER = pack.FOLDER / "none"

frame = pd.DataFrame({"x": np.arange(5000.0)})
larger = dask_gpuscan.operator(lambda a, b: a if a > b else b, identity=-np.inf)
calls = {
    "pandas": lambda: frame.gpuscan.cumsum(),
    "integers": lambda: frame.astype("int64").gpuscan.cumsum(),
    "polars": lambda: pl.from_pandas(frame).gpuscan.cumsum(),
    "arrow": lambda: dask_gpuscan.on(pa.table({"x": frame["x"]})).cumsum(),
    "array": lambda: dask_gpuscan.cumsum(frame["x"].to_numpy()),
    "dask": lambda: dd.from_pandas(frame, npartitions=2).gpuscan.cumsum().compute(),
    "stream": lambda: list(dask_gpuscan.stream([frame]).gpuscan.cumsum()),
    "operator": lambda: frame["x"].gpuscan.scan(larger),
    "text": lambda: frame.gpuscan.filter("x > 1"),
    "function": lambda: frame.gpuscan.filter(lambda x: x > 1),
}
said = {}
for name, call in calls.items():
    try:
        call()
    except ImportError as error:
        said[name] = str(error)
with dask_gpuscan.ProgressBar(out=sys.stderr):
    said["bar"] = dd.from_pandas(frame, npartitions=2).gpuscan.row_number().compute().tolist()[-1]
print(json.dumps([list(calls), said]))
"""


def test_calls_without_numba_say_what_to_install() -> None:
    pytest.importorskip("polars")
    calls, said = json.loads(run(PROGRAM)[-1])
    assert said.pop("bar") == 4999
    assert list(said) == calls
    for text in said.values():
        assert text.startswith("this call is compiled by Numba")
        assert text.endswith("pip install numba")
