// The look-back: the exclusive prefix of a tile, from the aggregates that earlier tiles have published.
//
// Aggregates are combined in blocks of 32 tiles, blocks in superblocks of 32, superblocks one after another: a tree
// that depends on the number of tiles alone, so the same input gives the same bits whatever the timing. A tile waits
// only for tiles with lower tickets. A descriptor needs no separate status: each 8-byte word holds 4 bytes of the state
// and a flag, and is read and written as a whole, so a state of any size needs no fence. After Merrill and Garland,
// NVR-2016-002. Nothing here may depend on what is combined or how tiles are scanned.
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

struct Descriptor {
  u64 word[DESCRIPTOR];

  __device__ __forceinline__ void read(const u64* from) {
    if constexpr (DESCRIPTOR == 1) {
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word[0]) : "l"(from) : "memory");
    } else {
#pragma unroll
      for (int i = 0; i < DESCRIPTOR; i += 2)
        asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(word[i]), "=l"(word[i + 1])
                     : "l"(from + i)
                     : "memory");
    }
  }
  // Gets the state; false if it has not been published yet.
  __device__ __forceinline__ bool says(State& state) const {
    StateWords w = {};
    u32 there = 1;
#pragma unroll
    for (int i = 0; i < DESCRIPTOR; i++) {
      if (i < STATE_WORDS) w.word[i < STATE_WORDS ? i : 0] = u32(word[i]);
      there &= u32(word[i] >> 32);
    }
    if (there) state = state_of(w);
    return there;
  }
};
__device__ __forceinline__ bool peek(const u64* from, State& state) {
  Descriptor descriptor;
  descriptor.read(from);
  return descriptor.says(state);
}

// A state that some lanes wait for; the others keep the identity. States of few words are asked for at once, so that
// several travel at the same time; for large ones there are too few registers.
constexpr bool ASKED_AT_ONCE = STATE_WORDS <= 4;
struct Awaited {
  const u64* descriptor;
  State state;
  bool there;
  __device__ __forceinline__ Awaited(const u64* from, bool wanted) : descriptor(from), state(identity()), there(!wanted) {
    if (ASKED_AT_ONCE && wanted) there = peek(descriptor, state);
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

  // Called by a whole warp, for a tile with an aggregate that is published now or soon. All lanes get the exclusive
  // prefix of the tile; if it is the `last` of the line, `inclusive` becomes its inclusive prefix. `seed()` is the
  // state before the line.
  template <class Seed>
  __device__ __forceinline__ State before(i64 tile, Seed seed, bool last, State& inclusive, int lane) {
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
    if (!WRITE && !last && in_superblock < 31) return identity();  // the prefix is not used
    State of_earlier_blocks = of_blocks.wait();
    State base = superblock > 0 ? from_lane(of_line.wait(), 0) : seed();
    if (closes && in_superblock == 31) {
      State whole = combine(base, warp_reduce(choose(lane == 31, all, of_earlier_blocks), lane));
      if (lane == 0) publish(superblocks + superblock * DESCRIPTOR, whole);
    }
    if (in_superblock) base = combine(base, warp_reduce(of_earlier_blocks, lane));
    if (last) inclusive = combine(base, all);
    return in_block ? combine(base, earlier) : base;
  }
};

// The same prefixes, bit by bit, for a block that takes a line's tiles in order. It combines all tiles' aggregates
// itself: to wait for published aggregates of blocks of tiles would take one more round trip to memory. Several warps
// request aggregates (`of_block`, `of_blocks`), which takes long; then one at a time adds them to what is combined so
// far.
struct Folded {  // what a thread block keeps in shared memory between tiles
  State base;
  State blocks[32];
};
template <class Base>  // a State, or a wider type that `combine` takes with a State
struct WalkOnto {
  i64 block;     // the first block that is not combined yet
  Base base;     // the exclusive prefix of the superblock
  State blocks;  // in lane l: the aggregate of the superblock's block l, before `block`

  __device__ __forceinline__ void start(const Base& seed) { base = seed, blocks = identity(); }
  __device__ __forceinline__ void resume(const Folded& from, int lane) { base = from.base, blocks = from.blocks[lane]; }
  __device__ __forceinline__ void keep(Folded& to, int lane) const {
    __syncwarp();  // all lanes have resumed
    to.blocks[lane] = blocks;
    if (lane == 0) to.base = base;
  }

  // `found` in lane i is the aggregate of block `block + i` if that is before `end`; there are at most 32 such blocks.
  __device__ __forceinline__ void add(const State& found, i64 end, int lane) {
    int i = (lane - int(block)) & 31;  // lane l takes block l of the superblock
    State mine = from_lane(found, i);
    bool whole = block + i < end;
    i64 superblock_end = (block | 31) + 1;
    blocks = choose(whole && block + i < superblock_end, mine, blocks);
    if (end >= superblock_end) {
      base = combine(base, warp_reduce(blocks, lane));
      blocks = choose(whole && block + i >= superblock_end, mine, identity());
    }
    block = end;
  }
  __device__ __forceinline__ Base before_block(int lane) const {
    return block & 31 ? combine(base, warp_reduce(blocks, lane)) : base;
  }
  // The exclusive prefix of a tile of block `block`, given the combination `earlier` of the block's earlier tiles.
  __device__ __forceinline__ Base before_tile(i64 tile, const State& earlier, int lane) const {
    Base before = before_block(lane);
    return tile & 31 ? combine(before, earlier) : before;
  }
  // The inclusive prefix of the line's last tile.
  __device__ __forceinline__ Base after_tile(const u64* tiles, i64 tile, int lane) const {
    Awaited all(tiles + (block * 32 + lane) * DESCRIPTOR, lane <= int(tile & 31));
    return combine(before_block(lane), warp_reduce(all.wait(), lane));
  }
};
using Walk = WalkOnto<State>;

// All lanes get the combination of the block's tiles before `tile`.
__device__ __forceinline__ State of_block(const u64* tiles, i64 block, i64 tile, int lane) {
  i64 at = block * 32 + lane;
  return warp_reduce(Awaited(tiles + at * DESCRIPTOR, at < tile).wait(), lane);
}

// The next tile: every block takes tiles by ticket, so blocks that are waited for are running.
__device__ __forceinline__ i64 take_ticket(const Params& p, bool first) {
  if (p.scratch) return i64(atomicAdd(p.scratch, u64(1)));
  return first ? i64(blockIdx.x) : p.lines * p.tiles;
}
