// Puts rows at their positions, a permutation that is sorted by its leading bits: a tile of 2^k rows is put in order in
// shared memory, and written at once.
#pragma once

struct Params {
  const Key* rows;
  const Position* positions;
  Key* out;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
};

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  extern __shared__ __align__(128) u8 memory[];
  Key* placed = reinterpret_cast<Key*>(memory);
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 first = tile * TILE;
    const int rows = first + TILE <= p.length ? TILE : int(p.length - first);
    Position positions[ITEMS];
    Key keys[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      int at = i * THREADS + threadIdx.x;
      if (at < rows) positions[i] = __ldcs(p.positions + first + at), keys[i] = __ldcs(p.rows + first + at);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
      if (i * THREADS + int(threadIdx.x) < rows) placed[i64(positions[i]) - first] = keys[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      int at = i * THREADS + threadIdx.x;
      if (at < rows) p.out[first + at] = placed[at];
    }
    __syncthreads();
  }
}
