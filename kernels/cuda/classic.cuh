// The classic schedule, for every GPU from sm_70 on: a block takes a tile, reads it into registers, looks back, writes.
//
// It must give the same bits as the pipelined schedule: tiles, segments and look-back are the same.
#pragma once

extern "C" __global__ void __launch_bounds__(WARPS * 32, 1) scan_tiles(const __grid_constant__ Params p) {
  __shared__ i64 next;
  __shared__ State aggregates[WARPS];
  __shared__ State tile_prefix;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (bool first = true;; first = false) {
    if (threadIdx.x == 0) next = take_ticket(p, first);
    __syncthreads();
    i64 ticket = next;
    if (ticket >= p.lines * p.tiles) break;
    Place at = place_of(p, ticket);
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

    auto look_back = [&] {  // by warp 0, once the warps' aggregates are there
      State all = fold_warps(aggregates, lane);
      State prefix = carry_into(p, at.line), inclusive;
      bool last = at.tile == p.tiles - 1;
      if (p.tiles == 1) {
        inclusive = combine(prefix, all);
      } else {
        Lookback chain(p, at.line);
        if (lane == 0) publish(chain.tiles + at.tile * DESCRIPTOR, all);
        prefix = chain.before(at.tile, prefix, last, inclusive, lane);
      }
      if (lane == 0) {
        tile_prefix = prefix;
        if (last) p.carry_out[at.line] = inclusive;
      }
    };
    // Called by all threads with their warp's aggregate.
    auto seed = [&](State sum) {
      if (lane == 0) aggregates[warp] = sum;
      __syncthreads();
      if (warp == 0) look_back();
      __syncthreads();
      return earlier_warps(tile_prefix, aggregates, warp);
    };
    bool fast = is_fast(p, at);
    if constexpr (WRITE) {
      Outputs out = outputs_of(p, at);
      if (fast)
        segment_scan<true>(view, out, warp, lane, seed);
      else
        segment_scan<false>(view, out, warp, lane, seed);
    } else {
      seed(fast ? segment_reduce<true>(view, warp, lane) : segment_reduce<false>(view, warp, lane));
    }
    __syncthreads();
  }
}
