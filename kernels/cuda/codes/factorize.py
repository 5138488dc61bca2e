"""Codes of groups of CuPy arrays: codes without gaps, codes of words by a sort, and the first row of each group."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from ...operators.built_in import BUILT_IN
from ...options import ScanOptions, SortKey
from ...selection import Runs
from ..columns.compact import compact
from ..columns.selection import head_flags
from ..core.device_arrays import readable
from ..scan.scan import scan
from ..sort.partition import Partition
from ..sort.permute import put
from ..sort.radix_sort import Word, radix_sort
from ..sort.sort import sort
from ..sort.sort_pass import KeyCode
from ..sort.tuning import PLACED_FROM

FEW_FLAGS = 1 << 16
"""The most flags that are copied to the host, which waits for their number in any case."""

SAMPLED_FROM, SAMPLED = 1 << 22, 20
"""Rows from which on groups are looked for in a sample first, and the sample's rows for each group. A sample of 10^6
groups in any order lacks one of them once in 500 calls."""


@lru_cache(maxsize=1)
def _find_first() -> Any:
    # most rows find that an earlier row was written, and write nothing
    text = "if (first[code] > i) atomicMin(&first[code], (R)i)"
    return cupy.ElementwiseKernel("C code", "raw R first", text, "find_first")


@lru_cache(maxsize=1)
def _mark() -> Any:
    # most rows find that their code is marked already, and write nothing
    text = "if (!there[code]) there[code] = true"
    return cupy.ElementwiseKernel("C code", "raw bool there", text, "mark")


@lru_cache(maxsize=1)
def _is_first() -> Any:
    return cupy.ElementwiseKernel(
        "C code, raw R first", "bool found", "found = first[code] == i", "is_first"
    )


def _first_rows(codes: Any, groups: int) -> Any:
    """Return the first row of each code, or the number of all rows if the code does not occur."""
    length = len(codes)
    first = cupy.ndarray(groups, np.int32 if length < 1 << 31 else np.int64)
    first.fill(length)
    _find_first()(codes, first)
    return first


def first_met(codes: Any, groups: int) -> Any:
    """Return whether each row is the first one of its code; see `kernels.factorize.first_met`."""
    return _is_first()(codes, _first_rows(codes, groups))


def factorize(codes: Any, groups: int, *, check: bool) -> tuple[Any, Any]:
    """Return codes without gaps, and their first rows; see `kernels.factorize`."""
    length = len(codes)
    if check and length:
        check_range(codes, groups)
    first = _first_rows(codes, groups)
    there = cupy.flatnonzero(first < length)
    first = first.astype(np.int64, copy=False)
    if len(there) == groups:
        return codes, first
    numbers = cupy.zeros(groups, codes.dtype)
    numbers[there] = cupy.arange(len(there))
    return numbers[codes], first[there]


def most_arranged() -> int:
    """Return 0: rows are never grouped in this way, as a sort of positions is as fast."""
    return 0


def sort_by_code(codes: Any, groups: int, arrays: Sequence[Any]) -> tuple[Any, Any, list[Any]]:
    """Return sorted codes, the rows' positions before, and sorted arrays; see `kernels.factorize.sort_by_code`."""
    codes, *found, rows = sort([SortKey(codes)], [codes, *arrays], None, positions="narrow")
    return codes, rows, found


def factorize_words(words: Any) -> tuple[Any, Any]:
    """Return the places of words among the sorted distinct ones; see `kernels.keys.factorize_words`."""
    dtype = np.dtype(np.int32 if len(words) < 1 << 31 else np.int64)
    if not len(words):
        return cupy.empty(0, dtype), cupy.empty(0, np.int64)
    keys, order = radix_sort(Word(readable(words), KeyCode(words.itemsize)), positions=True)
    heads = head_flags(Runs((keys,), (None,)))
    numbers, _ = scan(
        BUILT_IN["add"],
        (heads.view(np.uint8),),
        ScanOptions(dtype=dtype),
        dtype.type(-1),
        write=True,
        waits=False,
    )
    (first,), _ = compact([order], heads, False, False, False)
    return put(numbers, order), first.astype(dtype, copy=False)


def occurring(codes: Any, groups: int) -> Any:
    """Return the codes that occur; see `kernels.factorize.occurring`."""
    there = cupy.zeros(groups, np.bool_)
    step = len(codes) // (SAMPLED * groups) if len(codes) >= SAMPLED_FROM else 0
    if step > 1:
        _mark()(codes[::step], there)
        if there.all():
            return cupy.arange(groups)
    _mark()(codes, there)
    return flagged(there, [])[0]


def flagged(there: Any, arrays: list[Any]) -> tuple[Any, list[Any]]:
    """Return the positions of flags that are set, and the items of arrays there."""
    groups = len(there)
    if groups > FEW_FLAGS:
        (*kept, rows), _ = compact(arrays, there, False, True, False)
        return rows, kept
    found = np.flatnonzero(there.get())
    rows = cupy.asarray(found)
    return rows, arrays if len(found) == groups else [array[rows] for array in arrays]


def flags_at(rows: Any, length: int) -> Any:
    """Return whether each row is among `rows`; see `kernels.factorize.flags_at`."""
    flags = cupy.zeros(length, np.bool_)
    if len(rows) >= PLACED_FROM:
        rows = Partition(rows, length).codes
    flags[rows] = True
    return flags


def check_range(codes: Any, groups: int) -> None:
    """Raise a ValueError if a code is of no group; there is at least one code. Waits for the device."""
    low, high = value_range(codes)
    if low < 0 or high >= groups:
        raise ValueError(no_group(groups, low if low < 0 else high))


def no_group(groups: int, code: Any) -> str:
    """Return the message for a code of no group."""
    return f"codes must be from 0 to {groups - 1}, found {code}"


def value_range(values: Any) -> tuple[int, int]:
    """Return the smallest and the largest integer; see `kernels.factorize.value_range`."""
    low, high = cupy.stack([values.min(), values.max()]).get()
    return int(low), int(high)
