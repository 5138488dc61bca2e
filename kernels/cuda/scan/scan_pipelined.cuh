// The pipelined schedule, for sm_90 and later: resident blocks, and warps with one job each around a ring of stages.
//
// A feeder warp takes tickets and copies tiles into stages of shared memory; the aggregate squad reduces and publishes
// each tile as soon as it lands; a look-back warp finds its prefix; the scan squad scans a tile; an unloader
// warp writes it out and frees its stage. So tiles load, wait for their prefix and are written at the same time. A
// reduction has two aggregate squads that take turns, and no scan squad.
// A ticket is taken before its stage is free, but stages are freed in the order of tickets, so the lowest unfinished
// tile never waits. This file must give the same bits as scan_classic.cuh: tiles, segments and the look-back are the
// same.
#pragma once
#include "window.cuh"

// A region for each input, and one for a mask.
constexpr int REGIONS = INPUTS + (NULLS == BITS || NULLS == BYTES);
template <int K>
__device__ constexpr int region_bytes() {
  if constexpr (K < INPUTS)
    return TILE * int(sizeof(typename In<K>::type)) + 16;
  else
    return NULLS == BITS ? TILE / 8 + 32 : TILE + 16;
}
constexpr int MASK_REGION = region_offset<INPUTS>(), LANES_REGION = region_offset<REGIONS>();
constexpr int STAGE = LANES_REGION + (KEEPS_LANES ? STATE_WORDS * WARPS * 128 : 0);

// If items of the output are as large as those of the first input, results replace these in the stage, and one copy
// writes them.
constexpr bool IN_PLACE = WRITE && OUTPUTS == 1 && sizeof(Out<0>::type) == sizeof(In<0>::type);
__device__ __forceinline__ bool leaves_by_copy(const Params& p, const LinePlace& at) {
  if constexpr (!IN_PLACE) return false;
  i64 offset = at.first * sizeof(typename Out<0>::type);
  return at.count == TILE && aligned(p.in[0] + offset, 16) && aligned(p.out[0] + offset, 16);
}

template <int K>
__device__ __forceinline__ Source source_of(const Params& p, const LinePlace& at) {
  constexpr int size = sizeof(typename In<K>::type);
  return {p.in[K] + at.first * size, at.count * size};
}
__device__ __forceinline__ Source mask_source(const Params& p, const LinePlace& at) {
  i64 from = p.mask_offset + at.first;
  if constexpr (NULLS == BITS) return {p.mask + (from >> 3), int(((from + at.count + 7) >> 3) - (from >> 3))};
  return {p.mask + from, at.count};
}
template <class F>
__device__ __forceinline__ void each_source(const Params& p, const LinePlace& at, u8* stage, F f) {
  unroll<INPUTS>([&](auto k) { f(source_of<k.value>(p, at), stage + region_offset<k.value>()); });
  if constexpr (NULLS == BITS || NULLS == BYTES) f(mask_source(p, at), stage + MASK_REGION);
}

__device__ __forceinline__ View view_of(const Params& p, const LinePlace& at, const u8* stage) {
  View view;
  unroll<INPUTS>([&](auto k) {
    view.in[k.value] = stage + region_offset<k.value>() + source_of<k.value>(p, at).shift();
  });
  view.mask = stage + MASK_REGION;
  view.bit = 0;
  if constexpr (NULLS == BITS || NULLS == BYTES) view.mask += mask_source(p, at).shift();
  if constexpr (NULLS == BITS) view.bit = int(p.mask_offset + at.first) & 7;
  view.null = int(p.null);
  view.count = at.count;
  view.vectors = takes_vectors(view);
  return view;
}

struct ScanRing {
  Barrier full[STAGES];     // the tile has landed
  Barrier empty[STAGES];    // the stage may be fed again
  Barrier reduced[STAGES];  // the warps' aggregates are there
  Barrier known[STAGES];    // the prefix is there, and `folded` is up to date
  Barrier scanned[STAGES];  // the scan squad no longer needs the stage
  LinePlace place[STAGES];
  i64 follows[STAGES];      // the block's previous tile if it was of the same line, else -1
  State aggregates[STAGES][WARPS];
  State prefix[STAGES];
  Folded folded;            // before the latest tile with a known prefix
};

// Squads with the same job take turns at tiles, as do the LOOKBACKS look-back warps. There are no more of them than
// stages, as all must see the end.
constexpr int SQUAD = WRITE ? AGGREGATORS : WARPS;  // warps of an aggregate squad: each reduces one segment, or several
constexpr int AGGREGATING = WRITE ? 1 : 2, ENDS = LOOKBACKS > AGGREGATING ? LOOKBACKS : AGGREGATING;

__device__ __forceinline__ void feed(const Params& p, ScanRing& ring, u8* stages, int lane) {
  i64 ticket = 0, total = p.lines * p.tiles;
  i64 line = -1, tile = -1;
  bool first = true;
  int ended = 0;
  for (Turn<STAGES> turn;; turn.next()) {
    int s = turn.place;
    if (lane == 0) {
      // the ticket is in flight while the last tile of the stage is stored; it is not taken earlier, as others wait for
      // its tile
      if (WRITE) ring.scanned[s].wait(turn.phase ^ 1);
      if (ticket < total) ticket = take_ticket(p, first);
      ring.empty[s].wait(turn.phase ^ 1);
    }
    __syncwarp();  // orders the wait before writes of all lanes to the stage, which a shuffle does not
    first = false;
    i64 now = __shfl_sync(ALL, ticket, 0);
    if (EVERY_LANE) ring.empty[s].wait(turn.phase ^ 1);
    if (now >= total) {
      if (lane == 0) ring.place[s].line = -1;
      warp_arrives(ring.full[s], lane);
      if (++ended == ENDS) return;
      continue;
    }
    LinePlace at = place_of(p, now);
    u8* stage = stages + s * STAGE;
    u32 copied = 0;
    each_source(p, at, stage, [&](Source source, u8* region) {
      int head = source.head(), body = source.body(), tail = source.bytes - head - body;
      u8* image = region + source.shift();
      if (lane < head) image[lane] = source.from[lane];
      if (lane >= 16 && lane - 16 < tail) image[head + body + lane - 16] = source.from[head + body + lane - 16];
      copied += body;
    });
    before_copies();
    __syncwarp();
    if (lane == 0) {
      ring.place[s] = at;
      ring.follows[s] = at.line == line ? tile : -1;
      ring.full[s].arrive_and_expect(copied);
      each_source(p, at, stage, [&](Source source, u8* region) {
        int head = source.head(), body = source.body();
        if (body) tma_load(region + source.shift() + head, source.from + head, body, ring.full[s]);
      });
    }
    if (EVERY_LANE && lane > 0) ring.full[s].arrive();
    line = at.line, tile = at.tile;
  }
}

__device__ __forceinline__ void aggregate(const Params& p, ScanRing& ring, u8* stages, int squad, int warp, int lane) {
  for (Turn<STAGES> turn(squad);; turn.next(AGGREGATING)) {
    int s = turn.place;
    ring.full[s].wait(turn.phase);
    LinePlace at = ring.place[s];
    if (at.line < 0) return;
    u8* stage = stages + s * STAGE;
    View view = view_of(p, at, stage);
#pragma unroll 1
    for (int segment = warp; segment < WARPS; segment += SQUAD) {
      if constexpr (KEEPS_LANES) {
        State sum = rake(view, segment, lane);
        keep_lane(reinterpret_cast<u32*>(stage + LANES_REGION), segment, lane, sum);
        if (lane == 31) ring.aggregates[s][segment] = sum;
      } else {
        State sum = segment_reduce(view, segment, lane);
        if (lane == 0) ring.aggregates[s][segment] = sum;
      }
    }
    squad_sync(1 + squad, SQUAD * 32);
    if (warp == 0 && p.tiles > 1) {
      State all = reduce_warps(ring.aggregates[s], lane);
      if (lane == 0) publish(Lookback(p, at.line).tiles + at.tile * DESCRIPTOR, all);
    }
    warp_arrives(ring.reduced[s], lane);
  }
}

// Finds the prefix of a tile in a line of several tiles. Called by a look-back warp; all lanes get the prefix.
__device__ __forceinline__ State find_prefix(const Params& p, ScanRing& ring, const Turn<STAGES>& turn, const LinePlace& at, int lane) {
  const u64* tiles = Lookback(p, at.line).tiles;
  i64 follows = ring.follows[turn.place], target = at.tile >> 5;
  Walk walk;
  walk.block = follows < 0 ? 0 : follows >> 5;
  auto my_turn = [&] {  // the block's previous tile has its prefix
    Turn<STAGES> before = turn.before();
    ring.known[before.place].wait(before.phase);
  };
  for (bool first = true;; first = false) {
    State found = of_blocks(tiles, walk.block, at.tile, lane, my_turn);
    if (first) {
      my_turn();
      if (follows < 0)
        walk.start(carry_into(p, at.line));
      else
        walk.resume(ring.folded, lane);
    }
    i64 left = add_window(walk, found, target, lane);
    if (left < WINDOW) {
      walk.keep(ring.folded, lane);
      if (at.tile == p.tiles - 1) {
        State all = walk.after_tile(tiles, at.tile, lane);
        if (lane == 0) p.carry_out[at.line] = all;
      }
      return walk.before_tile(at.tile, from_lane(found, int(left)), lane);
    }
  }
}

__device__ __forceinline__ void look_back(const Params& p, ScanRing& ring, int which, int lane) {
  for (Turn<STAGES> turn(which);; turn.next(LOOKBACKS)) {
    int s = turn.place;
    ring.full[s].wait(turn.phase);
    LinePlace at = ring.place[s];
    if (at.line < 0) return;
    State prefix;
    if (p.tiles > 1 && WRITE && !RAKES) {
      prefix = find_prefix(p, ring, turn, at, lane);
    } else {
      ring.reduced[s].wait(turn.phase);
      auto seed = [&] { return carry_into(p, at.line); };
      bool last = at.tile == p.tiles - 1;
      State all;
      if (p.tiles == 1) prefix = seed(), all = combine(prefix, reduce_warps(ring.aggregates[s], lane));
      __syncwarp();
      if (!WRITE && lane == 0) ring.empty[s].arrive();
      if (p.tiles > 1 && (WRITE || last || (at.tile & 31) == 31))
        prefix = Lookback(p, at.line).before(at.tile, seed, last, all, lane);
      if (last && lane == 0) p.carry_out[at.line] = all;
    }
    if (WRITE) {
      if (lane == 0) ring.prefix[s] = prefix;
      warp_arrives(ring.known[s], lane);
    }
  }
}

__device__ __forceinline__ void scan(const Params& p, ScanRing& ring, u8* stages, int warp, int lane) {
  for (Turn<STAGES> turn;; turn.next()) {
    int s = turn.place;
    ring.full[s].wait(turn.phase);
    LinePlace at = ring.place[s];
    if (at.line < 0) return;
    u8* stage = stages + s * STAGE;
    View view = view_of(p, at, stage);
    Outputs out = outputs_of(p, at);
    bool copied = leaves_by_copy(p, at);
    if (copied) out.at[0] = stage;
    segment_scan(view, out, warp, lane, [&] {
      ring.reduced[s].wait(turn.phase);
      ring.known[s].wait(turn.phase);
      return earlier_warps(ring.prefix[s], ring.aggregates[s], warp, lane);
    }, reinterpret_cast<const u32*>(stage + LANES_REGION));
    if (copied) before_copies();
    warp_arrives(ring.scanned[s], lane);
  }
}

// Called by one thread: stores tiles that are written by one copy, and frees stages as soon as they have been read.
__device__ __forceinline__ void unload(const Params& p, ScanRing& ring, const u8* stages) {
  int leaving = -1;  // the stage that a store may still read
  for (Turn<STAGES> turn;; turn.next()) {
    int s = turn.place;
    bool at_once = ring.full[s].ready(turn.phase) && ring.scanned[s].ready(turn.phase);
    if (leaving >= 0 && !at_once) {
      stores_have_read<0>();
      ring.empty[leaving].arrive();
      leaving = -1;
    }
    ring.full[s].wait(turn.phase);
    LinePlace at = ring.place[s];
    if (at.line < 0) break;
    ring.scanned[s].wait(turn.phase);
    bool copied = leaves_by_copy(p, at);
    if (copied) tma_store(outputs_of(p, at).at[0], stages + s * STAGE, TILE * sizeof(typename Out<0>::type));
    if (leaving >= 0) {
      if (copied)
        stores_have_read<1>();
      else
        stores_have_read<0>();
      ring.empty[leaving].arrive();
    }
    leaving = copied ? s : -1;
    if (!copied) ring.empty[s].arrive();
  }
  stores_are_done();
}

constexpr int SQUADS = AGGREGATING * SQUAD + (WRITE ? WARPS : 0), BLOCK = (SQUADS + 2 + LOOKBACKS) * 32;

extern "C" __global__ void __launch_bounds__(BLOCK, 1) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  extern __shared__ __align__(128) u8 stages[];
  __shared__ ScanRing ring;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      ring.full[s].init(ARRIVING);
      ring.reduced[s].init(SQUAD * ARRIVING);
      ring.known[s].init(ARRIVING);
      ring.scanned[s].init(WARPS * ARRIVING);
      ring.empty[s].init(1);
    }
    barriers_are_ready();
  }
  __syncthreads();
  if (warp < AGGREGATING * SQUAD) {
    aggregate(p, ring, stages, warp / SQUAD, warp % SQUAD, lane);
  } else if (warp < SQUADS) {
    if constexpr (WRITE) scan(p, ring, stages, warp - SQUAD, lane);
  } else if (warp == SQUADS) {
    feed(p, ring, stages, lane);
  } else if (warp == SQUADS + 1) {
    if (WRITE && lane == 0) unload(p, ring, stages);
  } else {
    look_back(p, ring, warp - SQUADS - 2, lane);
  }
}
