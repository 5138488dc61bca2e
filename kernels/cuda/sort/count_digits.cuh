// Counts of all digits of all keys, from a bit on, in one pass. COPIES of a block's counts lie side by side in shared
// memory, so that few lanes wait for each other; with one copy for each lane none waits, as each has its own bank. The
// last block turns the counts into the positions where digits start.
#pragma once

struct Params {
  const Key* keys;
  u64* starts;  // DIGITS x BINS, initially zeros
  u32* scratch;
  u64* carry;  // DIGITS x BINS counts, for the host
  i64 length, lines, tiles;
  i64 shift;
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  extern __shared__ u32 counts[];  // DIGITS x BINS x COPIES
  __shared__ bool is_last;
  for (int i = threadIdx.x; i < DIGITS * BINS * COPIES; i += THREADS) counts[i] = 0;
  __syncthreads();
  u32* mine = counts + threadIdx.x % COPIES;
  auto count = [&](Key key) {
    Key code = Key(code_of(key) >> p.shift);
#pragma unroll
    for (int d = 0; d < DIGITS; d++) atomicAdd(&mine[(d * BINS + (u32(code >> (8 * d)) & (BINS - 1))) * COPIES], 1);
  };
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    i64 first = tile * TILE + threadIdx.x;
    if (first - threadIdx.x + TILE <= p.length) {
      Key keys[ITEMS];
#pragma unroll
      for (int i = 0; i < ITEMS; i++) keys[i] = p.keys[first + i * THREADS];
#pragma unroll
      for (int i = 0; i < ITEMS; i++) count(keys[i]);
    } else {
      for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < p.length) count(p.keys[first + i * THREADS]);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < DIGITS * BINS; i += THREADS) {
    u64 sum = 0;
    for (int c = 0; c < COPIES; c++) sum += counts[i * COPIES + (c + threadIdx.x) % COPIES];
    if (sum) atomicAdd(p.starts + i, sum);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(p.scratch, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (int d = threadIdx.x; d < DIGITS; d += THREADS) {
    u64 before = 0;
    for (int b = 0; b < BINS; b++) {
      u64 here = __ldcg(p.starts + d * BINS + b);
      p.carry[d * BINS + b] = here;
      p.starts[d * BINS + b] = before;
      before += here;
    }
  }
}
