"""Every kind of kernel of rolling windows compiles, without a GPU and without register spills."""

import re

import numpy as np
import pytest

from dask_gpuscan.kernels import BUILT_IN, INT128
from dask_gpuscan.kernels.cuda.core.build import build, source
from dask_gpuscan.kernels.cuda.core.plan import NULL_KINDS, TypedOperator
from dask_gpuscan.kernels.cuda.windows.rolling import _passes
from dask_gpuscan.kernels.cuda.windows.tuning import SPAN_SHARED
from dask_gpuscan.kernels.cuda.windows.window_pass import (
    STEPS,
    WindowStartsPass,
    level_passes,
    span_passes,
)
from dask_gpuscan.kernels.operators.compensated import UNCOUNTED_SUM
from helpers.architectures import builds


def passes(name, dtypes, nulls="none", width=10):
    forms = tuple(map(np.dtype, dtypes))
    _, tiles, levels, _ = _passes(BUILT_IN.get(name, name), forms, None, nulls, width, (9, 0))
    return [*tiles, *levels]


def named(name, *options):
    """Return the passes of windows of one width, and of windows between bounds, by name."""
    found = [*passes(name, *options), *passes(name, *options[:2], width=None)]
    return {f"{name}-{each.step}": each for each in found}


PASSES = {
    **named("add", ["f8"], "in band", 1000),
    **{f"add-of-{width}": passes("add", ["f4"], width=width)[0] for width in (1, 3, 16)},
    "levels-alone": passes("add", ["f4"], width=5000)[-1],
    **named("last", ["i4"], "bytes"),
    **named("affine", ["f8", "f8"], "bits"),
    **named("welford", ["f8"], "bits"),
    **named("maximum", [INT128]),
    "first-within": WindowStartsPass(),
    **{f"sum-{each.step}": each for each in passes(UNCOUNTED_SUM, ["f8"], width=1000)},
}


@pytest.mark.parametrize(
    ("each", "capability", "schedule"),
    builds((name, each, ("classic",)) for name, each in PASSES.items()),
)
def test_passes_compile_without_spills(each, capability, schedule):
    code, log = build(each, schedule, capability)
    assert code[:4] == b"\x7fELF"
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log


def test_nulls_and_steps_are_told_apart():
    kinds = [named("add", ["f8"], nulls) for nulls in NULL_KINDS]
    texts = {source(each, "classic", (9, 0)) for kind in kinds for each in kind.values()}
    assert len(texts) == len(STEPS) * len(NULL_KINDS)


@pytest.mark.parametrize(
    ("width", "step"),
    [(4096, "tiles"), (5000, "reduce rows"), (0, "reduce rows"), (None, "spans")],
)
def test_where_windows_fit_shared_memory(width, step):
    assert passes("add", ["f8"], width=width)[0].step == step


@pytest.mark.parametrize("fields", [1, 4, 12, 40])
@pytest.mark.parametrize("capability", [(7, 5), (9, 0)])
def test_spans_have_room_for_more_rows_than_answers(fields, capability):
    f8 = np.dtype("f8")
    of = TypedOperator(BUILT_IN["add"], (f8,), (f8,) * fields, False, (f8,), True, (0.0,) * fields)
    found = span_passes(of, "bytes", capability)
    assert bool(found) == (fields < 40)
    rows = 256 * found[0].items if found else 0
    for each in found:
        assert each.width > rows
        assert each.shared <= SPAN_SHARED[capability == (9, 0)]
        rows = each.width
    # each pass takes the spans that those before leave
    passes = [*found, *level_passes(of, "bytes", found)]
    assert [each.spared for each in passes[: len(found) + 1]] == [-1, *[f.width for f in found]]
    assert len({(each.spared, each.items) for each in passes[len(found) :]}) == 1
