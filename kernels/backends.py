"""The functions of a backend, and the choice of one: only the type of the arrays decides.

Data stays where it lives: nothing is copied between host and device.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from ..forks import importing
from . import cpu
from .arrays import Array, is_cupy, unsupported
from .operators.operator import Operator
from .operators.signature import State
from .options import (
    AsOfOptions,
    Box,
    Intervals,
    Kth,
    OrderStatistic,
    Positions,
    ScanOptions,
    Shifted,
    SortKey,
)
from .selection import Predicate, RunEnds, Runs, Selection
from .windows import RowWindows, Windows

Answer = Any
"""An array, or for an operator with tuples as states or answers an array for each field; None if nothing is written."""


class Backend(Protocol):
    """The functions of a backend, which is a module; arguments have been checked when it gets them."""

    def scan(
        self,
        op: Operator,
        arrays: tuple[Any, ...],
        options: ScanOptions,
        carry_in: State | None,
        *,
        write: bool,
        waits: bool,
    ) -> tuple[Answer, Callable[[], Any]]:
        """Scan, or without `write` reduce; see `kernels.scan`.

        Returns
        -------
        out : array, tuple of arrays or None
        read : callable
            Waits for the carry-out and returns it, on the host. Call it if and only if `waits`.
        """

    def compact(
        self, arrays: list[Any], selection: Selection, split: bool, positions: bool, in_place: bool
    ) -> tuple[list[Any], list[Any] | None]:
        """Return the selected rows of arrays and, with `split`, the others; see `kernels.partition`."""

    def head_flags(self, selection: Predicate | Runs, out: Any = None) -> Any:
        """Return which rows are selected as an array of bool; see `kernels.head_flags` and `kernels.flags`."""

    def run_lengths(self, runs: Runs, dtype: np.dtype) -> tuple[Any, Any]:
        """Return where runs start and how long they are; see `kernels.run_length_encode`."""

    def intervals(
        self, counts: Any, gather: Any, scatter: Any, lengths: tuple[int, int]
    ) -> Intervals:
        """Return intervals of a source and an output of these lengths: counts and offsets checked, counts added up."""

    def copy_intervals(self, intervals: Intervals, source: Any, out: Any, *, repeats: bool) -> Any:
        """Copy the items of intervals to `out`, which is new if it is None, and return it.

        If it `repeats`, the source has one item for each interval.
        """

    def available(self) -> float:
        """Return the bytes of memory that could be used; infinity where only an allocation shows it."""

    def reduce_by_key(
        self,
        op: Operator,
        runs: RunEnds,
        values: tuple[Any, ...],
        options: ScanOptions,
        *,
        starts: bool,
        lower: bool,
    ) -> tuple[Any, Answer]:
        """Reduce runs of equal keys; see `kernels.reduce_by_key`."""

    def scan_by_key(
        self,
        op: Operator,
        runs: RunEnds,
        values: tuple[Any, ...],
        options: ScanOptions,
        carry_in: State | None,
        *,
        saw_null: Any,
        carry_out: bool,
    ) -> tuple[Answer, Any]:
        """Scan within runs of equal keys; see `kernels.scan_by_key`."""

    def sort(
        self,
        keys: Sequence[SortKey],
        arrays: Sequence[Any],
        starts: Any,
        *,
        positions: Positions,
        kth: Kth | None = None,
    ) -> list[Any]:
        """Return arrays in the order of keys; see `kernels.sort_pairs`.

        Arrays may be the values of keys. `starts` are the first rows of segments that are sorted separately, or
        None. With `positions`, the rows' positions come last, as int64 or, if "narrow", in a dtype that holds them.
        `kth` returns the only positions that matter.
        """

    def is_sorted(self, values: Any, heads: Any) -> bool:
        """Return whether values never decrease; see `kernels.sorted_values.is_sorted`."""

    def tied_ranks(self, keys: Any, method: str, groups: Any) -> Any:
        """Return the ranks of sorted keys; see `kernels.sorted_values.tied_ranks`."""

    def sorted_quantiles(
        self, values: Any, starts: Any, counts: Any, q: float, *, midpoint: bool
    ) -> Any:
        """Return a quantile of each segment of sorted values; see `kernels.sorted_values.sorted_quantiles`."""

    def take(self, array: Any, positions: Any, fill: Any) -> Any:
        """Return rows by position; see `kernels.take`."""

    def put(self, rows: Any, positions: Any) -> Any:
        """Return rows at other positions; see `kernels.put`."""

    def shift(
        self, array: Any, shifted: Shifted, fill: Any, *, subtracts: bool, exact: bool
    ) -> Any:
        """Return shifted rows or, if it `subtracts`, the changes since; see `kernels.shift`."""

    def subtract(self, now: Any, earlier: Any, out: Any) -> bool:
        """Write exact differences of integers, and return whether all fit; see `kernels.shift.subtract`."""

    def are_floats(self, integers: Any) -> bool:
        """Return whether float64 holds integers exactly; see `kernels.shift.are_floats`."""

    def rows_before(self, codes: Any, groups: int, periods: int, *, check: bool) -> Any:
        """Return the row `periods` rows before each row in its group; see `kernels.windows_by_code.rows_before`."""

    def finds_rows_before(self, groups: int, periods: int) -> bool:
        """Return whether `rows_before` is faster than bringing the rows of groups together."""

    def by_code(
        self,
        op: Operator,
        codes: Any,
        values: tuple[Any, ...],
        groups: int,
        options: ScanOptions,
        carry_in: State | None,
        carry_codes: Any,
        *,
        write: bool,
        check: bool,
        occurring: bool,
    ) -> tuple[Answer, Answer, Any]:
        """Scan, or without `write` reduce, groups of rows in any order; see `kernels.scan_by_code`.

        With `occurring`, only groups with rows have states, and the third result is their codes.
        """

    def max_groups(self, length: int) -> int | None:
        """Return the most groups that `by_code` takes for this many rows; None if any number."""

    def rolling(
        self, op: Operator, arrays: tuple[Any, ...], windows: Windows, options: ScanOptions
    ) -> Answer:
        """Combine the elements of each window; see `kernels.rolling`.

        Row windows have a count, and bounds within the number of rows; of bounds that are arrays, only the dtype and
        the length have been checked.
        """

    def rolling_by_code(
        self,
        op: Operator,
        codes: Any,
        arrays: tuple[Any, ...],
        groups: int,
        windows: RowWindows,
        options: ScanOptions,
    ) -> Answer:
        """Combine the elements of windows of each group; see `kernels.windows_by_code.rolling_by_code`.

        Windows have rows, and end with the row of each or with the one before.
        """

    def most_ring_rows(self) -> int:
        """Return the rows of the windows of all groups together below which `rolling_by_code` is fast."""

    def order_statistics(
        self, statistic: OrderStatistic, values: Any, windows: Windows, least: int
    ) -> Any:
        """Return an order statistic of each window; see `kernels.order_statistics`."""

    def factorize(self, codes: Any, groups: int, *, check: bool) -> tuple[Any, Any]:
        """Return codes without gaps, and their first rows; see `kernels.factorize`."""

    def factorize_words(self, words: Any) -> tuple[Any, Any]:
        """Return codes of words, and the first row of each; see `kernels.keys.factorize_words`."""

    def occurring(self, codes: Any, groups: int) -> Any:
        """Return the codes that occur; see `kernels.factorize.occurring`."""

    def flags_at(self, rows: Any, length: int) -> Any:
        """Return whether each row is among some; see `kernels.factorize.flags_at`."""

    def first_met(self, codes: Any, groups: int) -> Any:
        """Return whether each row is the first one of its code; see `kernels.factorize.first_met`."""

    def most_arranged(self) -> int:
        """Return the most groups that `arrange` takes."""

    def arrange(self, codes: Any, groups: int, arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Bring the rows of each group together; see `kernels.factorize.arrange_by_code`."""

    def sort_by_code(
        self, codes: Any, groups: int, arrays: Sequence[Any]
    ) -> tuple[Any, Any, list[Any]]:
        """Return sorted codes, the old positions of rows, and arrays; see `kernels.factorize.sort_by_code`."""

    def count_distinct(self, words: Any, ends: Any, missing: Any) -> Any:
        """Return how many distinct words each segment has; see `kernels.keys.count_distinct`."""

    def hash_codes(self, words: Any) -> tuple[Any, int]:
        """Return codes that are equal where words are; see `kernels.keys.hash_codes`."""

    def hash_texts(self, offsets: Any, data: Any) -> tuple[Any, int]:
        """Return codes that are equal where texts are; see `kernels.keys.hash_texts`."""

    def text_words(self, offsets: Any, data: Any, count: int) -> Any:
        """Return the first bytes of texts as words; see `kernels.keys.text_words`."""

    def take_texts(self, offsets: Any, data: Any, rows: Any) -> tuple[Any, Any]:
        """Return the texts of some rows; see `kernels.keys.take_texts`."""

    def value_range(self, values: Any) -> tuple[int, int]:
        """Return the least and the greatest of some integers; see `kernels.factorize.value_range`."""

    def window_starts(self, values: Any, reach: int, starts: Any) -> Any:
        """Return the first row within reach of each row; see `kernels.rolling.window_starts`."""

    def searchsorted_sorted(self, needles: Any, haystack: Any, *, right: bool) -> Any:
        """Return where sorted needles would be inserted; see `kernels.sorted_values.searchsorted_sorted`."""

    def asof(self, left: Any, right: Any, codes: Any, groups: int, options: AsOfOptions) -> Any:
        """Return the row of the right side that matches each row of the left; see `kernels.asof`."""

    def summed_area_table(self, values: Any, dtype: np.dtype, state: np.dtype) -> Any:
        """Return the tables of images, which are the last two axes of three; see `kernels.grids.summed_area_table`."""

    def box_filter(self, values: Any, box: Box) -> Any:
        """Return the mean of the box around each element; see `kernels.grids.box_filter`."""


class _Backends(dict[frozenset[type], Backend]):
    """The backend of each set of types of arrays, which is found when it is first needed."""

    def __missing__(self, kinds: frozenset[type]) -> Backend:
        found = [_of_kind(kind) for kind in kinds]
        backend = found[0] if found else None
        if backend is None or any(other is not backend for other in found):
            raise TypeError(unsupported(kinds))
        self[kinds] = backend
        return backend


BACKENDS = _Backends({frozenset({np.ndarray}): cpu})
"""The backend of each set of types of arrays. Front doors that are called often look here themselves."""


def backend_of(arrays: Iterable[Array]) -> Backend:
    """Return the backend of these arrays.

    Raises
    ------
    TypeError
        If they are not all arrays of one supported type.
    ImportError
        If they live on a GPU and the extra for it is missing.
    """
    return BACKENDS[frozenset(map(type, arrays))]


def _of_kind(kind: type) -> Backend | None:
    """Return the backend of a type of arrays; None for a type without one."""
    if issubclass(kind, np.ma.MaskedArray):
        raise TypeError("kernels take no masked arrays; give their data, and nulls=byte_mask(mask)")
    if issubclass(kind, np.ndarray):
        return cpu
    return _cuda() if is_cupy(kind) else None


def _cuda() -> Backend:
    """Import the CUDA backend, which only the first CuPy array does."""
    try:
        with importing:
            from . import cuda
    except ImportError as error:
        raise ImportError(
            f"CuPy arrays need the extra cuda13 (pip install 'dask-gpuscan[cuda13]'): {error}"
        ) from error
    return cuda
