// The pipelined schedule of columns, for sm_90 and later: resident blocks with stages in shared memory.
//
// A feeder warp takes tickets and copies tiles into stages. Each warp of the squad selects and reduces the items of its
// segment as soon as the tile lands. It copies what it will write, if that is little; otherwise it holds the stage. A
// publisher warp combines the squad's aggregates, a look-back warp finds the prefix of a tile, and then the squad
// writes the tile. So tiles load while DEPTH others wait for their prefix, most of them without a stage. Tiles are
// reduced and written in the order of their tickets, and a warp waits for lower tickets only, so the lowest unfinished
// tile never waits.
#pragma once
#include "window.cuh"

constexpr int SLOTS = STAGES + DEPTH + 1;  // at most STAGES + DEPTH tiles load, wait or are written; one is spare

struct ColumnRing {
  Barrier empty[STAGES];   // the stage may be fed again
  Barrier full[SLOTS];     // the tile has landed
  Barrier reduced[SLOTS];  // the warps' aggregates are there
  Barrier known[SLOTS];    // the prefixes of the tile, and of each warp within it, are there
  Tile tile[SLOTS];        // at.tile < 0: no more tiles
  int stage[SLOTS];        // where the tile is
  State aggregates[SLOTS][WARPS];
  State befores[SLOTS][WARPS];
  Prefix prefix[SLOTS];
};

// Called by one thread. A ticket is taken only when a stage is empty, as other blocks wait for its tile. Any empty
// stage is used: if stages were used in turn, a held stage would block those behind it, and the tickets that the feeder
// takes once all are empty would delay all other blocks.
__device__ __forceinline__ void feed(const Params& p, ColumnRing& ring, u8* stages) {
  u32 phases = ALL;  // a bit for each stage
  int stage = STAGES - 1;
  auto finds_stage = [&] {
#pragma unroll 1
    for (int i = 0; i < STAGES; i++) {
      stage = stage + 1 < STAGES ? stage + 1 : 0;
      if (ring.empty[stage].ready((phases >> stage) & 1)) return true;
    }
    return false;
  };
  i64 next = 0;
  bool taken = false;
  for (Turn<SLOTS> turn;; turn.next()) {
    Barrier& full = ring.full[turn.place];
    Tile& tile = ring.tile[turn.place];
    if (!taken) {
      while (!finds_stage()) {
      }
      next = take_ticket(p, false);
    }
    if (next >= p.tiles) {
      tile.at.tile = -1;
      full.arrive();
      return;
    }
    Place at = place_of(p, next);
    describe(p, at, tile);
    u8* to = stages + stage * STAGE;
    ring.stage[turn.place] = stage;
    phases ^= 1u << stage;
    u32 bytes = 0;
    unroll<COLUMNS>([&](auto k) { bytes += source_of<k.value>(p, at).bytes; });
    full.arrive_and_expect(bytes);
    unroll<COLUMNS>([&](auto k) {
      ColumnSource source = source_of<k.value>(p, at);
      tma_load(to + region_offset<k.value>(), source.from, source.bytes, full);
    });
    taken = finds_stage();
    if (taken) next = take_ticket(p, false);  // in flight while the next turn begins
  }
}

__device__ __forceinline__ void publish_tiles(const Params& p, ColumnRing& ring, int lane) {
  for (Turn<SLOTS> turn;; turn.next()) {
    int s = turn.place;
    ring.reduced[s].wait(turn.phase);
    i64 tile = ring.tile[s].at.tile;
    if (tile < 0) return;
    State all = warp_fold(ring.aggregates[s], ring.befores[s], lane);
    if (IN_PLACE) __threadfence();  // the tile must be read before others overwrite it
    if (lane == 0) publish(Lookback(p, 0).tiles + tile * DESCRIPTOR, all);
    warp_arrives(ring.known[s], lane);
  }
}

// Called by one warp, which combines all tiles' aggregates itself, in the order of the tickets.
__device__ __forceinline__ void look_back(const Params& p, ColumnRing& ring, int lane) {
  const u64* tiles = Lookback(p, 0).tiles;
  WalkOnto<Prefix> walk;
  walk.block = 0;
  walk.start(seed_of(p));
  for (Turn<SLOTS> turn;; turn.next()) {
    int s = turn.place;
    ring.reduced[s].wait(turn.phase);
    i64 tile = ring.tile[s].at.tile, target = tile >> 5;
    if (tile < 0) return;
    Prefix prefix;
    for (bool there = false; !there;) {
      State found = of_blocks(tiles, walk.block, tile, lane, [] {});
      i64 left = add_window(walk, found, target, lane);
      there = left < WINDOW;
      if (there) prefix = walk.before_tile(tile, from_lane(found, int(left)), lane);
    }
    if (lane == 0) {
      if (IN_PLACE) __threadfence();
      ring.prefix[s] = prefix;
    }
    if (lane < ARRIVING) ring.known[s].arrive();
    if (tile == p.tiles - 1) {
      Prefix all = walk.after_tile(tiles, tile, lane);
      if (lane == 0) finish(p, all);
    }
    __syncwarp();
  }
}

__device__ __forceinline__ void work(const Params& p, ColumnRing& ring, const u8* stages, Kept* kept, u16* list, int warp,
                                     int lane) {
  Turn<SLOTS> ahead, behind;  // of the next tile to reduce, and of the next tile to write
  Turn<DEPTH> keep, kept_at;
  u32 held = 0;  // a bit for each tile that waits and holds its stage
  bool ended = false;
  for (int waiting = 0;;) {
    auto landed = [&] {
      return !ended && waiting < DEPTH && __all_sync(ALL, ring.full[ahead.place].ready(ahead.phase));
    };
    bool stages_left = __popc(held) < STAGES - 1;  // if so, reducing has priority, as other blocks wait for it
    bool reduces = stages_left && landed();
    if (!reduces && waiting && __all_sync(ALL, ring.known[behind.place].ready(behind.phase))) {
      int s = behind.place;
      const State& sum = ring.aggregates[s][warp];
      Prefix before = combine(ring.prefix[s], ring.befores[s][warp]);
      View view = view_of(ring.tile[s], stages + ring.stage[s] * STAGE);
      Kept* mine = kept + (kept_at.place * WARPS + warp) * 32;
      if ((held >> kept_at.place) & 1) {
        segment_write(p, view, mine, sum, before, list, warp, lane);
        warp_arrives(ring.empty[ring.stage[s]], lane);
      } else {
        kept_write(p, view, mine, sum, before, list, warp, lane);
      }
      held &= ~(1u << kept_at.place);
      behind.next(), kept_at.next();
      waiting--;
    } else if (reduces || (!stages_left && landed())) {
      int s = ahead.place;
      ended = ring.tile[s].at.tile < 0;
      if (ended) {  // the publisher and the look-back warp treat the end as a tile
        if (lane < ARRIVING) ring.reduced[s].arrive();
        continue;
      }
      bool holds;
      int stage = ring.stage[s];
      Kept* mine = kept + (keep.place * WARPS + warp) * 32;
      __syncwarp();
      State sum = segment_reduce(p, view_of(ring.tile[s], stages + stage * STAGE), mine, holds, warp, lane);
      held |= u32(holds) << keep.place;
      __syncwarp();
      if (lane == 0) ring.aggregates[s][warp] = sum;
      if (lane < ARRIVING) {
        ring.reduced[s].arrive();
        if (!holds) ring.empty[stage].arrive();
      }
      ahead.next(), keep.next();
      waiting++;
    } else if (ended && !waiting) {
      break;
    }
  }
}

extern "C" __global__ void __launch_bounds__((WARPS + 3) * 32, 1)
    run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  extern __shared__ __align__(128) u8 shared[];
  __shared__ ColumnRing ring;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) ring.empty[s].init(WARPS * ARRIVING);
    for (int s = 0; s < SLOTS; s++) {
      ring.full[s].init(1);
      ring.reduced[s].init(WARPS * ARRIVING);
      ring.known[s].init(2 * ARRIVING);
    }
    barriers_are_ready();
  }
  __syncthreads();
  if (warp < WARPS) {
    Kept* kept = reinterpret_cast<Kept*>(shared + STAGES * STAGE);
    u16* lists = reinterpret_cast<u16*>(kept + DEPTH * WARPS * 32);
    work(p, ring, shared, kept, lists + warp * ROW * LISTED_ROWS, warp, lane);
  } else if (warp == WARPS) {
    if (lane == 0) feed(p, ring, shared);
  } else if (warp == WARPS + 1) {
    publish_tiles(p, ring, lane);
  } else {
    look_back(p, ring, lane);
  }
}
