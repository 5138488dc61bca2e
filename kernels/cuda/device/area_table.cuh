// Summed-area tables: each element becomes the sum of all up to it along rows and columns, in one pass.
//
// A block owns a strip of columns of an image and walks down it, tile by tile of WARPS times ROWS rows. What comes from
// above it keeps in registers. What comes from the left are sums of rows, one a strip: the block publishes its own, and
// adds up those before it. These are in groups of GROUP strips: the last of a group publishes the sum from the first
// column on, the others that of their columns. Strips are taken by ticket from left to right, so whoever is waited for is
// running; the order of additions depends on the shape alone.
// Look-back after Merrill and Garland, NVR-2016-002.
#pragma once

constexpr int STRIP = 32 * VECTOR, TILE = WARPS * ROWS;
constexpr int AT_ONCE = 32 / GROUP, READS = ROWS / AT_ONCE;  // rows that a warp looks back for with one read; reads
static_assert(ROWS % AT_ONCE == 0, "a warp looks back for all of its rows");

__device__ __forceinline__ State lanes_before(const State& inclusive, int lane) {
  const State found = from_earlier(inclusive, 1);
  return choose(lane > 0, found, identity());
}

// All lanes of a group get the sum of its lanes.
__device__ __forceinline__ State group_sum(State s) {
#pragma unroll
  for (int distance = 1; distance < GROUP; distance *= 2) s = combine(s, from_partner(s, distance));
  return s;
}

// Each group of lanes gets the sums of so many of its rows, AT_ONCE apart and `own` the first, up to row `rows`: a lane
// waits for one descriptor of each row, and the next row's is `stride` words on.
__device__ __forceinline__ void look_back(State (&sums)[READS], const u64* from, i64 stride, i64 rows, int own) {
  Descriptor descriptors[READS];
  bool there[READS], all = true;
#pragma unroll
  for (int i = 0; i < READS; i++) {
    there[i] = own + i * AT_ONCE >= rows;
    if (!there[i]) descriptors[i].read(from + (own + i * AT_ONCE) * stride);
  }
#pragma unroll
  for (int i = 0; i < READS; i++) {
    sums[i] = identity();
    if (!there[i]) there[i] = descriptors[i].says(sums[i]);
    all &= there[i];
  }
  while (!__all_sync(ALL, all)) {
    all = true;
#pragma unroll
    for (int i = 0; i < READS; i++) {
      if (!there[i]) there[i] = peek(from + (own + i * AT_ONCE) * stride, sums[i]);
      all &= there[i];
    }
  }
#pragma unroll
  for (int i = 0; i < READS; i++) sums[i] = group_sum(sums[i]);
}

template <class Number>
struct Line {  // of VECTOR neighbours, where the first `there` are within the image
  Number number[VECTOR];

  __device__ __forceinline__ void read(const Number* from, i64 there, bool at_once) {
    if (at_once && there >= VECTOR) {
      read_vector<VECTOR>(reinterpret_cast<const u8*>(from), number);
      return;
    }
#pragma unroll
    for (int k = 0; k < VECTOR; k++) number[k] = k < there ? from[k] : Number{};
  }
  __device__ __forceinline__ void write(Number* to, i64 there, bool at_once) const {
    if (at_once && there >= VECTOR) {
      write_vector<VECTOR>(reinterpret_cast<u8*>(to), number);
      return;
    }
#pragma unroll
    for (int k = 0; k < VECTOR; k++)
      if (k < there) to[k] = number[k];
  }
};

// Whether rows of so many numbers from an address on can be moved by vectors.
template <class Number>
__device__ __forceinline__ bool in_vectors(const void* first, i64 columns) {
  constexpr u32 bytes = PIECE<VECTOR, Number>;
  return aligned(first, bytes) && columns * i64(sizeof(Number)) % bytes == 0;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  __shared__ Sum sums[2][WARPS][VECTOR][32];  // of the columns of each warp's rows, for two tiles in turn
  __shared__ i64 taken;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const i64 images = p.lines / p.rows;
  const bool read_at_once = in_vectors<In>(p.values, p.columns), write_at_once = in_vectors<Out>(p.out, p.columns);
  for (bool first = true;; first = false) {
    __syncthreads();
    if (threadIdx.x == 0) taken = take_ticket(p, first);
    __syncthreads();
    if (taken >= images * p.tiles) return;
    const i64 image = taken / p.tiles, strip = taken % p.tiles;
    const i64 column = strip * STRIP + lane * VECTOR, there = p.columns - column;
    const i64 row_0 = image * p.rows, earliest = strip / GROUP * GROUP - 1;
    const i64 asked = earliest + (lane & (GROUP - 1));  // the strip whose sum this lane looks for
    const bool is_asked = asked >= 0 && asked < strip, closes = strip % GROUP == GROUP - 1;
    Sum above[VECTOR] = {};
    Line<In> ahead[ROWS];
    auto read_tile = [&](i64 begin) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const i64 row = begin + warp * ROWS + r;
        ahead[r].read(p.values + (row_0 + row) * p.columns + column, row < p.rows ? there : 0, read_at_once);
      }
    };
    read_tile(0);
    int turn = 0;
    for (i64 begin = 0; begin < p.rows; begin += TILE, turn ^= 1) {
      const i64 row = begin + warp * ROWS;
      u64* descriptors = p.scratch + 2 + (row_0 + row) * p.tiles * DESCRIPTOR;  // one a strip and row
      Sum found[ROWS][VECTOR];
      State inclusive[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        found[r][0] = Sum(ahead[r].number[0]);
#pragma unroll
        for (int k = 1; k < VECTOR; k++) found[r][k] = found[r][k - 1] + Sum(ahead[r].number[k]);
        inclusive[r] = warp_scan(State{found[r][VECTOR - 1]}, lane);
        if (lane == 31 && !closes && row + r < p.rows)
          publish(descriptors + (r * p.tiles + strip) * DESCRIPTOR, inclusive[r]);
      }
      if (begin + TILE < p.rows) read_tile(begin + TILE);
State earlier[READS];
      look_back(
          earlier, descriptors + asked * DESCRIPTOR, p.tiles * DESCRIPTOR,
          is_asked ? min(p.rows - row, i64(ROWS)) : 0, lane / GROUP);
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const State left = from_lane(earlier[r / AT_ONCE], r % AT_ONCE * GROUP);
        if (lane == 31 && closes && row + r < p.rows)
          publish(descriptors + (r * p.tiles + strip) * DESCRIPTOR, combine(left, inclusive[r]));
        const State offset = combine(left, lanes_before(inclusive[r], lane));
#pragma unroll
        for (int k = 0; k < VECTOR; k++) found[r][k] = offset.sum + found[r][k];
      }
#pragma unroll
      for (int k = 0; k < VECTOR; k++) {
#pragma unroll
        for (int r = 1; r < ROWS; r++) found[r][k] = found[r - 1][k] + found[r][k];
        sums[turn][warp][k][lane] = found[ROWS - 1][k];
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < VECTOR; k++) {
        Sum before = above[k];
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
          if (w == warp) before = above[k];
          above[k] = above[k] + sums[turn][w][k][lane];
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) found[r][k] = before + found[r][k];
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        Line<Out> line;
#pragma unroll
        for (int k = 0; k < VECTOR; k++) line.number[k] = Out(found[r][k]);
        if (row + r < p.rows) line.write(p.out + (row_0 + row + r) * p.columns + column, there, write_at_once);
      }
    }
  }
}
