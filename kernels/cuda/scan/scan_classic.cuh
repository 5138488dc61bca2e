// The classic schedule, for every GPU from sm_70 on: a block takes a tile, reduces it, looks back, reads it again from the
// cache, scans and writes it. All warps request the aggregates of earlier tiles.
//
// It must give the same bits as the pipelined schedule: tiles, segments and the look-back are the same.
#pragma once

__device__ __forceinline__ View view_of(const Params& p, const LinePlace& at) {
  View view;
  unroll<INPUTS>([&](auto k) { view.in[k.value] = p.in[k.value] + at.first * sizeof(typename In<k.value>::type); });
  view.bit = 0;
  view.mask = p.mask + p.mask_offset + at.first;
  if constexpr (NULLS == BITS) {
    view.mask = p.mask + ((p.mask_offset + at.first) >> 3);
    view.bit = (p.mask_offset + at.first) & 7;
  }
  view.null = int(p.null);
  view.count = at.count;
  view.vectors = takes_vectors(view);
  return view;
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  __shared__ i64 next;
  __shared__ State aggregates[WARPS];
  __shared__ State found[32];
  __shared__ State tile_prefix;
  __shared__ Folded folded;  // written by warp 0
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  i64 line = -1, block = 0;  // of the latest tile, if its line has several
  if (threadIdx.x == 0) next = take_ticket(p, true);
  __syncthreads();
  while (next < p.lines * p.tiles) {
    LinePlace at = place_of(p, next);
    View view = view_of(p, at);
    State sum = segment_reduce(view, warp, lane);
    if (lane == 0) aggregates[warp] = sum;
    __syncthreads();
    bool last = at.tile == p.tiles - 1;
    State prefix = carry_into(p, at.line), inclusive, all;
    if (warp == 0) all = reduce_warps(aggregates, lane);
    if (p.tiles == 1) {
      inclusive = combine(prefix, all);
    } else if constexpr (WRITE) {
      u64* tiles = Lookback(p, at.line).tiles;
      if (threadIdx.x == 0) publish(tiles + at.tile * DESCRIPTOR, all);
      if (at.line != line) {
        line = at.line, block = 0;
        Walk walk;
        walk.start(prefix);
        if (warp == 0) walk.keep(folded, lane);
      }
      i64 target = at.tile >> 5;
      for (bool there = false; !there;) {
        for (int i = warp; i < 32 && block + i <= target; i += WARPS) {
          State one = of_block(tiles, block + i, at.tile, lane);
          if (lane == 0) found[i] = one;
        }
        __syncthreads();
        there = target < block + 32;
        i64 end = there ? target : block + 32;
        if (warp == 0) {
          Walk walk;
          walk.block = block;
          walk.resume(folded, lane);
          State earlier = found[int(target - block) & 31];
          walk.add(found[lane], end, lane);
          if (there) prefix = walk.before_tile(at.tile, earlier, lane);
          if (last && there) inclusive = walk.after_tile(tiles, at.tile, lane);
          walk.keep(folded, lane);
        }
        block = end;
        if (!there) __syncthreads();
      }
    } else if (warp == 0) {
      Lookback chain(p, at.line);
      if (lane == 0) publish(chain.tiles + at.tile * DESCRIPTOR, all);
      prefix = chain.before(at.tile, [&] { return prefix; }, last, inclusive, lane);
    }
    if (threadIdx.x == 0) {
      tile_prefix = prefix;
      if (last) p.carry_out[at.line] = inclusive;
      next = take_ticket(p, false);  // the ticket is in flight while this tile is scanned
    }
    __syncthreads();
    if constexpr (WRITE) {
      State run = earlier_warps(tile_prefix, aggregates, warp, lane);
      segment_scan(view, outputs_of(p, at), warp, lane, [&] { return run; });
      __syncthreads();
    }
  }
}
