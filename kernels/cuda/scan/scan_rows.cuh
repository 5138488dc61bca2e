// Many short lines of neighbouring items: a warp walks a line from end to end, or has several lines side by side.
//
// A lane has VN neighbouring items of one line, and the last lane of a line perhaps fewer, so states are shuffled only
// among the lanes of a line. Lines are independent: warps pass nothing on, and a line is combined in the same order
// wherever it is.
#pragma once

constexpr int STEP = STATE_WORDS > 2 ? 2 : 4;  // times a lane's items that are in flight at once

// Whether lanes may read or write all their items in one access.
template <class Pointers, template <int> class Field, int COUNT>
__device__ __forceinline__ bool takes_vectors(const Pointers& at, i64 length) {
  bool all = length % VN == 0;
  unroll<COUNT>([&](auto k) { all = all && aligned(at[k.value], PIECE<VN, typename Field<k.value>::type>); });
  return all;
}

// A lane's items from `along` on in a line: their states, and bits of those that are missing. Items beyond the end have
// neither.
struct Lane {
  i64 low;  // the item that is first in memory
  int count;
  State x[VN];
  u32 missing;
};
__device__ __forceinline__ i64 item_of(const Params& p, const Lane& lane, int j) {
  return REVERSE ? lane.low + lane.count - 1 - j : lane.low + j;
}
__device__ __forceinline__ void read_lane(const Params& p, bool vectors, i64 line, int along, Lane& lane) {
  const int length = int(p.length);
  lane.count = line < p.lines ? max(0, min(VN, length - along)) : 0;
  lane.low = line * length + (REVERSE ? length - along - lane.count : along);
  Element e[VN];
  if (vectors && lane.count) {
    unroll<INPUTS>([&](auto k) {
      using T = typename In<k.value>::type;
      T values[VN];
      read_vector<VN>(p.in[k.value] + lane.low * sizeof(T), values);
#pragma unroll
      for (int j = 0; j < VN; j++) In<k.value>::of(e[j]) = values[REVERSE ? VN - 1 - j : j];
    });
  } else {
#pragma unroll
    for (int j = 0; j < VN; j++)
      if (j < lane.count) e[j] = read_element(p.in, item_of(p, lane, j));
  }
  lane.missing = 0;
#pragma unroll
  for (int j = 0; j < VN; j++) {
    lane.x[j] = identity();
    if (j >= lane.count) continue;
    bool gone = false;
    if constexpr (NULLS == IN_BAND) gone = is_missing(e[j]);
    if constexpr (NULLS == BITS || NULLS == BYTES) gone = is_masked(p.mask, p.mask_offset + item_of(p, lane, j), int(p.null));
    if (!gone) lane.x[j] = lift(e[j]);
    lane.missing |= u32(gone) << j;
  }
}

// Scans the items of a line that `width` lanes have, from state `run` on, writes them, and returns the state after
// them.
__device__ __forceinline__ State scan_lanes(const Params& p, bool vectors, Lane& lane, State run, int place, int width) {
#pragma unroll
  for (int j = 1; j < VN; j++) lane.x[j] = combine(lane.x[j - 1], lane.x[j]);
  State sum = lane.x[VN - 1];
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    if (distance >= width) break;
    State earlier = from_earlier(sum, distance);
    if (place >= distance) sum = combine(earlier, sum);
  }
  if constexpr (WRITE) {
    State earlier = from_earlier(sum, 1);
    State before = choose(place == 0, run, combine(run, earlier)), first = before;
    Output y[VN];
#pragma unroll
    for (int j = 0; j < VN; j++) {
      State after = combine(first, lane.x[j]);
      y[j] = finalize(before, after, (lane.missing >> j) & 1);
      before = after;
    }
    if (vectors && lane.count) {
      unroll<OUTPUTS>([&](auto k) {
        using T = typename Out<k.value>::type;
        T values[VN];
#pragma unroll
        for (int j = 0; j < VN; j++) values[REVERSE ? VN - 1 - j : j] = Out<k.value>::of(y[j]);
        write_vector<VN>(p.out[k.value] + lane.low * sizeof(T), values);
      });
    } else {
#pragma unroll
      for (int j = 0; j < VN; j++)
        if (j < lane.count) write_output(p.out, item_of(p, lane, j), y[j]);
    }
  }
  return combine(run, from_lane(sum, int(threadIdx.x % 32) - place + width - 1));
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  const int lane = threadIdx.x % 32, length = int(p.length), lanes = (length + VN - 1) / VN;
  const i64 warp = i64(blockIdx.x) * WARPS + threadIdx.x / 32, warps = i64(gridDim.x) * WARPS;
  const bool reads = takes_vectors<decltype(p.in), In, INPUTS>(p.in, length);
  const bool writes = WRITE && takes_vectors<decltype(p.out), Out, OUTPUTS>(p.out, length);
  Lane items[STEP];
  if (lanes <= 32) {
    const int side = 32 / lanes, own = lane / lanes, place = lane % lanes;
    for (i64 first = warp * side * STEP; first < p.lines; first += warps * side * STEP) {
      auto line_of = [&](int r) { return own < side ? first + r * side + own : p.lines; };
#pragma unroll
      for (int r = 0; r < STEP; r++) read_lane(p, reads, line_of(r), place * VN, items[r]);
#pragma unroll
      for (int r = 0; r < STEP; r++) {
        const i64 line = line_of(r);
        State run = carry_into(p, line < p.lines ? line : first);
        run = scan_lanes(p, writes, items[r], run, place, lanes);
        if (place == 0 && line < p.lines) p.carry_out[line] = run;
      }
    }
    return;
  }
  for (i64 line = warp; line < p.lines; line += warps) {
    State run = carry_into(p, line);
    for (int begin = 0; begin < length; begin += STEP * 32 * VN) {
#pragma unroll
      for (int r = 0; r < STEP; r++) read_lane(p, reads, line, begin + (r * 32 + lane) * VN, items[r]);
#pragma unroll
      for (int r = 0; r < STEP; r++)
        if (begin + r * 32 * VN < length) run = scan_lanes(p, writes, items[r], run, lane, 32);
    }
    if (lane == 0) p.carry_out[line] = run;
  }
}
