"""Every kind of kernel of images and grids compiles, without a GPU and without register spills."""

import re

import numpy as np
import pytest

from dask_gpuscan.kernels.cuda.core.build import build
from dask_gpuscan.kernels.cuda.core.tuning import LARGE_SHARED
from dask_gpuscan.kernels.cuda.grids.grid_pass import AreaTablePass, BoxLinePass, image_tile
from helpers.architectures import builds

DTYPES = {  # read, written and of sums
    "floats": ("f4", "f4", "f8"),
    "doubles": ("f8", "f8", "f8"),
    "bytes": ("u1", "u1", "f8"),
    "integers": ("i8", "i8", "i8"),
    "complex": ("c16", "c16", "c16"),
    "short complex": ("c8", "c8", "c16"),
}
RADII = {"floats": (15, 15), "doubles": (1, 40), "bytes": (3, 3), "integers": (15, 0)}


def passes():
    for name, each in DTYPES.items():
        values, out, state = map(np.dtype, each)
        tables = (
            (values, np.dtype("i8"), np.dtype("i8")) if name == "bytes" else (values, out, state)
        )
        yield f"table-{name}", AreaTablePass(*tables)
        reach = RADII.get(name, (7, 7))
        yield f"image-{name}", image_tile(values, out, state, reach, 16384, (9, 0)).each
        yield f"line-{name}", BoxLinePass(values, out, state, 16)


def most_shared(capability):
    """Bytes that a block may have and that nothing else of a kernel here takes."""
    return (226 if capability in LARGE_SHARED else 48) << 10


@pytest.mark.parametrize(
    ("each", "capability", "schedule"),
    builds((name, each, ("classic",)) for name, each in passes()),
)
def test_passes_compile_without_spills(each, capability, schedule):
    each = each.sized(capability)
    code, log = build(each, schedule, capability)
    assert code[:4] == b"\x7fELF"
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log


@pytest.mark.parametrize("capability", [(9, 0), (8, 0)])
def test_blocks_fit(capability):
    dtypes = tuple(map(np.dtype, ("f4", "f4", "f8")))
    most = most_shared(capability)
    for values, out, state in DTYPES.values():
        table = AreaTablePass(*map(np.dtype, (values, out, state))).sized(capability)
        assert table.geometry("classic", capability).shared <= most
    tiles = [image_tile(*dtypes, (r, r), 16384, capability) for r in range(0, 400, 3)]
    assert all(tile is None or tile.each.shared <= most for tile in tiles)
    widths = [0 if tile is None else tile.each.columns for tile in tiles]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 224
    assert widths[-1] == 0
    assert image_tile(*dtypes, (1, 1), 50, capability).each.columns == 64
