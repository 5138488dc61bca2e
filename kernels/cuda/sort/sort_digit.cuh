// One digit of a least significant digit radix sort: keys, with a value each, are read once and written once.
//
// A tile counts its digits, publishes the counts, ranks its keys, and puts them in order in shared memory while it
// looks back for the number of each digit before it. Then it writes runs of equal digits: first the keys, then the
// values, through the same memory. A descriptor is a count and its status: the count of the tile, or of all tiles up to
// it. Tiles are taken by ticket, so a tile waits only for tiles that have begun. After Adinets and Merrill, Onesweep
// (arXiv 2206.01784).
//
// With RESTORES a tile finds in the same way where its keys went, reads values there, and writes them at the keys'
// places: this undoes a pass over the same keys, and no row needs its position.
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
  u8* scratch;        // the ticket, in as many bytes as a tile's descriptors, then the descriptors of each tile
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

// The number of keys with this thread's digit before the tile.
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

// The sum of the counts of threads with lower numbers; BINS threads have a count, and `sums` has an item for each warp
// of them.
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
  Key* keys;      // of a tile, in order
  Value* values;  // in the same memory as keys, which leaves more to the L1 cache
  u32* counts;    // of a warp, by digit
  u32* lanes;     // bits of the lanes of a warp that have a digit, for one item after another
  u32* sums;
  Count* places;
  i64* next;  // the next tile
};

__device__ __forceinline__ u32 take_ticket(const Params& p) { return atomicAdd(reinterpret_cast<u32*>(p.scratch), 1); }

__device__ __forceinline__ void read_keys(const Params& p, i64 tile, Key (&keys)[ITEMS]) {
  const i64 first = tile * TILE + threadIdx.x / 32 * 32 * ITEMS + threadIdx.x % 32;
  const int left = p.length - first < TILE ? int(p.length - first) : TILE;
#pragma unroll
  for (int i = 0; i < ITEMS; i++) keys[i] = 32 * i < left ? __ldcs(p.keys + first + 32 * i) : Key(0);
}

// Bits of the lanes of the warp that have the same digit, by a vote on each bit.
__device__ __forceinline__ u32 vote(u32 digit) {
  u32 equal = EVERYONE;
#pragma unroll
  for (int bit = 0; bit < 8; bit++)
    asm volatile(
        "{ .reg .pred set; .reg .b32 masked, lanes;\n and.b32 masked, %1, %2; setp.ne.u32 set, masked, 0;\n"
        " vote.sync.ballot.b32 lanes, set, 0xffffffff; @!set not.b32 lanes, lanes; and.b32 %0, %0, lanes; }"
        : "+r"(equal)
        : "r"(digit), "r"(1u << bit));
  return equal;
}

// Sorts a tile, after its keys were read, and returns the next one. FULL: the tile has all rows.
template <bool FULL>
__device__ __forceinline__ i64 sort_tile(const Params& p, const Shared& shared, i64 tile, Key (&keys)[ITEMS]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int shift = int(p.shift);
  const i64 first = tile * TILE + warp * 32 * ITEMS + lane;
  const int rows = FULL ? TILE : int(p.length - tile * TILE), left = FULL ? TILE : int(p.length - first);
  Count* descriptors = reinterpret_cast<Count*>(p.scratch) + BINS + threadIdx.x;
  u32 lower;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  u32 *mine = shared.counts + warp * BINS, *with = shared.lanes + warp * BINS;

  u32 ticket;
  if (threadIdx.x == 0) ticket = take_ticket(p);
  for (int i = threadIdx.x; i < WARPS * BINS; i += THREADS) shared.counts[i] = 0;
  __syncthreads();
  // a row beyond the last one has the highest digit, so it remains last
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
  if (threadIdx.x == 0) *shared.next = ticket;
  __syncthreads();

  asm volatile("" : "+r"(shift));  // digits are computed again, so that they take no registers until then
  u32 ranks[(ITEMS + 1) / 2];      // two in a word
  auto rank_of = [&](int i) { return i % 2 ? ranks[i / 2] >> 16 : ranks[i / 2] & 0xffff; };
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const bool votes = !VALUES && i % 3 == 1;  // keys alone are limited by shared memory: a third votes
    u32 *which = with + i % 2 * WARPS * BINS + digit(i), before = 0, equal;
    if (votes) {
      __syncwarp();
      equal = vote(digit(i));
    } else {
      atomicOr(which, 1u << lane);
      __syncwarp();
      equal = *reinterpret_cast<volatile u32*>(which);
    }
    int leader = 31 - __clz(equal);
    if (lane == leader) before = atomicAdd(&mine[digit(i)], __popc(equal));
    u32 rank = __shfl_sync(EVERYONE, before, leader) + __popc(equal & lower);
    if (!votes && lane == leader) *reinterpret_cast<volatile u32*>(which) = 0;
    shared.keys[rank] = keys[i];
    if constexpr (VALUES) ranks[i / 2] = i % 2 ? ranks[i / 2] | rank << 16 : rank;
  }
  Value values[VALUES ? ITEMS : 1];
  if constexpr (VALUES && !RESTORES) {
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      if constexpr (POSITIONS)
        values[i] = Value(first + 32 * i);
      else
        values[i] = FULL || 32 * i < left ? __ldcs(p.values + first + 32 * i) : Value(0);
    }
  }

  const i64 next = *shared.next;
  // without values, registers are left for the keys of the next tile, which are read while this one is written
  if (!VALUES && next < p.tiles) read_keys(p, next, keys);
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
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const u32 at = i * THREADS + threadIdx.x;
      if (FULL || at < rows) values[i] = p.values[shared.places[digit_of(shared.keys[at], shift)] + at];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) shared.values[i * THREADS + threadIdx.x] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      if (FULL || 32 * i < left) p.sorted_values[first + 32 * i] = shared.values[rank_of(i)];
    return next;
  }
  u32 digits[(ITEMS + 3) / 4];  // four in a word, for the values, which replace the keys
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const u32 at = i * THREADS + threadIdx.x;
    const Key key = shared.keys[at];
    const u32 found = digit_of(key, shift);
    if constexpr (WRITES_KEYS)
      if (FULL || at < rows) p.sorted_keys[shared.places[found] + at] = key;
    if constexpr (VALUES) digits[i / 4] = i % 4 ? digits[i / 4] | found << 8 * (i % 4) : found;
  }
  if constexpr (VALUES) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) shared.values[rank_of(i)] = values[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const u32 at = i * THREADS + threadIdx.x;
      if (FULL || at < rows)
        p.sorted_values[shared.places[digits[i / 4] >> 8 * (i % 4) & 255] + at] = Written(shared.values[at]);
    }
  }
  return next;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  extern __shared__ __align__(128) u8 memory[];
  __shared__ u32 sums[BINS / 32];
  __shared__ Count places[BINS];
  __shared__ i64 next;
  constexpr int widest = VALUES && sizeof(Value) > sizeof(Key) ? sizeof(Value) : sizeof(Key);
  u32* counts = reinterpret_cast<u32*>(memory + TILE * widest);
  const Shared shared = {reinterpret_cast<Key*>(memory), reinterpret_cast<Value*>(memory), counts,
                         counts + WARPS * BINS, sums, places, &next};
  for (int i = threadIdx.x; i < 2 * WARPS * BINS; i += THREADS) shared.lanes[i] = 0;
  if (threadIdx.x == 0) next = take_ticket(p);
  __syncthreads();
  i64 tile = next;
  Key keys[ITEMS];
  if (!VALUES && tile < p.tiles) read_keys(p, tile, keys);
  while (tile < p.tiles) {
    if (VALUES) read_keys(p, tile, keys);
    tile = (tile + 1) * TILE <= p.length ? sort_tile<true>(p, shared, tile, keys)
                                         : sort_tile<false>(p, shared, tile, keys);
  }
}
