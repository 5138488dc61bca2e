"""Columns of strings or bytes as keys: numbers and order of their texts, by the bytes that Arrow keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ... import kernels
from ...kernels.keys import KeyTable, hash_texts, take_texts, text_words
from ...kernels.late_dataclass import dataclass
from ..types import GroupIds, Values
from .layouts import MANY_TEXTS, OFFSETS, PandasArray, holds_text

LARGE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
"""Types whose offsets may be too narrow for several chunks together, and the types to use instead."""


@dataclass(frozen=True)
class Texts:
    """The texts of an array: where each begins and ends among the bytes, and which are null, if any."""

    offsets: Values
    data: Values
    null: Values | None

    @classmethod
    def of(cls, array: PandasArray) -> Texts:
        """Return the texts of an array, without a copy of one chunk."""
        arrow = _one_array(array)
        _, offsets, data = arrow.buffers()
        dtype = np.dtype(OFFSETS[arrow.type])
        begins = np.zeros(1, dtype)
        if offsets is not None and len(arrow):
            begins = np.frombuffer(offsets, dtype, len(arrow) + 1, arrow.offset * dtype.itemsize)
        null = arrow.is_null().to_numpy(zero_copy_only=False) if arrow.null_count else None
        return cls(begins, np.frombuffer(data or b"", np.uint8), null)

    def ids(self) -> GroupIds:
        """Return the numbers of the texts, in no order, with the highest for nulls; some numbers may have no row."""
        codes, groups = hash_texts(self.offsets, self.data)
        if self.null is None:
            return GroupIds(codes, groups)
        codes[self.null] = groups
        return GroupIds(codes, groups + 1)

    def number(self, table: KeyTable) -> tuple[Values, Values]:
        """Return the numbers of texts in a table, and the first rows of new ones; nulls are a text of their own."""
        offsets, data = self.offsets, self.data
        if self.null is not None:
            rows = np.where(self.null, -1, np.arange(len(self.null)))
            offsets, data = take_texts(offsets, data, rows)
            lengths = np.diff(offsets) + self.null
            data = np.insert(data, offsets[:-1][self.null], NO_TEXT)
            offsets = np.append(0, lengths.cumsum())
        return table.number_texts(offsets, data)

    def _keys(self) -> list[Values] | None:
        """Return arrays by which texts are in order, few texts by those that differ; None if there is a long text."""
        lengths = np.diff(self.offsets)
        longest = int(lengths.max()) if len(lengths) else 0
        if longest > LONGEST:
            return None
        keys = [*text_words(self.offsets, self.data, max(1, -(-longest // 8))), lengths]
        if not 0 < len(lengths) <= FEW:
            return keys
        return [key for key in keys if (key != key[0]).any()] or keys[:1]

    def argsort(self) -> Values | None:
        """Return the positions of texts in their order, nulls last; None if there is a long text."""
        keys = self._keys()
        if keys is None:
            return None
        nulls = None if self.null is None else [kernels.byte_mask(self.null)] * len(keys)
        order: Values = kernels.argsort(keys, nulls=nulls)
        return order

    def ranks(self) -> Values | None:
        """Return the rank of each text among the distinct ones; None for many or long texts, and if one is null."""
        keys = self._keys() if self.null is None and 0 < len(self.offsets) - 1 <= FEW else None
        if keys is None:
            return None
        order, differs = kernels.argsort(keys), np.zeros(len(keys[0]), np.bool_)
        for key in keys:
            ordered = key.take(order)
            differs[1:] |= ordered[1:] != ordered[:-1]
        ranks = np.empty(len(order), np.int64)
        ranks[order] = differs.cumsum()
        return ranks

    def take(self, rows: Values, fills: bool) -> Texts:
        """Return the texts of these rows; if `fills`, null at negative ones."""
        null = (
            None
            if self.null is None
            else kernels.take(self.null, rows, True if fills else None, check=False)
        )
        if fills and null is None:
            null = rows < 0
        return Texts(*take_texts(self.offsets, self.data, rows), null)

    def as_array(self, dtype: Any) -> PandasArray | None:
        """Return an array of these texts; None if its dtype has offsets that are too narrow."""
        kind = getattr(dtype, "pyarrow_dtype", pa.large_string())
        width = np.dtype(OFFSETS[kind])
        if self.offsets[-1] > np.iinfo(width).max:
            return None
        validity = None if self.null is None else pa.array(~self.null).buffers()[1]
        buffers = [pa.py_buffer(self.offsets.astype(width, copy=False)), pa.py_buffer(self.data)]
        texts = pa.Array.from_buffers(kind, len(self.offsets) - 1, [validity, *buffers])
        return dtype.__from_arrow__(pa.chunked_array([texts]))


FEW = 1 << 12
"""Texts up to which their ranks are found by a sort of all: 1,000 take a third of the time that they take where the
distinct ones are found first."""

NO_TEXT = 0xFF
"""The byte that stands for a null among texts to be numbered: no text in UTF-8 has it."""

LONGEST = 64
"""Bytes of the longest text for which all are sorted by their words of 8 bytes: each takes 8 bytes of memory a row."""


def factorize_text(array: PandasArray) -> tuple[Values, PandasArray]:
    """Return the numbers of texts, in no order, -1 for nulls, and one value of each."""
    texts = Texts.of(array)
    ids = texts.ids()
    codes, first = kernels.factorize(ids.array, ids.groups, check=False)
    if texts.null is not None:
        codes[texts.null], first = -1, first[:-1]
    return codes, array.take(first)


def argsort(array: PandasArray) -> Values:
    """Return the positions of values in their order, nulls last; equal ones keep theirs."""
    order = Texts.of(array).argsort() if holds_text(array.dtype) else None
    if order is not None:
        return order
    found: Values = array.argsort(kind="stable")
    return found


def taken_texts(array: PandasArray, rows: Values, fills: bool) -> PandasArray:
    """Return the rows of an array at these positions; if `fills`, null at negative ones."""
    if len(rows) < MANY_TEXTS:
        if fills:
            return array.take(rows, allow_fill=True)
        # pandas would look for negative positions first, which takes as long as to take a thousand texts
        return array.dtype.__from_arrow__(array.__arrow_array__().take(rows))
    found = Texts.of(array).take(rows, fills).as_array(array.dtype)
    return array.take(rows, allow_fill=fills) if found is None else found


def _one_array(array: PandasArray) -> pa.Array:
    arrow = array.__arrow_array__()
    if not isinstance(arrow, pa.ChunkedArray):
        return arrow
    if arrow.num_chunks == 1:
        return arrow.chunk(0)
    return arrow.cast(LARGE.get(arrow.type, arrow.type)).combine_chunks()
