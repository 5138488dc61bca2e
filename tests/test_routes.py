"""A warm call enters no more files than it did: who adds one sees it here, and takes another out."""

import pytest

from helpers.routes import CALLS, frame, route

FILES = {
    "cumsum": 15,
    "groupby.sum": 27,
    "groupby.cumsum": 27,
    "filter": 14,
    "rle": 16,
    "rolling.sum": 25,
    "sort_values": 17,
}


@pytest.mark.parametrize("name", CALLS)
def test_files_of_a_warm_call(name: str) -> None:
    files = route(CALLS[name], frame())
    assert len(files) <= FILES[name], f"{name} enters {len(files)} files:\n" + "\n".join(files)
