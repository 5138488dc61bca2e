// Lines that lie side by side (an axis that is not the last): 32 lines a block, chunks of lines handed on down the line.
//
// Chunks are taken by ticket, all lines' first chunks first, so a chunk's predecessor is long done when it is needed. The
// prefix of a chunk is its predecessor's prefix and aggregate, hence the same bits on every run.
#pragma once

constexpr int CHUNK = WARPS * DEPTH;

extern "C" __global__ void __launch_bounds__(WARPS * 32, RESIDENT) scan_tiles(const __grid_constant__ Params p) {
  __shared__ i64 next;
  __shared__ State sums[WARPS][32];
  __shared__ State seeds[WARPS][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  i64 panels = (p.inner + 31) / 32, side = p.lines / p.inner * panels;
  if (threadIdx.x == 0) next = take_ticket(p, true);
  __syncthreads();
  while (next < side * p.tiles) {
    i64 chunk = next / side, panel = next % side, group = panel / panels, column = panel % panels * 32 + lane;
    i64 line = group * p.inner + column, begin = chunk * CHUNK + warp * DEPTH;
    bool mine = column < p.inner;
    auto item = [&](int i) {
      i64 along = REVERSE ? p.length - 1 - (begin + i) : begin + i;
      return (group * p.length + along) * p.inner + column;
    };
    State x[DEPTH], sum = identity();
    u32 missing = 0;
#pragma unroll
    for (int i = 0; i < DEPTH; i++) {
      x[i] = identity();
      if (mine && begin + i < p.length) {
        i64 at = item(i);
        Element e = read_element(p.in, at);
        bool gone = false;
        if constexpr (NULLS == IN_BAND) gone = is_missing(e);
        if constexpr (NULLS == BITS || NULLS == BYTES) gone = masked(p.mask, p.mask_offset + at, int(p.null));
        if (!gone) x[i] = lift(e);
        missing |= u32(gone) << i;
      }
    }
#pragma unroll
    for (int i = 0; i < DEPTH; i++) sum = combine(sum, x[i]);
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
      State total = sum;
#pragma unroll
      for (int w = 1; w < WARPS; w++) total = combine(total, sums[w][lane]);
      u64* chain = p.scratch + 2 + (chunk * p.lines + line) * DESCRIPTOR;
      Awaited predecessor(chain - p.lines * DESCRIPTOR, mine && chunk > 0);
      State prefix = predecessor.wait();
      if (chunk == 0 && mine) prefix = carry_into(p, line);
      total = combine(prefix, total);
      if (mine) {
        if (chunk < p.tiles - 1)
          publish(chain, total);
        else
          p.carry_out[line] = total;
      }
#pragma unroll
      for (int w = 0; w < WARPS; w++) {
        seeds[w][lane] = prefix;
        prefix = combine(prefix, sums[w][lane]);
      }
    }
    if (threadIdx.x == 0) next = take_ticket(p, false);  // the answer travels while this chunk is written
    __syncthreads();
    if constexpr (WRITE) {
      State before = seeds[warp][lane];
#pragma unroll
      for (int i = 0; i < DEPTH; i++) {
        State after = combine(before, x[i]);
        if (mine && begin + i < p.length) write_output(p.out, item(i), answer(before, after, (missing >> i) & 1));
        before = after;
      }
    }
  }
}
