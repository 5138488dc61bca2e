// The reduction and the scan of a tile: the visitor of scan and reduce.
//
// A tile is cut into a segment for each warp, and a segment into rows; in a row each lane has VN neighbouring items.
// Tiles are read twice, from shared memory or from a cache: first to reduce them, and again to scan them once the
// prefix is known. So a thread holds only a few rows, and tiles may be large. The schedules decide how tiles are handed
// out, and where prefixes come from.
#pragma once

#include "byte_sums.cuh"
#include "raked_lanes.cuh"

// All lanes get the combination of a warp's items.
template <bool WHOLE>
__device__ __forceinline__ State rows_of_states_reduce(const View& view, int warp, int lane) {
  State rows[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    StateItems<WHOLE> items;
    items.read(view, warp * SEGMENT + r * ROW + lane * VN);
    rows[r] = items.reduce();
    // otherwise the compiler reads all rows first, and their masks take too many registers
    if ((NULLS == BITS || NULLS == BYTES) && r % GROUP == GROUP - 1) __syncwarp();
  }
  return rows_reduce<ROWS>(rows, lane);
}
template <class S = State>
__device__ __forceinline__ S segment_reduce(const View& view, int warp, int lane) {
  S sum;
  if constexpr (DIGITS) return warp_reduce(lane_digits(view, warp, lane, sum) ? sum : lane_reduce(view, warp, lane), lane);
  if constexpr (RAKES) return from_lane(rake(view, warp, lane), 31);
  if constexpr (ADDS_BYTES)
    if (view.count == TILE && view.vectors) return bytes_reduce<S>(view, warp, lane);
  return view.count == TILE ? rows_of_states_reduce<true>(view, warp, lane) : rows_of_states_reduce<false>(view, warp, lane);
}

// Scans a warp's items. `before()` returns the state before the first of them, and is called once, as late as possible.
// `out` may be the memory of the items: a lane writes only where it has read.
template <class Items, class Before>
__device__ __forceinline__ void rows_scan(const View& view, const Outputs& out, int warp, int lane, Before before) {
  constexpr int AT_ONCE = Items::AT_ONCE;
  State run;
#pragma unroll 1
  for (int begin = 0; begin < ROWS; begin += AT_ONCE) {
    int i = warp * SEGMENT + begin * ROW + lane * VN;
    Items items[AT_ONCE];
    State row[AT_ONCE];
#pragma unroll
    for (int r = 0; r < AT_ONCE; r++) {
      items[r].read(view, i + r * ROW);
      row[r] = warp_scan(items[r].scan(), lane);
    }
    if (begin == 0) run = before();
#pragma unroll
    for (int r = 0; r < AT_ONCE; r++) {
      State earlier = from_earlier(row[r], 1), first = choose(lane == 0, run, combine(run, earlier));
      run = combine(run, from_lane(row[r], 31));
      items[r].write(view, out, i + r * ROW, first);
    }
  }
}
template <class Before, class S = State>
__device__ __forceinline__ void segment_scan(const View& view, const Outputs& out, int warp, int lane, Before before,
                                             const u32* lanes = nullptr) {
  if constexpr (RAKES) {
    raked_scan(view, out, warp, lane, before, lanes);
  } else {
    if constexpr (ADDS_BYTES)
      if (view.count == TILE && view.vectors && out.vectors) return rows_scan<ByteItems<S>>(view, out, warp, lane, before);
    if (view.count == TILE)
      rows_scan<StateItems<true>>(view, out, warp, lane, before);
    else
      rows_scan<StateItems<false>>(view, out, warp, lane, before);
  }
}

// All lanes of a warp get the combination of all warps' aggregates, in order.
__device__ __forceinline__ State reduce_warps(const State (&aggregates)[WARPS], int lane) {
  if constexpr (FIRST_DIGIT<State> >= 0) return warp_reduce(lane < WARPS ? aggregates[lane] : identity(), lane);
  State s = aggregates[lane % WARPS];
#pragma unroll
  for (int distance = 1; distance < WARPS; distance *= 2) s = pair_up(s, distance, lane);
  return s;
}

// The prefix of a warp's segment: that of its tile, combined with the aggregates of the earlier warps.
__device__ __forceinline__ State earlier_warps(State prefix, const State (&aggregates)[WARPS], int warp, int lane) {
  if constexpr (FIRST_DIGIT<State> >= 0)
    return warp_reduce(lane == WARPS ? prefix : lane < warp ? aggregates[lane] : identity(), lane);
  State sum = aggregates[0];
#pragma unroll (RAKES ? 1 : WARPS)
  for (int w = 1; w < (RAKES ? warp : WARPS); w++)
    if (w < warp) sum = combine(sum, aggregates[w]);
  return warp ? combine(prefix, sum) : prefix;
}
