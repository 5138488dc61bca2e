// One digit of a least significant digit radix sort: keys and a value each, read once and written once.
//
// A tile counts its digits, publishes the counts, ranks its keys, and brings them into order in shared memory while it
// looks back for how many of each digit come before it; then it writes runs of equal digits. A descriptor is a count and
// its status: that of the tile alone, or of all tiles up to it. Tiles are taken by ticket, so a tile waits only for
// tiles that have begun. After Adinets and Merrill, Onesweep (arXiv 2206.01784).
//
// With RESTORES a tile finds in the same way where its keys went, reads values there, and writes them where the keys are:
// what a pass over the same keys has moved is put back, and no row needs its position.
#pragma once

constexpr int WARPS = THREADS / 32;
constexpr Count ALONE = Count(1) << (8 * sizeof(Count) - 2), ALL = ALONE << 1, AMOUNT = ALONE - 1;
constexpr u32 EVERYONE = 0xffffffffu;

struct Params {
  const Key* keys;
  Key* sorted_keys;
  const Value* values;
  Written* sorted_values;
  const u64* starts;  // where each digit starts
  u8* scratch;        // the ticket, and after as many bytes as a tile's descriptors, those of each tile
  u8* carry;
  i64 length, lines, tiles;
  i64 shift;
};

__device__ __forceinline__ u32 seen(const u32* from) {
  u32 count;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(from) : "memory");
  return count;
}
__device__ __forceinline__ u64 seen(const u64* from) {
  u64 count;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(count) : "l"(from) : "memory");
  return count;
}
__device__ __forceinline__ void publish(u32* to, u32 count) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(count) : "memory");
}
__device__ __forceinline__ void publish(u64* to, u64 count) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(count) : "memory");
}

// How many keys with this thread's digit come before the tile.
__device__ __forceinline__ Count look_back(const Count* descriptors, i64 tile) {
  Count before = 0;
  for (i64 at = tile - 1; at >= 0;) {
    Count found[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++) found[b] = at >= b ? seen(descriptors + (at - b) * BINS) : ALL;
    bool done = false;
    int known = 0;
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      if (done || known < b || !found[b]) continue;
      before += found[b] & AMOUNT;
      done = found[b] & ALL;
      known++;
    }
    if (done) break;
    at -= known;
  }
  return before;
}

// The sum over threads with lower numbers, of which BINS have a count; `sums` has an item a warp of those.
__device__ __forceinline__ u32 sum_before(u32 count, u32* sums) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  u32 sum = count;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    u32 other = __shfl_up_sync(EVERYONE, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31 && warp < BINS / 32) sums[warp] = sum;
  __syncthreads();
  u32 before = sum - count;
#pragma unroll
  for (int w = 0; w < BINS / 32; w++) before += w < warp ? sums[w] : 0;
  return before;
}

struct Shared {
  Key* keys;    // of a tile, in order
  Value* values;
  u32* counts;  // a warp's, by digit
  u32* lanes;   // which lanes of a warp have a digit, for items in turn
  u32* sums;
  Count* places;
};

// FULL: all rows of the tile are there.
template <bool FULL>
__device__ __forceinline__ void sort_tile(const Params& p, const Shared& shared, i64 tile) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int shift = int(p.shift);
  const i64 first = tile * TILE + warp * 32 * ITEMS + lane;
  const int rows = FULL ? TILE : int(p.length - tile * TILE), left = FULL ? TILE : int(p.length - first);
  Count* descriptors = reinterpret_cast<Count*>(p.scratch) + BINS + threadIdx.x;
  u32 lower;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  u32 *mine = shared.counts + warp * BINS, *with = shared.lanes + warp * BINS;

  Key keys[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) keys[i] = FULL || 32 * i < left ? __ldcs(p.keys + first + 32 * i) : Key(0);
  for (int i = threadIdx.x; i < WARPS * BINS; i += THREADS) shared.counts[i] = 0;
  __syncthreads();
  // a row behind the last one has the highest digit, and stays behind
  auto digit = [&](int i) { return digit_of(keys[i], shift) | (FULL || 32 * i < left ? 0 : BINS - 1); };
#pragma unroll
  for (int i = 0; i < ITEMS; i++) atomicAdd(&mine[digit(i)], 1);
  __syncthreads();

  u32 count = 0;
  if (threadIdx.x < BINS) {
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
      u32 here = shared.counts[w * BINS + threadIdx.x];
      shared.counts[w * BINS + threadIdx.x] = count;
      count += here;
    }
    publish(descriptors + tile * BINS, (tile ? ALONE : ALL) | count);
  }
  const u32 start = sum_before(count, shared.sums);
  if (threadIdx.x < BINS) {
#pragma unroll
    for (int w = 0; w < WARPS; w++) shared.counts[w * BINS + threadIdx.x] += start;
  }
  __syncthreads();

  asm volatile("" : "+r"(shift));  // digits are read again, so that none takes a register meanwhile
  u32 ranks[(ITEMS + 1) / 2];      // two in a word
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    u32 *which = with + i % 2 * WARPS * BINS + digit(i), before = 0;
    atomicOr(which, 1u << lane);
    __syncwarp();
    u32 equal = *reinterpret_cast<volatile u32*>(which);
    int leader = 31 - __clz(equal);
    if (lane == leader) before = atomicAdd(&mine[digit(i)], __popc(equal));
    u32 rank = __shfl_sync(EVERYONE, before, leader) + __popc(equal & lower);
    if (lane == leader) *reinterpret_cast<volatile u32*>(which) = 0;
    shared.keys[rank] = keys[i];
    if constexpr (VALUES) ranks[i / 2] = i % 2 ? ranks[i / 2] | rank << 16 : rank;
  }
  if constexpr (VALUES && !RESTORES) {
    Value values[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      if constexpr (POSITIONS)
        values[i] = Value(first + 32 * i);
      else
        values[i] = FULL || 32 * i < left ? __ldcs(p.values + first + 32 * i) : Value(0);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) shared.values[i % 2 ? ranks[i / 2] >> 16 : ranks[i / 2] & 0xffff] = values[i];
  }

  if (threadIdx.x < BINS) {
    Count before = 0;
    if (tile) {
      before = look_back(descriptors, tile);
      publish(descriptors + tile * BINS, ALL | (before + count));
    }
    shared.places[threadIdx.x] = Count(p.starts[threadIdx.x]) + before - start;
  }
  __syncthreads();
  if constexpr (RESTORES) {
    Value values[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const u32 at = i * THREADS + threadIdx.x;
      if (FULL || at < rows) values[i] = p.values[shared.places[digit_of(shared.keys[at], shift)] + at];
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) shared.values[i * THREADS + threadIdx.x] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      if (FULL || 32 * i < left)
        p.sorted_values[first + 32 * i] = shared.values[i % 2 ? ranks[i / 2] >> 16 : ranks[i / 2] & 0xffff];
    return;
  }
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    u32 at = i * THREADS + threadIdx.x;
    if (FULL || at < rows) {
      Key key = shared.keys[at];
      Count to = shared.places[digit_of(key, shift)] + at;
      if constexpr (WRITES_KEYS) p.sorted_keys[to] = key;
      if constexpr (VALUES) p.sorted_values[to] = Written(shared.values[at]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  extern __shared__ __align__(128) u8 memory[];
  __shared__ u32 sums[BINS / 32];
  __shared__ Count places[BINS];
  __shared__ i64 ticket;
  u32* counts = reinterpret_cast<u32*>(memory + TILE * (sizeof(Key) + (VALUES ? sizeof(Value) : 0)));
  const Shared shared = {reinterpret_cast<Key*>(memory), reinterpret_cast<Value*>(memory + TILE * sizeof(Key)), counts,
                         counts + WARPS * BINS, sums, places};
  for (int i = threadIdx.x; i < 2 * WARPS * BINS; i += THREADS) shared.lanes[i] = 0;
  for (;;) {
    if (threadIdx.x == 0) ticket = atomicAdd(reinterpret_cast<u32*>(p.scratch), 1);
    __syncthreads();
    const i64 tile = ticket;
    if (tile >= p.tiles) return;
    if ((tile + 1) * TILE <= p.length)
      sort_tile<true>(p, shared, tile);
    else
      sort_tile<false>(p, shared, tile);
  }
}
