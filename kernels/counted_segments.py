"""Segmented operators that count segments: their states are what is looked back at where rows or runs are numbered."""

# Numba reads the operators' functions.
# mypy: disable-error-code="no-untyped-def"

from functools import lru_cache

from .operators import Operator


@lru_cache(maxsize=1024)
def counted_segments(op: Operator, is_tuple: bool) -> Operator:
    """Return the operator on ``(heads, *state)``: `op` restarts at heads, which are counted.

    Parameters
    ----------
    op : Operator
    is_tuple : bool
        Whether its state is a tuple.

    Notes
    -----
    `segmented` with a count in place of the flag, for states alone: it is never asked to lift.

    Examples
    --------
    >>> from dask_gpuscan.kernels import BUILT_IN, fold
    >>> fold(counted_segments(BUILT_IN["add"], False), [(1, 5), (0, 2), (2, 4), (0, 1)])
    (np.int64(3), np.int64(5))
    """
    base = op.combine

    def scalars(a, b):
        return (a[0] + b[0], base(a[1], b[1]) if b[0] == 0 else b[1])

    def tuples(a, b):
        state = base(a[1:], b[1:]) if b[0] == 0 else b[1:]
        return (a[0] + b[0], *state)

    return Operator(tuples if is_tuple else scalars, (0, 0), name=f"counted_segments({op.name})")


def _latest(a, b):
    return (a[0] + b[0], a[1] if b[0] == 0 else b[1])


LATEST = Operator(_latest, (0, 0), name="latest")
"""State: how many heads, and the position of the latest."""
