// The pipelined schedule of columns, for sm_90 and later: blocks that stay, around a ring of stages in shared memory.
//
// A feeder warp takes tickets and copies tiles into stages; the squad marks and reduces a tile as soon as it lands, and
// writes the tile DEPTH before it, whose prefix a look-back warp has found meanwhile; a publisher warp folds the squad's
// aggregates. So tiles load, wait for their prefix and are written at the same time. Stages are freed in the order of
// tickets, so the lowest unfinished tile never waits.
#pragma once
#include "bulk.cuh"

struct Ring {
  Barrier full[STAGES];     // the tile has landed
  Barrier reduced[STAGES];  // the warps' aggregates are there
  Barrier known[STAGES];    // so is what comes before the tile, and before each warp within it
  Barrier empty[STAGES];    // the stage may be fed again
  Place place[STAGES];
  State aggregates[STAGES][WARPS];
  State befores[STAGES][WARPS];
  State prefix[STAGES];
  u32 marks[STAGES][WARPS * 32];
};

struct Turn {  // which stage a tile of this block is in, and which phase its barriers have then
  int stage = 0;
  u32 phase = 0;
  __device__ __forceinline__ explicit Turn(int skip = 0) { next(skip); }
  __device__ __forceinline__ void next(int turns = 1) {
    stage += turns;
    if (stage >= STAGES) stage -= STAGES, phase ^= 1;
  }
};

// By one thread.
__device__ __forceinline__ void feed(const Params& p, Ring& ring, u8* stages) {
  bool first = true;
  int ended = 0;
  for (Turn turn;; turn.next()) {
    int s = turn.stage;
    i64 tile = p.tiles;
    if (!ended) {
      // the ticket travels while the stage's last tile is written, but is not taken earlier: others wait for its tile
      ring.known[s].wait(turn.phase ^ 1);
      tile = take_ticket(p, first);
      first = false;
    }
    ring.empty[s].wait(turn.phase ^ 1);
    if (tile >= p.tiles) {
      ring.place[s].tile = -1;
      ring.full[s].arrive();
      if (++ended == LOOKBACKS) return;
      continue;
    }
    Place at = place_of(p, tile);
    u32 bytes = 0;
    unroll<COLUMNS>([&](auto k) { bytes += source_of<k.value>(p, at).bytes; });
    ring.place[s] = at;
    ring.full[s].arrive_and_expect(bytes);
    unroll<COLUMNS>([&](auto k) {
      Source source = source_of<k.value>(p, at);
      load_bulk(stages + s * STAGE + region_offset<k.value>(), source.from, source.bytes, ring.full[s]);
    });
  }
}

__device__ __forceinline__ void publish_tiles(const Params& p, Ring& ring, int lane) {
  for (Turn turn;; turn.next()) {
    int s = turn.stage;
    ring.full[s].wait(turn.phase);
    Place at = ring.place[s];
    if (at.tile < 0) return;
    ring.reduced[s].wait(turn.phase);
    State all = fold_columns(ring.aggregates[s], ring.befores[s], lane);
    if (IN_PLACE) __threadfence();  // the tile has been read before others may write over it
    if (lane == 0) publish(Lookback(p, 0).tiles + at.tile * DESCRIPTOR, all);
    __syncwarp();
    if (lane == 0) ring.known[s].arrive();
  }
}

__device__ __forceinline__ void look_back(const Params& p, Ring& ring, int which, int lane) {
  for (Turn turn(which);; turn.next(LOOKBACKS)) {
    int s = turn.stage;
    ring.full[s].wait(turn.phase);
    Place at = ring.place[s];
    if (at.tile < 0) return;
    bool last = at.tile == p.tiles - 1;
    State inclusive;
    State prefix = Lookback(p, 0).before(at.tile, seed_of(p), last, inclusive, lane);
    if (lane == 0) {
      if (IN_PLACE) __threadfence();
      ring.prefix[s] = prefix;
      if (last) finish(p, inclusive);
      ring.known[s].arrive();
    }
    __syncwarp();
  }
}

__device__ __forceinline__ void work(const Params& p, Ring& ring, const u8* stages, u16* list, int warp, int lane) {
  Turn ahead, behind;
  bool ended = false;
  for (int waiting = 0;;) {
    if (!ended) {
      int s = ahead.stage;
      ring.full[s].wait(ahead.phase);
      Place at = ring.place[s];
      ended = at.tile < 0;
      if (!ended) {
        u32 marks;
        State sum = segment_reduce(p, view_of(p, at, stages + s * STAGE), marks, warp, lane);
        ring.marks[s][warp * 32 + lane] = marks;
        if (lane == 0) {
          ring.aggregates[s][warp] = sum;
          ring.reduced[s].arrive();
        }
        ahead.next();
        waiting++;
      }
    }
    if (waiting > (ended ? 0 : DEPTH)) {
      int s = behind.stage;
      ring.known[s].wait(behind.phase);
      View view = view_of(p, ring.place[s], stages + s * STAGE);
      State before = combine(ring.prefix[s], ring.befores[s][warp]);
      segment_write(p, view, ring.marks[s][warp * 32 + lane], before, list, warp, lane);
      __syncwarp();
      if (lane == 0) ring.empty[s].arrive();
      behind.next();
      waiting--;
    } else if (ended) {
      return;
    }
  }
}

extern "C" __global__ void __launch_bounds__((WARPS + 2 + LOOKBACKS) * 32, 1)
    visit_tiles(const __grid_constant__ Params p) {
  extern __shared__ __align__(128) u8 shared[];
  __shared__ Ring ring;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      ring.full[s].init(1);
      ring.reduced[s].init(WARPS);
      ring.known[s].init(2);
      ring.empty[s].init(WARPS);
    }
    barriers_are_ready();
  }
  __syncthreads();
  if (warp < WARPS) {
    u16* lists = reinterpret_cast<u16*>(shared + STAGES * STAGE);
    work(p, ring, shared, lists + warp * SEGMENT, warp, lane);
  } else if (warp == WARPS) {
    if (lane == 0) feed(p, ring, shared);
  } else if (warp == WARPS + 1) {
    publish_tiles(p, ring, lane);
  } else {
    look_back(p, ring, warp - WARPS - 2, lane);
  }
}
