"""A warm call goes no longer way than it did: who adds a file or a call sees it here, and takes another out."""

import pytest

from helpers.routes import CALLS, ENGINES, frame, route
from helpers.versions import older

WAYS = {
    ("cumsum", "eager"): (15, 98, 46),
    ("cumsum", "dask"): (15, 663, 290),
    # 15, 95 and 58 while pandas did the work: kernels take a third of the time
    ("groupby.sum", "eager"): (26, 127, 87),
    ("groupby.sum", "dask"): (27, 542, 323),
    ("groupby.cumsum", "eager"): (26, 120, 83),
    ("groupby.cumsum", "dask"): (27, 779, 450),
    ("filter", "eager"): (15, 81, 44),
    ("filter", "dask"): (14, 263, 125),
    ("rle", "eager"): (15, 76, 49),
    ("rle", "dask"): (16, 498, 285),
    ("rolling.sum", "eager"): (22, 125, 66),
    ("rolling.sum", "dask"): (22, 825, 423),
    ("sort_values", "eager"): (16, 64, 38),
    ("sort_values", "dask"): (17, 1196, 621),
}
"""Files, calls, and calls from another file."""


@pytest.mark.skipif(older("dask", "2026.7"), reason="older versions of Dask ask more")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_way_of_a_warm_call(name: str, engine: str) -> None:
    files, calls, between = route(CALLS[name], frame(engine))
    found = zip((len(files), calls, between), WAYS[name, engine], strict=True)
    assert all(now <= most for now, most in found), (calls, between, files)
