"""A warm call goes no longer way than it did: who adds a file or a call sees it here, and takes another out."""

import pytest

from helpers.routes import CALLS, ENGINES, frame, route
from helpers.versions import older

WAYS = {
    ("cumsum", "eager"): (13, 65, 32),
    ("cumsum", "dask"): (14, 554, 209),
    # 15, 95 and 58 while pandas did the work: kernels take a third of the time
    ("groupby.sum", "eager"): (26, 122, 80),
    ("groupby.sum", "dask"): (27, 530, 280),
    ("groupby.cumsum", "eager"): (26, 115, 77),
    ("groupby.cumsum", "dask"): (27, 743, 384),
    ("filter", "eager"): (15, 63, 34),
    ("filter", "dask"): (14, 194, 87),
    ("rle", "eager"): (15, 67, 43),
    ("rle", "dask"): (16, 415, 218),
    ("rolling.sum", "eager"): (22, 116, 59),
    ("rolling.sum", "dask"): (22, 705, 317),
    ("sort_values", "eager"): (16, 61, 33),
    ("sort_values", "dask"): (17, 833, 391),
}
"""Files, calls, and calls from another file."""


@pytest.mark.skipif(older("dask", "2026.7"), reason="older versions of Dask ask more")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_way_of_a_warm_call(name: str, engine: str) -> None:
    files, calls, between = route(CALLS[name], frame(engine))
    found = zip((len(files), calls, between), WAYS[name, engine], strict=True)
    assert all(now <= most for now, most in found), (calls, between, files)
