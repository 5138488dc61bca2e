"""KeyboardInterrupt in a long call: it ends soon, no thread goes on, and later answers are right."""

import os

import pytest

from helpers.programs import python

INTERRUPTS = """
import os, signal, threading, time
import numpy as np, pandas as pd, dask_gpuscan
from dask_gpuscan.kernels.cpu.core import launch

s = np.sin
slow = dask_gpuscan.operator(
    lambda a, b: a + b, identity=0.0, lift=lambda x: s(s(s(s(s(s(s(s(s(s(s(s(x)))))))))))) + s(x) - s(x)
)
rng = np.random.default_rng(0)
rows = 3 * launch.LONG
x = rng.normal(size=rows)
calls = {
    "slow": lambda x: dask_gpuscan.scan(x, slow),
    "scan": dask_gpuscan.cumsum,
    "sort": lambda x: pd.Series(x).gpuscan.sort_values().to_numpy(),
    "windows": lambda x: pd.Series(x, name="x").gpuscan.rolling(50).mean().to_numpy(),
}
def works():
    # whether any thread of this process works
    begin = time.process_time()
    time.sleep(0.1)
    return time.process_time() - begin > 0.05

for name in ASKED:
    call = calls[name]
    expected = call(x[:500_000])  # and kernels are compiled
    for delay in DELAYS:
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        try:
            call(x)
            while time.monotonic() < begin + delay + 5:  # it was done before
                time.sleep(0.01)
        except KeyboardInterrupt:
            late = time.monotonic() - begin - delay
            assert late < 2, (name, late)
        else:
            raise AssertionError("no interrupt")
        until = time.monotonic() + 5
        while works() and time.monotonic() < until:
            pass
        assert not works()
        np.testing.assert_array_equal(call(x[:500_000]), expected)
print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupt_ends_a_long_call_soon():
    from faults.harm import WHOLE

    asked = ["slow", "scan", "sort", "windows"] if WHOLE else ["slow"]
    delays = [0.02, 0.1, 0.3, 0.6] if WHOLE else [0.2]
    program = INTERRUPTS.replace("ASKED", str(asked)).replace("DELAYS", str(delays))
    assert python("-c", program).stdout == "interrupted\n"
