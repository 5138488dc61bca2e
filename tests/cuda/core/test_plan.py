"""Plans of one pass and of several: grids, scratch space, and the block of memory that the passes share."""

from types import SimpleNamespace

import numpy as np
import pytest

from dask_gpuscan.kernels.cuda.columns.column_pass import ColumnPass
from dask_gpuscan.kernels.cuda.columns.compact import POSITIONS, gathering
from dask_gpuscan.kernels.cuda.columns.selection import visited
from dask_gpuscan.kernels.cuda.core import launch
from dask_gpuscan.kernels.cuda.core.build import build
from dask_gpuscan.kernels.cuda.core.plan import NOWHERE, Extent, Geometry, Plan, Tickets
from dask_gpuscan.kernels.cuda.core.visitors import HEAD_FLAGS, SELECT, UNIQUE

BOOL, I4 = np.dtype("?"), np.dtype("i4")
FLAGS_OF_RUNS = visited(ColumnPass(UNIQUE, "runs", (I4,), (NOWHERE,)), HEAD_FLAGS)
OF_FLAGS = gathering(
    ColumnPass(SELECT, "flags", (BOOL,), (NOWHERE,)), (POSITIONS,), (), False, False
)
TWO = Plan((FLAGS_OF_RUNS, OF_FLAGS))


def geometry(**options):
    usual = {"threads": 256, "shared": 0, "items": 1024, "lines": 1, "blocks": 8, "descriptor": 8}
    return Geometry(
        **usual | {"described_from": 2, "tickets": Tickets.WHERE_BLOCKS_ARE_FEW} | options
    )


@pytest.mark.parametrize(
    ("options", "extent", "expected"),
    [
        ({}, Extent(1000), (1, 1, 0)),  # one tile needs no scratch space
        ({}, Extent(1025), (2, 2, 16 + 8 * 4)),  # two tiles, their block and its superblock
        ({}, Extent(1024, 9), (8, 1, 16)),  # more lines than blocks: tickets
        ({"items": 0, "lines": 8}, Extent(20, 17), (3, 1, 0)),
        ({"lines": 32, "tickets": Tickets.ALWAYS}, Extent(9, 80, 40), (4, 1, 16)),
        ({"described_from": 1, "tickets": Tickets.ALWAYS}, Extent(5), (1, 1, 16 + 8 * 3)),
    ],
)
def test_grids(options, extent, expected):
    assert launch.grid(geometry(**options), 1, extent) == expected


def test_passes_share_one_block_of_memory(monkeypatch):
    on = SimpleNamespace(capability=(9, 0), multiprocessors=4)
    schedules = []

    def kernel(each, schedule, number):
        schedules.append(schedule)
        return SimpleNamespace()

    monkeypatch.setattr(launch, "device", lambda number: on)
    monkeypatch.setattr(launch, "kernel", kernel)
    found = launch.space.__wrapped__(TWO, Extent(1 << 20), (1000, 8), 0, "")
    assert schedules == ["classic", "pipelined"]
    parts = [(begin, size) for begin, size in zip(found.results, (1000, 8), strict=True)]
    parts += [(step.scratch, step.scratch_bytes) for step in found.steps]
    parts += [
        (step.carry, each.carry.itemsize)
        for step, each in zip(found.steps, TWO.passes, strict=True)
    ]
    for (begin, size), (then, _) in zip(parts, [*parts[1:], (found.bytes, 0)], strict=True):
        assert begin % launch.APART == 0
        assert begin + size <= then
    assert found.carry == OF_FLAGS.carry
    assert [step.size[0] for step in found.steps] == [1 << 20] * 2


@pytest.mark.parametrize("each", TWO.passes, ids=lambda each: each.name)
def test_every_pass_of_a_plan_compiles(each):
    each = each.sized((9, 0))
    code, _ = build(each, each.visitor.schedules[-1], (9, 0))
    assert code[:4] == b"\x7fELF"
