"""What the benchmarks of images share: the radius of their boxes, and the tolerance of answers."""

from __future__ import annotations

from typing import Any

RADIUS = 15


def close(ours: Any, theirs: Any) -> None:
    """Check that no value differs by more than the rounding of the largest: peers add up float32 in float32."""
    assert ours.dtype == theirs.dtype, f"{ours.dtype} is not {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{ours.shape} is not {theirs.shape}"
    tolerance = 1e-3 if ours.dtype.itemsize == 4 else 1e-10
    gap = float(abs(ours - theirs).max())
    assert gap <= tolerance * float(abs(theirs).max()), f"values differ by {gap}"
