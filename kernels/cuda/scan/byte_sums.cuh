// Sums of bytes, four in a word: added up by one instruction, and scanned as two halves of 16 bits with only their
// lower bytes used. With one addition for each byte, a scan takes three quarters of the instructions that a GPU can run
// while it copies.
#pragma once

#include "tile_items.cuh"

// The four running sums of a word's bytes, given the previous four; only the last of those is used.
__device__ __forceinline__ u32 running_sums(u32 bytes, u32 before) {
  u32 even = bytes & 0x00ff00ff, odd = __byte_perm(bytes, 0, 0x4341);
  u32 second = (even + odd) * 0x00010001 + __byte_perm(before, 0, 0x4343), first = second - odd;
  return __byte_perm(first, second, 0x6240);
}

// A lane's items of a row of a whole tile with aligned vectors.
template <class S>  // the state
struct ByteItems {
  static_assert(!sizeof(S) || VN % 4 == 0);
  static constexpr int WORDS = (VN + 3) / 4, AT_ONCE = group_rows(ROWS, WORDS);  // rows
  u32 word[WORDS];  // in the order of the scan

  __device__ __forceinline__ void read(const View& view, int i) {
    u8 bytes[VN];
    read_part<true>(view.in[0] + (REVERSE ? TILE - VN - i : i), bytes);
    in_order(bytes);
    memcpy(word, bytes, sizeof(word));
  }
  __device__ __forceinline__ u32 sum() const {
    u32 all = 0;
#pragma unroll
    for (int k = 0; k < WORDS; k++) all = __dp4a(word[k], 0x01010101u, all);
    return all;
  }
  __device__ __forceinline__ S scan() const { return {u8(sum())}; }
  __device__ __forceinline__ void write(const View& view, const Outputs& out, int i, const S& before) const {
    u32 last = u32(before.f0) << 24, sums[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
      u32 after = running_sums(word[k], last);
      sums[k] = EXCLUSIVE ? __byte_perm(after, last, 0x2107) : after;
      last = after;
    }
    u8 bytes[VN];
    memcpy(bytes, sums, sizeof(bytes));
    in_order(bytes);
    write_part(out.at[0] + (REVERSE ? TILE - VN - i : i), bytes);
  }

 private:
  static __device__ __forceinline__ void in_order(u8 (&bytes)[VN]) {
    if constexpr (REVERSE)
#pragma unroll
      for (int j = 0; j < VN / 2; j++) {
        u8 last = bytes[VN - 1 - j];
        bytes[VN - 1 - j] = bytes[j], bytes[j] = last;
      }
  }
};

// All lanes get the sum of a warp's items, likewise.
template <class S>
__device__ __forceinline__ S bytes_reduce(const View& view, int warp, int lane) {
  u32 sum = 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    ByteItems<S> items;
    items.read(view, warp * SEGMENT + r * ROW + lane * VN);
    sum += items.sum();
  }
  return warp_reduce(S{u8(sum)}, lane);
}
