// The sums of the counts of chunks of intervals: at most MOST, or -1 if a count is negative or an interval is not
// within its array.
#pragma once

struct Params {
  const i64* counts;
  const i64* gather;   // offsets in a source of `read` items, or null
  const i64* scatter;  // offsets in an output of `written` items, or null
  i64* sums;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
  i64 read, written;
};

constexpr int WARPS = THREADS / 32, CHUNK = THREADS * ROWS;
constexpr u64 MOST = ~u64(0) >> 1;

__device__ __forceinline__ u64 plus(u64 a, u64 b) { return min(a + b, MOST); }  // both are at most MOST

__device__ __forceinline__ bool is_within(i64 offset, i64 count, i64 items) {
  return count <= 0 || (offset >= 0 && offset <= items - count);
}

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  __shared__ u64 sums[WARPS];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread / 32;
  for (i64 chunk = blockIdx.x; chunk < p.tiles; chunk += gridDim.x) {
    i64 counts[ROWS], gather[ROWS], scatter[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      const i64 interval = chunk * CHUNK + r * THREADS + thread;
      const bool is_there = interval < p.length;
      counts[r] = is_there ? p.counts[interval] : 0;
      gather[r] = is_there && p.gather ? p.gather[interval] : 0;
      scatter[r] = is_there && p.scatter ? p.scatter[interval] : 0;
    }
    u64 sum = 0;
    bool is_wrong = false;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      is_wrong |= counts[r] < 0;
      if (p.gather) is_wrong |= !is_within(gather[r], counts[r], p.read);
      if (p.scatter) is_wrong |= !is_within(scatter[r], counts[r], p.written);
      sum = plus(sum, u64(counts[r]) & MOST);
    }
#pragma unroll
    for (int apart = 16; apart; apart /= 2) sum = plus(sum, __shfl_xor_sync(~0u, sum, apart));
    if (lane == 0) sums[warp] = sum;
    is_wrong = __syncthreads_or(is_wrong);
    if (thread == 0) {
#pragma unroll
      for (int w = 1; w < WARPS; w++) sum = plus(sum, sums[w]);
      p.sums[chunk] = is_wrong ? -1 : i64(sum);
    }
    __syncthreads();
  }
}
