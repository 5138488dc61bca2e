// Many short lines of neighbouring items: a warp walks a line from end to end, or several of the shortest at once.
//
// Lines are independent, so nothing is handed on between warps.
#pragma once

constexpr int STEP = STATE_WORDS > 2 ? 2 : 4;  // times 32 items that are in flight at once

__device__ __forceinline__ i64 item_of(const Params& p, i64 line, i64 along) {
  return line * p.length + (REVERSE ? p.length - 1 - along : along);
}
// Reads item `along` of a line, if there is one; tells whether it is missing.
__device__ __forceinline__ bool read_item(const Params& p, i64 line, i64 along, State& state) {
  state = identity();
  if (line >= p.lines || along >= p.length) return false;
  i64 at = item_of(p, line, along);
  Element e = read_element(p.in, at);
  bool gone = false;
  if constexpr (NULLS == IN_BAND) gone = is_missing(e);
  if constexpr (NULLS == BITS || NULLS == BYTES) gone = is_masked(p.mask, p.mask_offset + at, int(p.null));
  if (!gone) state = lift(e);
  return gone;
}
// Scans 32 items of a line from `run` on, writes them, and returns what comes after them.
__device__ __forceinline__ State scan_items(const Params& p, i64 line, i64 along, State run, State x, bool gone,
                                            int lane) {
  State sum = warp_scan(x, lane);
  if constexpr (WRITE) {
    State earlier = from_earlier(sum, 1);
    State before = choose(lane == 0, run, combine(run, earlier)), after = combine(run, sum);
    if (line < p.lines && along < p.length) write_output(p.out, item_of(p, line, along), finalize(before, after, gone));
  }
  return combine(run, from_lane(sum, 31));
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  int lane = threadIdx.x % 32;
  i64 warp = i64(blockIdx.x) * WARPS + threadIdx.x / 32, warps = i64(gridDim.x) * WARPS;
  State x[STEP];
  bool gone[STEP];
  if (p.length <= 32) {
    for (i64 line = warp * STEP; line < p.lines; line += warps * STEP) {
#pragma unroll
      for (int r = 0; r < STEP; r++) gone[r] = read_item(p, line + r, lane, x[r]);
#pragma unroll
      for (int r = 0; r < STEP; r++) {
        State run = carry_into(p, line + r < p.lines ? line + r : line);
        run = scan_items(p, line + r, lane, run, x[r], gone[r], lane);
        if (lane == 0 && line + r < p.lines) p.carry_out[line + r] = run;
      }
    }
    return;
  }
  for (i64 line = warp; line < p.lines; line += warps) {
    State run = carry_into(p, line);
    for (i64 begin = 0; begin < p.length; begin += STEP * 32) {
#pragma unroll
      for (int r = 0; r < STEP; r++) gone[r] = read_item(p, line, begin + r * 32 + lane, x[r]);
#pragma unroll
      for (int r = 0; r < STEP; r++)
        if (begin + r * 32 < p.length) run = scan_items(p, line, begin + r * 32 + lane, run, x[r], gone[r], lane);
    }
    if (lane == 0) p.carry_out[line] = run;
  }
}
