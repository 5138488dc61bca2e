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
    if (!WRITE && !last && in_superblock < 31) return seed;  // nobody asks what comes before
    State of_earlier_blocks = of_blocks.wait();
    State base = superblock > 0 ? from_lane(of_line.wait(), 0) : seed;
    if (closes && in_superblock == 31) {
      State whole = combine(base, warp_reduce(choose(lane == 31, all, of_earlier_blocks), lane));
      if (lane == 0) publish(superblocks + superblock * DESCRIPTOR, whole);
    }
    if (in_superblock) base = combine(base, warp_reduce(of_earlier_blocks, lane));
    if (last) inclusive = combine(base, all);
    return in_block ? combine(base, earlier) : base;
  }
};

// The same prefixes, bit by bit, for a warp that comes by a line's tiles in their order and not too rarely: it folds all
// tiles' aggregates itself and needs nobody to publish those of blocks, which take one more hop through memory to be seen.
struct Follower {
  static constexpr int WINDOW = 8;  // blocks that are asked for at once

  i64 line = -1;
  i64 block;     // of the line's last tile that was asked about
  State base;    // what comes before the superblock
  State blocks;  // in lane l: the aggregate of the superblock's block l, up to `block`

  __device__ __forceinline__ State before(const Params& p, const Place& at, const State& seed, bool last,
                                          State& inclusive, int lane) {
    if (at.line != line) line = at.line, block = 0, base = seed, blocks = identity();
    const u64* tiles = Lookback(p, line).tiles;
    i64 target = at.tile >> 5;
    int in_block = at.tile & 31;
    State earlier;  // of the tiles of the tile's own block
    for (bool there = false; !there;) {
      State window[WINDOW];
      u32 absent = 0;
#pragma unroll
      for (int i = 0; i < WINDOW; i++) {
        window[i] = identity();
        if (block + i < target || (block + i == target && lane < in_block))
          absent |= u32(!peek(tiles + ((block + i) * 32 + lane) * DESCRIPTOR, window[i])) << i;
      }
      while (__any_sync(ALL, absent)) {
#pragma unroll
        for (int i = 0; i < WINDOW; i++)
          if ((absent >> i) & 1)
            absent ^= u32(peek(tiles + ((block + i) * 32 + lane) * DESCRIPTOR, window[i])) << i;
      }
      State row = each_reduce<WINDOW>(window, lane);
      // lane l takes the block whose place in the superblock is l
      int i = (lane - int(block)) & 31;
      State mine = from_lane(row, row_of_lane<WINDOW>(i));
      i64 superblock_end = (block | 31) + 1, end = block + WINDOW < target ? block + WINDOW : target;
      bool whole = i < WINDOW && block + i < end;
      blocks = choose(whole && block + i < superblock_end, mine, blocks);
      if (end >= superblock_end) {
        base = combine(base, warp_reduce(blocks, lane));
        blocks = choose(whole && block + i >= superblock_end, mine, identity());
      }
      there = target < block + WINDOW;
      if (there) earlier = from_lane(row, row_of_lane<WINDOW>(int(target - block)));
      block = end;
    }
    State before_block = base;
    if (target & 31) before_block = combine(base, warp_reduce(blocks, lane));
    if (last) {
      Awaited all(tiles + (target * 32 + lane) * DESCRIPTOR, lane <= in_block);
      inclusive = combine(before_block, warp_reduce(all.wait(), lane));
    }
    return in_block ? combine(before_block, earlier) : before_block;
  }
};

// The next tile: every block takes tiles by ticket, so whoever is waited for is running.
__device__ __forceinline__ i64 take_ticket(const Params& p, bool first) {
  if (p.scratch) return i64(atomicAdd(p.scratch, u64(1)));
  return first ? i64(blockIdx.x) : p.lines * p.tiles;
}
