"""A warm call goes no longer way than it did: who adds a file or a call sees it here, and takes another out."""

import pytest

from helpers.routes import CALLS, ENGINES, frame, route
from helpers.versions import older

WAYS = {
    ("cumsum", "eager"): (13, 67, 34),
    ("cumsum", "dask"): (14, 586, 253),
    # 15, 95 and 58 while pandas did the work: kernels take a third of the time
    ("groupby.sum", "eager"): (26, 125, 86),
    ("groupby.sum", "dask"): (27, 542, 323),
    ("groupby.cumsum", "eager"): (26, 117, 82),
    ("groupby.cumsum", "dask"): (27, 774, 450),
    ("filter", "eager"): (15, 66, 37),
    ("filter", "dask"): (14, 219, 105),
    ("rle", "eager"): (14, 64, 44),
    ("rle", "dask"): (15, 440, 264),
    ("rolling.sum", "eager"): (21, 115, 60),
    ("rolling.sum", "dask"): (21, 804, 406),
    ("sort_values", "eager"): (16, 61, 37),
    ("sort_values", "dask"): (17, 1152, 620),
}
"""Files, calls, and calls from another file."""


@pytest.mark.skipif(older("dask", "2026.7"), reason="older versions of Dask ask more")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_way_of_a_warm_call(name: str, engine: str) -> None:
    files, calls, between = route(CALLS[name], frame(engine))
    found = zip((len(files), calls, between), WAYS[name, engine], strict=True)
    assert all(now <= most for now, most in found), (calls, between, files)
