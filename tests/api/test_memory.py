"""How much memory calls take beside their inputs and answers."""

from pathlib import Path

import pytest

from helpers.programs import python

PEAK = """
import numpy as np, pandas as pd, dask_gpuscan

def memory(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

rows = 4_000_000
rng = np.random.default_rng(0)
df = pd.DataFrame({"k": rng.integers(0, 1000, rows), "x": rng.normal(size=rows)})
ask = lambda frame: frame.gpuscan.groupby("k")["x"].cumsum()
ask(df.iloc[:1000])
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak is that from here on
answer = ask(df)
print((memory("VmHWM") - before) * 1024 / df.memory_usage(index=False).sum())
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak")
def test_scans_of_groups_in_any_order_take_little_more_than_their_answer():
    assert float(python("-c", PEAK).stdout) <= 1.5
