// The look-back: what comes before a tile, from the aggregates that earlier tiles have published.
//
// Aggregates are folded in blocks of 32 tiles, blocks in superblocks of 32, superblocks one after another: a tree that
// depends on the number of tiles alone, so the same input gives the same bits whatever the timing. A tile waits only for
// tiles with lower tickets. A descriptor is its own status: each 8-byte word holds 4 bytes of the state and a flag, and
// words of 8 bytes are read and written whole, so that no fence is needed for a state of any size.
// After Merrill and Garland, NVR-2016-002; this file must never know what is combined or how tiles are scanned.
#pragma once

constexpr int DESCRIPTOR = STATE_WORDS == 1 ? 1 : (STATE_WORDS + 1) / 2 * 2;  // 8-byte words

__device__ __forceinline__ void publish(u64* descriptor, const State& state) {
  StateWords w = words_of(state);
  constexpr u64 flag = u64(1) << 32;
  if constexpr (DESCRIPTOR == 1) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(descriptor), "l"(flag | w.word[0]) : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < DESCRIPTOR; i += 2) {
      u64 low = flag | w.word[i], high = flag | (i + 1 < STATE_WORDS ? w.word[i + 1 < STATE_WORDS ? i + 1 : 0] : 0);
      asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(descriptor + i), "l"(low), "l"(high) : "memory");
    }
  }
}

// Reads a descriptor; false if it is not there yet.
__device__ __forceinline__ bool peek(const u64* descriptor, State& state) {
  StateWords w = {};
  u32 there = 1;
  if constexpr (DESCRIPTOR == 1) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(descriptor) : "memory");
    w.word[0] = u32(word);
    there = u32(word >> 32);
  } else {
#pragma unroll
    for (int i = 0; i < DESCRIPTOR; i += 2) {
      u64 low, high;
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(descriptor + i) : "memory");
      w.word[i] = u32(low);
      if (i + 1 < STATE_WORDS) w.word[i + 1 < STATE_WORDS ? i + 1 : 0] = u32(high);
      there &= u32(low >> 32) & u32(high >> 32);
    }
  }
  if (there) state = state_of(w);
  return there;
}

// A state that some lanes wait for; the others keep the identity.
struct Awaited {
  const u64* descriptor;
  State state;
  bool there;
  __device__ __forceinline__ Awaited(const u64* from, bool wanted) : descriptor(from), state(identity()), there(!wanted) {
    if (wanted) there = peek(descriptor, state);
  }
  __device__ __forceinline__ State wait() {
    while (!__all_sync(ALL, there))
      if (!there) there = peek(descriptor, state);
    return state;
  }
};

struct Lookback {
  u64 *tiles, *blocks, *superblocks;  // of one line

  __device__ __forceinline__ Lookback(const Params& p, i64 line) {
    i64 in_blocks = (p.tiles + 31) / 32, in_superblocks = (in_blocks + 31) / 32;
    u64* base = p.scratch + 2;
    tiles = base + line * p.tiles * DESCRIPTOR;
    base += p.lines * p.tiles * DESCRIPTOR;
    blocks = base + line * in_blocks * DESCRIPTOR;
    base += p.lines * in_blocks * DESCRIPTOR;
    superblocks = base + line * in_superblocks * DESCRIPTOR;
  }

  // Called by a whole warp, for a tile whose aggregate is published or about to be. All lanes get what comes before the
  // tile; if it is the `last` of the line, `inclusive` is what comes after.
  __device__ __forceinline__ State before(i64 tile, const State& seed, bool last, State& inclusive, int lane) {
    int in_block = tile & 31, in_superblock = (tile >> 5) & 31;
    i64 block = tile >> 5, superblock = tile >> 10;
    bool closes = in_block == 31;
    Awaited of_tiles(tiles + (block * 32 + lane) * DESCRIPTOR, lane < in_block || (lane == in_block && (closes || last)));
    Awaited of_blocks(blocks + (superblock * 32 + lane) * DESCRIPTOR, lane < in_superblock);
    Awaited of_line(superblocks + (superblock - 1) * DESCRIPTOR, superblock > 0 && lane == 0);

    State aggregates = of_tiles.wait();
    State earlier = warp_reduce(choose(lane < in_block, aggregates, identity()), lane), all = earlier;
    if (closes || last) all = warp_reduce(aggregates, lane);
    if (closes && lane == 0) publish(blocks + block * DESCRIPTOR, all);
    State earlier_blocks = warp_reduce(of_blocks.wait(), lane);
    State line = superblock > 0 ? from_lane(of_line.wait(), 0) : seed;
    if (in_superblock) line = combine(line, earlier_blocks);
    if (closes || last) inclusive = combine(line, all);
    if (closes && in_superblock == 31 && lane == 0) publish(superblocks + superblock * DESCRIPTOR, inclusive);
    return in_block ? combine(line, earlier) : line;
  }
};

// The next tile: every block takes tiles by ticket, so whoever is waited for is running.
__device__ __forceinline__ i64 take_ticket(const Params& p, bool first) {
  if (p.scratch) return i64(atomicAdd(p.scratch, u64(1)));
  return first ? i64(blockIdx.x) : p.lines * p.tiles;
}
