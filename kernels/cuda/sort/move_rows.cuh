// Rows of a column by position: taken from positions, or put there.
#pragma once

struct Params {
  const Key* column;
  const Position* positions;
  Key* out;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
};

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    i64 first = tile * TILE + threadIdx.x;
    Position positions[ITEMS];
    Key rows[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      if (first + i * THREADS < p.length) positions[i] = __ldcs(p.positions + first + i * THREADS);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      if (first + i * THREADS < p.length) rows[i] = PUTS ? p.column[first + i * THREADS] : p.column[positions[i]];
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      if (first + i * THREADS < p.length) p.out[PUTS ? positions[i] : first + i * THREADS] = rows[i];
  }
}
