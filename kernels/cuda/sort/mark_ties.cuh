// Marks rows, sorted by their leading digits, that have the same leading digits as a neighbour: one byte for each row.
#pragma once

struct Params {
  const Key* keys;
  u8* tied;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
  i64 shift;
};

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  // a lane gets the keys of its neighbours; the first and the last lane of a warp read one more key
  const int lane = threadIdx.x % 32, beside = lane ? 1 : -1;
  const bool is_edge = lane == 0 || lane == 31;
  auto key_at = [&](i64 at) { return at >= 0 && at < p.length ? p.keys[at] : Key(0); };
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    i64 first = tile * TILE + threadIdx.x;
    Key here[ITEMS], edge[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      here[i] = key_at(first + i * THREADS);
      edge[i] = is_edge ? key_at(first + i * THREADS + beside) : Key(0);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      i64 at = first + i * THREADS;
      Key mine = Key(code_of(here[i]) >> p.shift), outer = is_edge ? Key(code_of(edge[i]) >> p.shift) : Key(0);
      Key before = __shfl_up_sync(0xffffffffu, mine, 1), after = __shfl_down_sync(0xffffffffu, mine, 1);
      if (lane == 0) before = outer;
      if (lane == 31) after = outer;
      if (at < p.length) p.tied[at] = (at > 0 && before == mine) | (at + 1 < p.length && after == mine);
    }
  }
}
