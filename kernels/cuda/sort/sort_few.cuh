// Sorts few rows in one pass: each row counts the rows that come before it.
//
// The same lane of all warps of a block has the same row, and each warp compares it to different keys. All pairs are
// compared, which takes less time than launching a pass for each digit.
#pragma once

constexpr int WARPS = THREADS / 32, ROWS = 32, AT_ONCE = 2048;

struct Params {
  const Key* keys;
  Key* sorted_keys;
  const Value* values;
  Written* sorted_values;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
};

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  __shared__ Key codes[AT_ONCE];
  __shared__ int counts[ROWS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int length = int(p.length);
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const int row = int(tile) * ROWS + lane;
    const Key key = row < length ? p.keys[row] : Key(0), mine = code_of(key);
    int before = 0;
    if (warp == 0) counts[lane] = 0;
    for (int first = 0; first < length; first += AT_ONCE) {
      const int some = min(AT_ONCE, length - first);
      __syncthreads();
      for (int i = threadIdx.x; i < some; i += THREADS) codes[i] = code_of(p.keys[first + i]);
      __syncthreads();
#pragma unroll 8
      for (int i = warp; i < some; i += WARPS)
        before += codes[i] < mine || (codes[i] == mine && first + i < row);
    }
    atomicAdd(counts + lane, before);
    __syncthreads();
    if (warp == 0 && row < length) {
      const int at = counts[lane];
      if constexpr (WRITES_KEYS) p.sorted_keys[at] = key;
      if constexpr (VALUES) p.sorted_values[at] = POSITIONS ? Written(row) : Written(p.values[row]);
    }
    __syncthreads();
  }
}
