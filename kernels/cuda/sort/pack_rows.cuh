// Puts the rows of several columns side by side, or takes such rows by position and puts them back into columns. Device
// memory is read in pieces of 64 bytes, so a row of one column costs as much as a row of several columns.
#pragma once

struct Params {
  u8* columns[COLUMNS];
  u8* packed;
  const Position* positions;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
};

template <int C>
using Value = typename Chunk<SIZES[C]>::type;
constexpr int PIECES = ROW_BYTES > 16 ? ROW_BYTES / 16 : 1;
using Piece = Chunk<ROW_BYTES / PIECES>::type;

struct alignas(ROW_BYTES) Row {
  Piece pieces[PIECES];
  template <int C>
  __device__ __forceinline__ Value<C>& of() {
    return *reinterpret_cast<Value<C>*>(reinterpret_cast<u8*>(pieces) + OFFSETS[C]);
  }
};

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  Row* packed = reinterpret_cast<Row*>(p.packed);
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 first = tile * TILE + threadIdx.x;
    Row rows[ITEMS] = {};
    if constexpr (!PACKS) {
      Position positions[ITEMS];
#pragma unroll
      for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < p.length) positions[i] = __ldcs(p.positions + first + i * THREADS);
#pragma unroll
      for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < p.length) rows[i] = packed[positions[i]];
    }
    unroll<COLUMNS>([&](auto c) {
      constexpr int C = decltype(c)::value;
      Value<C>* column = reinterpret_cast<Value<C>*>(p.columns[C]);
#pragma unroll
      for (int i = 0; i < ITEMS; i++) {
        const i64 at = first + i * THREADS;
        if (at >= p.length) continue;
        if constexpr (PACKS)
          rows[i].template of<C>() = column[at];
        else
          column[at] = rows[i].template of<C>();
      }
    });
    if constexpr (PACKS) {
#pragma unroll
      for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < p.length) packed[first + i * THREADS] = rows[i];
    }
  }
}
