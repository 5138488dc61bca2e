// Stages: the shared memory that tiles are copied to.
//
// There are two kinds of tiles: items of lines, which are scanned (scan_tile.cuh), and columns of rows, some of them
// selected (columns_tile.cuh). The stages of both are cut into regions, one for each array; `region_bytes<K>()` in the
// file of a tile is the size of a region. Params, View and the loops of the warps that feed stages and look back are
// separate: the loops differ in when a ticket is taken, which was measured (tuning.py), and in whether a tile needs its
// stage until it is written.
#pragma once

constexpr int align_up(int n, int to) { return (n + to - 1) / to * to; }

// The items of a tile: `count` neighbours in memory from item `first` of a line on.
struct Place {
  i64 tile;   // of the line; < 0: no more tiles
  i64 first;  // the item that is first in memory, in the line
  int count;
};
__device__ __forceinline__ Place place_in_line(i64 length, i64 tile) {
  Place at;
  at.tile = tile;
  i64 before = tile * TILE, left = length - before;
  at.count = left < TILE ? int(left) : TILE;
  at.first = REVERSE ? left - at.count : before;
  return at;
}

// The bytes of a tile in one array. Their copy in a region has the same address as in global memory, modulo 16, so that
// words of 16 bytes can be copied: those within the bytes, or those that cover them, with up to 15 more bytes at each
// end.
struct Source {
  const u8* from;
  int bytes;
  __device__ __forceinline__ int shift() const { return int(reinterpret_cast<u64>(from) & 15); }
  __device__ __forceinline__ int head() const { return min(bytes, (16 - shift()) & 15); }
  __device__ __forceinline__ int body() const { return (bytes - head()) & ~15; }
  __device__ __forceinline__ void cover(int size) {
    int before = shift();
    from -= before, bytes = align_up(before + size, 16);
  }
};

template <int K>
__device__ constexpr int region_bytes();
// Where region K begins in a stage.
template <int K>
__device__ constexpr int region_offset() {
  if constexpr (K == 0)
    return 0;
  else
    return region_offset<K - 1>() + align_up(region_bytes<K - 1>(), 128);
}

// The place, of N, that a tile of this block has, and the phase of its barriers.
template <int N>
struct Turn {
  int place = 0;
  u32 phase = 0;
  __device__ __forceinline__ explicit Turn(int skip = 0) { next(skip); }
  __device__ __forceinline__ void next(int turns = 1) {
    place += turns;
    if (place >= N) place -= N, phase ^= 1;
  }
  __device__ __forceinline__ Turn before() const {
    Turn turn = *this;
    if (--turn.place < 0) turn.place = N - 1, turn.phase ^= 1;
    return turn;
  }
};

#if __CUDA_ARCH__ >= 900
#include "tma_copy.cuh"

// One lane arrives at a barrier for its warp. racecheck does not recognize that the other lanes' accesses come before
// that, so all lanes arrive in kernels that are built for it (tests/cuda/README.md).
constexpr int ARRIVING = EVERY_LANE ? 32 : 1;
__device__ __forceinline__ void warp_arrives(Barrier& barrier, int lane) {
  __syncwarp();
  if (lane < ARRIVING) barrier.arrive();
}
#endif
