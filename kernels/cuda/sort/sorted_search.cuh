// Where sorted needles belong among sorted values: how many of these come before each where both sides are merged.
//
// A block finds by whole warps which needles and which values a tile of the merged sides has, and a thread of the block
// which of the tile's ITEMS neighbours are its own. In arrays that are in no order, nothing is read outside of them.
#pragma once

struct Params {
  const Key* needles;
  const Key* haystack;
  i64* out;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;  // of both sides together
  i64 needle_count, value_count;
};

__shared__ Key codes[TILE];  // of the tile's needles, then of its values
__shared__ u16 found[TILE];  // how many of the tile's values come before each of its needles
__shared__ i64 splits[2];    // needles before the tile, and before the next

// Whether a needle comes before a value.
__device__ __forceinline__ bool comes(Key needle, Key value) { return RIGHT ? needle < value : needle <= value; }

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  const int thread = threadIdx.x, warp = thread / 32;
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 begin = tile * TILE;
    const int length = int(min(i64(TILE), p.length - begin));
    if (warp < 2) {
      const i64 step = begin + warp * length, low = max(step - p.value_count, i64(0));
      const i64 before = low + count_true(min(step, p.needle_count) - low, [&](i64 i) {
        return comes(code_of(p.needles[low + i]), code_of(p.haystack[step - 1 - low - i]));
      });
      if (thread % 32 == 0) splits[warp] = before;
    }
    __syncthreads();
    const i64 first = splits[0], first_value = begin - first;
    const int needles = int(min(max(splits[1] - first, i64(0)), i64(length))), values = length - needles;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const int at = i * THREADS + thread;
      if (at < length) codes[at] = code_of(at < needles ? p.needles[first + at] : p.haystack[first_value + at - needles]);
    }
    __syncthreads();
    const int step = min(thread * ITEMS, length);
    int needle = max(step - values, 0), high = min(step, needles);
    while (needle < high) {
      const int middle = (needle + high) / 2;
      if (comes(codes[middle], codes[needles + step - 1 - middle]))
        needle = middle + 1;
      else
        high = middle;
    }
    int value = step - needle;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      if (needle < needles && (value >= values || comes(codes[needle], codes[needles + value])))
        found[needle++] = u16(value);
      else
        value++;
    }
    __syncthreads();
    for (int i = thread; i < needles; i += THREADS) p.out[first + i] = first_value + found[i];
    __syncthreads();
  }
}
