// Many short lines of neighbouring items: a warp walks a line from end to end.
//
// Lines are independent, so nothing is handed on between warps.
#pragma once

constexpr int STEP = STATE_WORDS > 2 ? 2 : 4;  // times 32 items that are in flight at once

extern "C" __global__ void __launch_bounds__(WARPS * 32) scan_tiles(const __grid_constant__ Params p) {
  int lane = threadIdx.x % 32;
  i64 warps = i64(gridDim.x) * WARPS;
  for (i64 line = i64(blockIdx.x) * WARPS + threadIdx.x / 32; line < p.lines; line += warps) {
    State run = carry_into(p, line);
    for (i64 begin = 0; begin < p.length; begin += STEP * 32) {
      State x[STEP];
      u32 missing = 0;
      auto item = [&](int r) {
        i64 along = begin + r * 32 + lane;
        return line * p.length + (REVERSE ? p.length - 1 - along : along);
      };
#pragma unroll
      for (int r = 0; r < STEP; r++) {
        x[r] = identity();
        if (begin + r * 32 + lane < p.length) {
          i64 at = item(r);
          Element e = read_element(p.in, at);
          bool gone = false;
          if constexpr (NULLS == IN_BAND) gone = is_missing(e);
          if constexpr (NULLS == BITS || NULLS == BYTES) gone = masked(p.mask, p.mask_offset + at, int(p.null));
          if (!gone) x[r] = lift(e);
          missing |= u32(gone) << r;
        }
      }
#pragma unroll
      for (int r = 0; r < STEP; r++) {
        if (begin + r * 32 >= p.length) break;
        State sum = warp_scan(x[r], lane);
        if constexpr (WRITE) {
          State earlier = from_earlier(sum, 1);
          State before = lane ? combine(run, earlier) : run, after = combine(run, sum);
          if (begin + r * 32 + lane < p.length) write_output(p.out, item(r), answer(before, after, (missing >> r) & 1));
        }
        run = combine(run, from_lane(sum, 31));
      }
    }
    if (lane == 0) p.carry_out[line] = run;
  }
}
