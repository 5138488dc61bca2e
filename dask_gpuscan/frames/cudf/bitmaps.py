"""Bitmaps of valid rows, as cuDF keeps them: makes them, searches them, and reads numbers with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import cupy
import numpy as np
import pylibcudf as plc

from ...kernels import Mask
from ...kernels.cuda.core.devices import device
from ...kernels.cuda.core.pinned import pinned_buffer
from ..types import Values


@lru_cache(maxsize=1)
def floats_or_nan() -> Any:
    """Return the kernel that makes numbers float64, NaN where a bit says that they are null."""
    return cupy.ElementwiseKernel(
        "T value, raw uint8 bits, int64 offset",
        "float64 number",
        """
        const long long bit = offset + i;
        const bool valid = (bits[bit >> 3] >> (bit & 7)) & 1;
        number = valid ? (double)value : __longlong_as_double(0x7ff8000000000000LL);
        """,
        "floats_or_nan",
    )


_VALID_BITS = """
extern "C" __global__ void valid_bits(const TYPE* rows, unsigned* bits, unsigned long long* nulls, long long count) {
  const int lane = threadIdx.x % 32;
  unsigned found = 0;
  const long long warps = gridDim.x * (blockDim.x / 32LL), words = (count + 31) / 32;
  for (long long at = blockIdx.x * (blockDim.x / 32LL) + threadIdx.x / 32; at < words; at += WORDS * warps) {
    TYPE row[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
      const long long i = 32 * (at + k * warps) + lane;
      if (i < count) row[k] = rows[i];
    }
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
      const long long word = at + k * warps, i = 32 * word + lane;
      const unsigned valid = __ballot_sync(0xffffffff, i < count && (IS_VALID));
      if (lane == 0 && word < words) bits[word] = valid, found += __popc(valid);
    }
  }
  if (lane == 0 && found) atomicAdd(nulls, -(unsigned long long)found);
}
"""
"""`nulls` begins as the number of rows."""

THREADS, WORDS, BLOCKS = 256, 8, 16
"""Threads of a block, words of bits for which a warp reads rows at once, and most blocks on a multiprocessor."""


@lru_cache(maxsize=8)
def _valid_bits(kind: str) -> Any:
    is_valid = {"bool": "!row[k]", "float": "row[k] == row[k]", "double": "row[k] == row[k]"}[kind]
    text = (
        _VALID_BITS.replace("IS_VALID", is_valid).replace("TYPE", kind).replace("WORDS", str(WORDS))
    )
    return cupy.RawKernel(text, "valid_bits")


def valid_bits(rows: Values) -> tuple[Values, int]:
    """Return a bitmap of rows that are not NaN, or of flags that are not set, and the number of the other rows."""
    kind = {"b": "bool", "f": "float" if rows.itemsize == 4 else "double"}[rows.dtype.kind]
    bits, nulls = _bits(rows.size), cupy.full(1, rows.size, np.uint64)
    rows = cupy.ascontiguousarray(rows)
    blocks = _blocks(rows.size)
    if blocks:
        _valid_bits(kind)((blocks,), (THREADS,), (rows, bits, nulls, np.int64(rows.size)))
    return bits, int(nulls[0])


_TAKEN_OR_NULL = """
extern "C" __global__ void taken_or_null(const POSITION* rows, const VALUE* values, VALUE* out, unsigned* bits,
                                         unsigned long long* nulls, unsigned long long size, long long count) {
  const int lane = threadIdx.x % 32;
  unsigned found = 0;
  const long long warps = gridDim.x * (blockDim.x / 32LL), words = (count + 31) / 32;
  for (long long at = blockIdx.x * (blockDim.x / 32LL) + threadIdx.x / 32; at < words; at += WORDS * warps) {
    unsigned long long row[WORDS];
    VALUE value[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
      const long long i = 32 * (at + k * warps) + lane;
      row[k] = i < count ? (unsigned long long)(long long)rows[i] : size;
    }
#pragma unroll
    for (int k = 0; k < WORDS; k++) value[k] = row[k] < size ? values[row[k]] : (VALUE)0;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
      const long long word = at + k * warps, i = 32 * word + lane;
      if (i < count) out[i] = value[k];
      const unsigned valid = __ballot_sync(0xffffffff, row[k] < size);
      if (lane == 0 && word < words) bits[word] = valid, found += __popc(valid);
    }
  }
  if (lane == 0 && found) atomicAdd(nulls, -(unsigned long long)found);
}
"""
"""As above; rows that are negative, or from `size` on, are null."""


@lru_cache(maxsize=8)
def _taken_or_null(position: int, value: int) -> Any:
    words = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
    signed = {4: "int", 8: "long long"}
    text = _TAKEN_OR_NULL.replace("POSITION", signed[position]).replace("VALUE", words[value])
    return cupy.RawKernel(text.replace("WORDS", str(WORDS)), "taken_or_null")


def taken_or_null(values: Values, rows: Values) -> tuple[Values, Values, int]:
    """Return values of 8 bytes at most at these positions, a bitmap of those in range, and the number of the others."""
    out = cupy.ndarray(rows.size, values.dtype)
    bits, nulls = _bits(rows.size), cupy.full(1, rows.size, np.uint64)
    kernel = _taken_or_null(rows.itemsize, values.itemsize)
    values, rows = cupy.ascontiguousarray(values), cupy.ascontiguousarray(rows)
    pointers = rows, values, out, bits, nulls
    blocks = _blocks(rows.size)
    if blocks:
        kernel((blocks,), (THREADS,), (*pointers, np.uint64(values.size), np.int64(rows.size)))
    return out, bits, int(nulls[0])


def _blocks(rows: int) -> int:
    most = BLOCKS * device(cupy.cuda.runtime.getDevice()).multiprocessors
    return min(-(-rows // (THREADS * WORDS)), most)


@lru_cache(maxsize=1)
def _set_bits() -> Any:
    return cupy.ElementwiseKernel(
        "int64 start, int64 stop",
        "uint32 bits",
        """
        const long long row = 32LL * i;
        const int before = min(max(start - row, 0LL), 32LL), end = min(max(stop - row, 0LL), 32LL);
        bits = (unsigned int)(((1ULL << end) - 1) & ~((1ULL << before) - 1));
        """,
        "set_bits",
    )


def bits_of(rows: slice, count: int) -> Values:
    """Return a bitmap of `count` rows in which these are valid."""
    bits = _bits(count)
    _set_bits()(np.int64(rows.start), np.int64(rows.stop), bits)
    return bits


def with_bits(bits: Values, count: int, start: int, valid: Values) -> tuple[Values, int]:
    """Return a copy of a bitmap of `count` rows with other flags from `start` on, and how many more of them are set.

    Bits are bytes; flags are an array of bool.
    """
    out, stop = _bits(count), start + len(valid)
    found = out.view(np.uint8)
    found[: len(bits)] = bits
    section = found[start // 8 : (stop + 7) // 8]
    flags = cupy.unpackbits(section, bitorder="little")
    here = flags[start % 8 : start % 8 + len(valid)]
    more = int(valid.sum()) - int(here.sum())
    here[:] = valid
    section[:] = cupy.packbits(flags, bitorder="little")
    return out, more


def _bits(count: int) -> Values:
    """Return memory for a bitmap of `count` rows."""
    return cupy.empty(plc.null_mask.bitmask_allocation_size_bytes(count) // 4, np.uint32)


def seek_bit(
    nulls: Mask, begin: int, end: int, size: int, from_end: bool
) -> Callable[[], int | None]:
    """Look for a set bit from `begin` to `end`, in `size` bytes of them first, on the host."""
    first = max(begin // 8, (end + 7) // 8 - size) if from_end else begin // 8
    read = copied(nulls.buffer[first : first + size])
    low, high = max(begin, 8 * first), min(end, 8 * (first + size))

    def found() -> int | None:
        bits = np.unpackbits(read(), bitorder="little")
        valid = np.flatnonzero(bits[low - 8 * first : high - 8 * first])
        if len(valid):
            return int(low + valid[-1 if from_end else 0]) - nulls.offset
        left = (begin, low) if from_end else (high, end)
        return seek_bit(nulls, *left, 16 * size, from_end)() if left[0] < left[1] else None

    return found


def copied(array: Values) -> Callable[[], np.ndarray]:
    """Begin to copy an array to the host; the answer, when called, waits for the copy and not for later work."""
    buffer = pinned_buffer(array.nbytes)
    if buffer is None:
        host = array.get()
        return lambda: host
    stream, runtime = cupy.cuda.get_current_stream().ptr, cupy.cuda.runtime
    kind = runtime.memcpyDeviceToHost
    runtime.memcpyAsync(buffer.ptr, array.data.ptr, array.nbytes, kind, stream)
    buffer.record(stream)
    return lambda: np.frombuffer(buffer.wait(), array.dtype, array.size)
