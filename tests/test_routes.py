"""A warm call goes no longer way than it did: who adds a file or a call sees it here, and takes another out."""

import pytest

from helpers.routes import CALLS, ENGINES, frame, route
from helpers.versions import older

WAYS = {
    ("cumsum", "eager"): (12, 32, 22),
    ("cumsum", "dask"): (14, 547, 209),
    # 15, 95 and 58 while pandas did the work: kernels take a third of the time
    ("groupby.sum", "eager"): (26, 122, 80),
    ("groupby.sum", "dask"): (27, 530, 280),
    ("groupby.cumsum", "eager"): (26, 112, 74),
    ("groupby.cumsum", "dask"): (27, 740, 381),
    ("filter", "eager"): (15, 63, 34),
    ("filter", "dask"): (14, 194, 87),
    ("rle", "eager"): (14, 59, 41),
    ("rle", "dask"): (15, 367, 206),
    ("rolling.sum", "eager"): (18, 61, 33),
    ("rolling.sum", "dask"): (21, 694, 315),
    ("sort_values", "eager"): (16, 61, 33),
    ("sort_values", "dask"): (17, 809, 393),
}
"""Files, calls, and calls from another file."""


@pytest.mark.skipif(older("dask", "2026.7"), reason="older versions of Dask ask more")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_way_of_a_warm_call(name: str, engine: str) -> None:
    files, calls, between = route(CALLS[name], frame(engine))
    found = zip((len(files), calls, between), WAYS[name, engine], strict=True)
    assert all(now <= most for now, most in found), (calls, between, files)
