"""Sorting of CuPy arrays by keys, which become words; ranks and searches.

Rows are sorted by the first word; those that tie are sorted by the following words and put back in their places. If
most tie, all are sorted by the following words, and then by the first one. Rows with a null in the first key are
sorted separately, by the other keys.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import cupy
import numpy as np

from ...arrays import is_int128
from ...nulls import InBand, Mask
from ...options import Kth, Positions, SortKey
from ..columns.compact import compact
from ..core import launch
from ..core.device_arrays import readable, valid_elements
from ..core.plan import Extent
from .permute import CARRIED, take_all
from .radix_sort import Word, move, radix_sort, rows_at, tied_slots
from .sort_pass import KeyCode, RankPass, SearchPass
from .tuning import MOSTLY_TIED

KINDS = {"b": "unsigned", "u": "unsigned", "i": "signed", "f": "floats", "m": "times", "M": "times"}
"""The kind of codes, by the kind of a dtype."""


class Level(NamedTuple):
    """A word to sort by, and which rows are valid if some may be null."""

    word: Word
    valid: Any = None
    nulls_first: bool = False
    words: int = 1
    """The number of words of its key, from this one on."""

    def take(self, positions: Any) -> "Level":
        """Return the level for the rows at these positions."""
        valid = None if self.valid is None else rows_at(self.valid, positions)
        return Level(self.word.take(positions), valid, self.nulls_first, self.words)


def sort(
    keys: Sequence[SortKey],
    arrays: Sequence[Any],
    starts: Any,
    *,
    positions: Positions,
    kth: Kth | None = None,
) -> list[Any]:
    """Return arrays in the order of keys; `kth` is ignored. See `kernels.sort_pairs`."""
    count = len(keys[0].values)
    columns = [readable(a) for a in arrays]
    if not count:
        return [a.copy() for a in columns] + [cupy.ndarray(0, np.int64)] * bool(positions)
    levels = [level for key in keys for level in _levels(key)]
    if starts is None and len(levels) == 1 and levels[0].valid is None:
        return _by_word(levels[0].word, keys[0].values, arrays, columns, positions)
    alone = len(levels) == 1 and levels[0].valid is None and not positions
    if alone and len(arrays) == 1 and arrays[0] is keys[0].values:
        assert starts is not None
        return [_values_within(starts, levels[0].word).view(columns[0].dtype)]
    order = _order(levels)
    if starts is not None:
        order = _within(starts, order)
    found = take_all(columns, order)
    if positions is True:
        order = order.astype(np.int64, copy=False)
    return [*found, order] if positions else found


FALLS = """
const long long first = i / 256 * 1024 + i % 256;
#pragma unroll
for (int k = 0; k < 4; k++) {
    const long long row = first + 256 * k;
    if (row < count && !(rows[row] >= rows[max(row - 1, 0LL)]) && !(HAS_HEADS && heads[row])) found[0] = true;
}
"""


@lru_cache(maxsize=2)
def _falls(has_heads: bool) -> Any:
    text = FALLS.replace("HAS_HEADS", str(has_heads).lower())
    arguments = "raw T rows, raw bool heads, int64 count"
    return cupy.ElementwiseKernel(arguments, "raw bool found", text, "falls")


def is_sorted(values: Any, heads: Any) -> bool:
    """Return whether values never decrease; see `kernels.sorted_values.is_sorted`."""
    return are_sorted([values], heads)


def are_sorted(arrays: Sequence[Any], heads: Any = None) -> bool:
    """Return whether no array decreases; wait for the GPU once."""
    found = cupy.zeros(1, np.bool_)
    for array in arrays:
        count = len(array)
        _falls(heads is not None)(
            readable(array), found if heads is None else heads, count, found,
            size=256 * -(-count // 1024),
        )  # fmt: skip
    return not found[0]


def tied_ranks(keys: Any, method: str, groups: Any) -> Any:
    """Return the ranks of sorted keys; see `kernels.sorted_values.tied_ranks`."""
    out = cupy.ndarray(len(keys), np.float64)
    if len(keys):
        keys = readable(keys)
        groups = None if groups is None else readable(groups)
        code = KeyCode(keys.dtype.itemsize, KINDS[keys.dtype.kind])
        plan = RankPass(code, method, 0 if groups is None else groups.itemsize).alone
        begun = launch.Launch(launch.current_space(plan, Extent(len(keys))), False)
        begun.run(0, [keys.data.ptr, 0 if groups is None else groups.data.ptr, out.data.ptr])
    return out


@lru_cache(maxsize=1)
def _quantiles() -> Any:
    # products and sums are rounded separately, as on a CPU
    text = """
    const double place = __dmul_rn(q, double(max(count - 1, 0LL)));
    const long long lower = (long long)place, at = start + lower;
    const double share = __dsub_rn(place, double(lower));
    found = nan("");
    if (count > 0) {
        found = double(values[at]) + 0.0;
        if (share > 0) {
            const double above = double(values[at + 1]) + 0.0;
            found = midpoint ? __dadd_rn(found, above) / 2
                : __dadd_rn(found, __dmul_rn(__dsub_rn(above, found), share));
        }
    }
    """
    return cupy.ElementwiseKernel(
        "raw T values, int64 start, int64 count, float64 q, bool midpoint",
        "float64 found",
        text,
        "quantiles",
    )


def sorted_quantiles(values: Any, starts: Any, counts: Any, q: float, *, midpoint: bool) -> Any:
    """Return a quantile of each segment of sorted values; see `kernels.sorted_values.sorted_quantiles`."""
    out = cupy.ndarray(len(starts), np.float64)
    if len(starts):
        _quantiles()(values, starts, counts, q, midpoint, out)
    return out


def _by_word(
    word: Word, own: Any, arrays: Sequence[Any], columns: Sequence[Any], positions: Positions
) -> list[Any]:
    """Sort by one word, and move one array or the positions along; the other arrays are taken by position."""
    others = [c for a, c in zip(arrays, columns, strict=True) if a is not own]
    wants_keys = len(others) < len(columns)
    carried = bool(positions or len(others) > 1 or any(o.itemsize not in CARRIED for o in others))
    values = None if carried or not others else _bits(others[0])
    keys, moved = radix_sort(
        word, values, positions=carried, wants_keys=wants_keys, widens=positions is True
    )
    rest = take_all(others, moved) if carried else [moved.view(o.dtype) for o in others]
    left = iter(rest)
    pairs = zip(arrays, columns, strict=True)
    found = [keys.view(c.dtype) if a is own else next(left) for a, c in pairs]
    return [*found, moved] if positions else found


def _order(levels: Sequence[Level]) -> Any:
    """Return the positions of rows in the order of levels."""
    (word, valid, nulls_first, words), *rest = levels
    if valid is not None:
        kept, others = compact([], valid, True, True, False)
        assert others is not None
        with_value, null = kept[-1], others[-1]
        if len(null):
            alone = [Level(word), *rest]
            parts = [_rows(with_value, alone), _rows(null, rest[words - 1 :])]
            return cupy.concatenate(parts[::-1] if nulls_first else parts)
    keys, order = radix_sort(word, positions=True, wants_keys=bool(rest))
    if not rest:
        return order
    slots = tied_slots(Word(keys, word.code))
    if len(slots) > MOSTLY_TIED * len(keys):
        order = _order(rest)
        _, order = radix_sort(word.take(order), order, wants_keys=False)
    elif len(slots):
        rows = rows_at(order, slots)
        rows = _rows(rows, rest)
        _, again = radix_sort(word.take(rows), positions=True, wants_keys=False)
        move(rows_at(rows, again), slots, order, puts=True)
    return order


def _rows(rows: Any, levels: Sequence[Level]) -> Any:
    """Return rows, which are positions, in the order of levels."""
    if not levels or not len(rows):
        return rows
    return rows_at(rows, _order([level.take(rows) for level in levels]))


def _segments(starts: Any, count: int) -> Any:
    """Return the segment of each row."""
    segments = cupy.zeros(count, np.uint32 if len(starts) < 1 << 32 else np.uint64)
    segments[starts[1:]] = 1
    return cupy.cumsum(segments, dtype=segments.dtype)


def _values_within(starts: Any, word: Word) -> Any:
    """Return values sorted within segments: their segments are moved along, so that nothing is gathered."""
    values, segments = radix_sort(word, _segments(starts, len(word)))
    _, moved = radix_sort(Word(segments, KeyCode(segments.itemsize)), values, wants_keys=False)
    return moved


def _within(starts: Any, order: Any) -> Any:
    """Return rows in the order of their segments; rows of a segment keep their order."""
    segments = _segments(starts, len(order))
    word = Word(rows_at(segments, order), KeyCode(segments.itemsize))
    _, again = radix_sort(word, positions=True, wants_keys=False)
    return rows_at(order, again)


def _bits(array: Any) -> Any:
    return array.view(f"u{array.itemsize}")


def _levels(key: SortKey) -> list[Level]:
    """Return the words of a key, the most significant first."""
    values, valid = key.values, None
    if isinstance(key.nulls, Mask):
        valid = valid_elements(key.nulls, len(values))
    if is_int128(values.dtype):
        halves = [(values["high"], "signed"), (values["low"], "unsigned")]
    else:
        is_time = isinstance(key.nulls, InBand) and values.dtype == np.int64
        halves = [(values, "times" if is_time else KINDS[values.dtype.kind])]
    found: list[Level] = []
    for half, kind in halves:
        code = KeyCode(half.dtype.itemsize, kind, key.descending, key.nulls_first)
        left = len(halves) - len(found)
        found.append(Level(Word(_bits(readable(half)), code), valid, key.nulls_first, left))
        valid = None
    return found


def searchsorted_sorted(
    needles: Any,
    haystack: Any,
    *,
    right: bool,
    shift: int = 0,
    beyond: int | None = None,
    unsorted: Any = None,
) -> Any:
    """Return where needles would be inserted; see `kernels.sorted_values.searchsorted_sorted`.

    `shift` is added to each place, but places from `beyond` on become -1. The only item of `unsorted` becomes True if a
    side decreases or holds NaN; with `unsorted`, both sides must have rows.
    """
    needles, haystack = readable(needles), readable(haystack)
    out = cupy.ndarray(len(needles), np.int64)
    if len(needles):
        last = len(haystack) + 1 if beyond is None else beyond
        _search(needles, haystack, right, unsorted, [out.data.ptr, 0, 0, 0, 0, 0], (shift, last))
    return out


def merge_sorted(
    needles: Any,
    haystack: Any,
    codes: tuple[Any, Any],
    *,
    right: bool,
    number: int,
    backward: bool,
    unsorted: Any,
) -> tuple[Any, Any, Any]:
    """Merge two sorted sides, of fewer than 2**31 rows together, with an int32 code for each row.

    Returns
    -------
    codes, rows : array of int32
        The code of each merged row, and its position in the haystack, or `number` for a needle; from the last row to
        the first if `backward`.
    is_needle : array of bool
    """
    both = len(needles) + len(haystack)
    found = [cupy.ndarray(both, dtype) for dtype in (np.int32, np.int32, np.bool_)]
    pointers = [0, *(a.data.ptr for a in (*codes, *found))]
    options = both - 1 if backward else -1, number
    _search(needles, haystack, right, unsorted, pointers, options, merges=True)
    codes_, rows, is_needle = found
    return codes_, rows, is_needle


def _search(
    needles: Any,
    haystack: Any,
    right: bool,
    unsorted: Any,
    pointers: Sequence[int],
    options: tuple[int, int],
    merges: bool = False,
) -> None:
    code = KeyCode(needles.dtype.itemsize, KINDS[needles.dtype.kind])
    lengths = len(needles), len(haystack)
    plan = SearchPass(code, right, merges).alone
    begun = launch.Launch(launch.current_space(plan, Extent(sum(lengths))), False)
    sides = [needles.data.ptr, haystack.data.ptr, 0 if unsorted is None else unsorted.data.ptr]
    begun.run(0, [*sides, *pointers], options=(*lengths, *options))
