// The first row within reach of each row, in its group: values do not decrease in a group, so neither do answers.
//
// A block has a tile of rows in shared memory, and HALO rows before them. A thread has ITEMS neighbouring rows. It
// searches backward from its first row in steps that double. From each answer it searches forward for the next, first
// NEAR rows one by one, then in steps that double. An answer before the halo is searched for in global memory.
#pragma once

struct Params {
  const i64* values;
  const i64* starts;  // of the group of each row; or null
  i64* out;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
  u64 reach;
};

constexpr int TILE = THREADS * ITEMS, HELD = HALO + TILE;
static_assert(HALO % THREADS == 0, "all threads read the same number of rows");

// The place of item i, so that threads that read their own items have no bank conflicts.
__device__ __forceinline__ int padded(int i) { return i + int(u32(i) / ITEMS); }

// The least value within reach of a value.
__device__ __forceinline__ i64 at_least(i64 value, u64 reach) {
  constexpr u64 LEAST = u64(1) << 63;
  return i64(reach > u64(value) - LEAST ? LEAST : u64(value) - reach);
}

// The first row in [low, high] that is not far; all rows before it are far, and `high` is not.
template <class Row, class Far>
__device__ __forceinline__ Row halving(Row low, Row high, Far far) {
  while (low < high) {
    const Row middle = low + (high - low) / 2;
    if (far(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
template <class Row, class Far>
__device__ __forceinline__ Row looking_back(Row low, Row high, Far far) {
  for (Row step = 1; low < high; step *= 2) {
    const Row at = high - low > step ? high - step : low;
    if (far(at)) {
      low = at + 1;
      break;
    }
    high = at;
  }
  return halving(low, high, far);
}
template <class Row, class Far>
__device__ __forceinline__ Row looking_on(Row low, Row high, Far far) {
#pragma unroll
  for (int i = 0; i < NEAR; i++, low++)
    if (!far(low)) return low;
  for (Row step = 0; low < high; step = 2 * step + 1) {
    const Row at = high - low > step ? low + step : high;
    if (!far(at)) {
      high = at;
      break;
    }
    low = at + 1;
  }
  return halving(low, high, far);
}

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  extern __shared__ __align__(16) i64 memory[];
  i64* values = memory;                 // HELD of them
  i64* rows = memory + padded(HELD);  // the first row of the group of each row of the tile, then the answer
  const int thread = threadIdx.x, mine = thread * ITEMS;
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 first = tile * TILE, held_from = first - HALO;
    const int count = p.length - first < TILE ? int(p.length - first) : TILE;
    i64 read[HELD / THREADS];
    i64 starts[ITEMS];
#pragma unroll
    for (int i = 0; i < HELD / THREADS; i++) {
      const int at = i * THREADS + thread;
      read[i] = at < HALO + count && held_from + at >= 0 ? p.values[held_from + at] : 0;
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const int at = i * THREADS + thread;
      starts[i] = p.starts && at < count ? p.starts[first + at] : 0;
    }
#pragma unroll
    for (int i = 0; i < HELD / THREADS; i++) values[padded(i * THREADS + thread)] = read[i];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) rows[padded(i * THREADS + thread)] = starts[i];
    __syncthreads();
    i64 answer = 0;
#pragma unroll 1
    for (int i = 0; i < ITEMS && mine + i < count; i++) {
      const int row = HALO + mine + i;
      const i64 least = at_least(values[padded(row)], p.reach);
      i64* found = rows + padded(mine + i);
      const i64 low = min(max(*found, answer), first + mine + i);
      auto far = [&](int at) { return values[padded(at)] < least; };
      auto far_in_memory = [&](i64 at) { return p.values[at] < least; };
      if (low >= held_from || far(0)) {
        const int from = low > held_from ? int(low - held_from) : 0;
        answer = held_from + (i ? looking_on(from, row, far) : looking_back(from, row, far));
      } else {
        answer = i ? looking_on(low, held_from, far_in_memory) : looking_back(low, held_from, far_in_memory);
      }
      *found = answer;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const int at = i * THREADS + thread;
      if (at < count) p.out[first + at] = rows[padded(at)];
    }
    __syncthreads();
  }
}
