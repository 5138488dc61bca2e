// Sums or means of windows along one axis: a thread reads WINDOWS neighbouring windows from memory, and sums them up.
#pragma once

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  const i64 chunks = (p.length + WINDOWS - 1) / WINDOWS;
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 item = tile * THREADS + threadIdx.x;
    if (item >= p.items) continue;
    const i64 side = item % p.inner, first = item / p.inner % chunks * WINDOWS;
    const i64 line = item / p.inner / chunks * p.length * p.inner + side;
    Sum sums[WINDOWS];
    window_sums<WINDOWS>(sums, 2 * p.radius + 1, [&](i64 at) {
      const i64 found = source_of(first + at - p.radius, p.length, p.edges, p.radius);
      return found < 0 ? Sum(p.outside) : Sum(p.values[line + found * p.inner]);
    });
#pragma unroll
    for (int k = 0; k < WINDOWS; k++)
      if (first + k < p.length) p.out[line + (first + k) * p.inner] = mean_of(sums[k], p.number);
  }
}
