// The classic schedule of columns, for every GPU from sm_70 on: a block takes a tile, copies it to shared memory,
// selects and reduces its items, looks back, and writes. While one block of a multiprocessor waits, others work.
#pragma once

__device__ __forceinline__ void copy_columns(const Params& p, const Place& at, u8* stage) {
  unroll<COLUMNS>([&](auto k) {
    ColumnSource source = source_of<k.value>(p, at);
    for (u32 i = threadIdx.x * 16; i < u32(source.bytes); i += WARPS * 32 * 16)
      *reinterpret_cast<uint4*>(stage + region_offset<k.value>() + i) = *reinterpret_cast<const uint4*>(source.from + i);
  });
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  extern __shared__ __align__(128) u8 stage[];
  __shared__ i64 next;
  __shared__ Tile tile;
  __shared__ State aggregates[WARPS];
  __shared__ State befores[WARPS];
  __shared__ Prefix tile_prefix;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Kept* kept = reinterpret_cast<Kept*>(stage + STAGE) + warp * 32;
  u16* list = reinterpret_cast<u16*>(stage + STAGE + WARPS * 32 * sizeof(Kept)) + warp * ROW * LISTED_ROWS;
  for (bool begun = false;; begun = true) {
    if (threadIdx.x == 0) {
      next = take_ticket(p, !begun);
      if (next < p.tiles) describe(p, place_of(p, next), tile);
    }
    __syncthreads();
    if (next >= p.tiles) return;
    Place at = tile.at;
    copy_columns(p, at, stage);
    __syncthreads();
    View view = view_of(tile, stage);
    bool held;
    State sum = segment_reduce(p, view, kept, held, warp, lane);
    if constexpr (LOOKS_BACK) {
      if (lane == 0) aggregates[warp] = sum;
      __syncthreads();
      if (warp == 0) {
        State all = warp_fold(aggregates, befores, lane), inclusive;
        Lookback chain(p, 0);
        if (IN_PLACE) __threadfence();  // the tile must be read before others overwrite it
        if (lane == 0) publish(chain.tiles + at.tile * DESCRIPTOR, all);
        bool last = at.tile == p.tiles - 1;
        State prefix = chain.before(at.tile, [&] { return seed_of(p); }, last, inclusive, lane);
        if (lane == 0) {
          if (IN_PLACE) __threadfence();
          tile_prefix = prefix;
          if (last) finish(p, inclusive);
        }
      }
      __syncthreads();
      Prefix before = combine(tile_prefix, befores[warp]);
      if (held)
        segment_write(p, view, kept, sum, before, list, warp, lane);
      else
        kept_write(p, view, kept, sum, before, list, warp, lane);
    }
    __syncthreads();
  }
}
