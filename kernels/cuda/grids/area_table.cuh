// Summed-area tables: each element becomes the sum of all up to it along rows and columns, in one pass.
//
// A block owns a strip of columns of an image and walks down it in tiles of WARPS times ROWS rows. It keeps the sums
// from above in registers. The sums of rows from the left come from earlier strips: each block publishes those of its
// strip, and adds up the ones before it. Strips are in groups of GROUP: the last strip of a group publishes the sum
// from the first column on, the others publish the sum of their own columns. Strips are taken by ticket from left to
// right, so a block waits only for blocks that are running; the order of additions depends on the shape alone.
//
// Three tiles are in progress: one is copied into shared memory, where each thread reads only its own part; the rows of
// the next are added up and published, which others see late; the last is in registers and is written. Shared memory
// holds two of them: each copy replaces what a thread has just moved to registers.
// Look-back after Merrill and Garland, NVR-2016-002.
#pragma once

constexpr int STRIP = 32 * VECTOR, TILE = WARPS * ROWS, THREADS = 32 * WARPS;
constexpr int AT_ONCE = 32 / GROUP, READS = ROWS / AT_ONCE;  // rows of one look-back read; reads
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

// The sums that a group of lanes requests: those of READS rows, AT_ONCE apart, from row `own` up to row `rows`. A lane
// waits for one descriptor of each row; that of the next row is `stride` words on.
struct LookingBack {
  const u64* from;
  i64 stride, rows;
  int own;
  Descriptor descriptors[READS];

  __device__ __forceinline__ bool asks(int i) const { return own + i * AT_ONCE < rows; }
  __device__ __forceinline__ const u64* place(int i) const { return from + (own + i * AT_ONCE) * stride; }
  __device__ __forceinline__ void ask() {
#pragma unroll
    for (int i = 0; i < READS; i++)
      if (asks(i)) descriptors[i].read(place(i));
  }
  __device__ __forceinline__ void wait(State (&sums)[READS]) {
    bool there[READS], all = true;
#pragma unroll
    for (int i = 0; i < READS; i++) {
      sums[i] = identity();
      there[i] = !asks(i) || descriptors[i].says(sums[i]);
      all &= there[i];
    }
    while (!__all_sync(ALL, all)) {
      all = true;
#pragma unroll
      for (int i = 0; i < READS; i++) {
        if (!there[i]) there[i] = peek(place(i), sums[i]);
        all &= there[i];
      }
    }
#pragma unroll
    for (int i = 0; i < READS; i++) sums[i] = group_sum(sums[i]);
  }
};

// Neighbouring numbers of a row; the first `there` of them are within the image.
template <class Number>
struct alignas(PIECE<VECTOR, Number>) Neighbours {
  Number number[VECTOR];

  __device__ __forceinline__ void fetch(const Number* from, i64 there, bool at_once) {
    constexpr int bytes = PIECE<VECTOR, Number>, pieces = VECTOR * int(sizeof(Number)) / bytes;
    if (at_once && there >= VECTOR) {
#pragma unroll
      for (int i = 0; i < pieces; i++)
        copy_async<bytes>(reinterpret_cast<u8*>(number) + i * bytes, reinterpret_cast<const u8*>(from) + i * bytes);
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

// Whether rows of this many numbers from an address on can be moved by vectors.
template <class Number>
__device__ __forceinline__ bool in_vectors(const void* first, i64 columns) {
  constexpr u32 bytes = PIECE<VECTOR, Number>;
  return aligned(first, bytes) && columns * i64(sizeof(Number)) % bytes == 0;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  extern __shared__ __align__(16) u8 memory[];
  using Stage = Neighbours<In>[ROWS][THREADS];
  using Sums = Sum[WARPS][VECTOR][32];                     // of the columns of each warp's rows
  Sums* sums = reinterpret_cast<Sums*>(memory);            // for two tiles, in turn
  Stage* stages = reinterpret_cast<Stage*>(memory + 2 * sizeof(Sums));
  __shared__ i64 taken;
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const i64 images = p.lines / p.rows;
  const bool read_at_once = in_vectors<In>(p.values, p.columns), write_at_once = in_vectors<Out>(p.out, p.columns);
  for (bool first = true;; first = false) {
    __syncthreads();
    if (thread == 0) taken = take_ticket(p, first);
    __syncthreads();
    if (taken >= images * p.tiles) return;
    const i64 image = taken / p.tiles, strip = taken % p.tiles;
    const i64 column = strip * STRIP + lane * VECTOR, there = p.columns - column;
    const i64 row_0 = image * p.rows, earliest = strip / GROUP * GROUP - 1;
    const i64 asked = earliest + (lane & (GROUP - 1));  // the strip that this lane needs the sum of
    const bool is_asked = asked >= 0 && asked < strip, closes = strip % GROUP == GROUP - 1;
    const i64 stride = p.tiles * DESCRIPTOR;
    u64* descriptors = p.scratch + 2 + row_0 * stride;  // one for each row and strip
    Sum above[VECTOR] = {};
    State inclusive[ROWS], next[ROWS];

    auto fetch = [&](i64 begin, int stage) {
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const i64 row = begin + warp * ROWS + r;
        const In* from = p.values + (row_0 + row) * p.columns + column;
        stages[stage][r][thread].fetch(from, row < p.rows ? there : 0, read_at_once);
      }
      commit_copies();
    };
    auto add_up = [&](i64 begin, int stage) {
      const i64 row = begin + warp * ROWS;
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const Neighbours<In> read = stages[stage][r][thread];
        Sum sum = Sum(read.number[0]);
#pragma unroll
        for (int k = 1; k < VECTOR; k++) sum = sum + Sum(read.number[k]);
        next[r] = warp_scan(State{sum}, lane);
      }
      if (lane == 31 && !closes) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
          if (row + r < p.rows) publish(descriptors + (row + r) * stride + strip * DESCRIPTOR, next[r]);
      }
    };

    fetch(0, 0);
    fetch(TILE, 1);
    wait_for_copies<1>();
    add_up(0, 0);
    int turn = 0;  // the stage and the sums of this tile
    for (i64 begin = 0; begin < p.rows; begin += TILE, turn ^= 1) {
      const i64 row = begin + warp * ROWS;
      Neighbours<In> read[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) read[r] = stages[turn][r][thread];
      LookingBack back{descriptors + row * stride + asked * DESCRIPTOR, stride, is_asked ? p.rows - row : 0, lane / GROUP};
      back.ask();
      fetch(begin + 2 * TILE, turn);
#pragma unroll
      for (int r = 0; r < ROWS; r++) inclusive[r] = next[r];
      wait_for_copies<1>();
      if (begin + TILE < p.rows) add_up(begin + TILE, turn ^ 1);

      State earlier[READS];
      back.wait(earlier);
      Sum down[VECTOR] = {};
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const State left = from_lane(earlier[r / AT_ONCE], r % AT_ONCE * GROUP);
        if (lane == 31 && closes && row + r < p.rows)
          publish(descriptors + (row + r) * stride + strip * DESCRIPTOR, combine(left, inclusive[r]));
        inclusive[r] = combine(left, lanes_before(inclusive[r], lane));  // exclusive of its own lane from here on
        Sum along = inclusive[r].sum;
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
          along = along + Sum(read[r].number[k]);
          down[k] = down[k] + along;
        }
      }
#pragma unroll
      for (int k = 0; k < VECTOR; k++) sums[turn][warp][k][lane] = down[k];
      __syncthreads();
#pragma unroll
      for (int k = 0; k < VECTOR; k++) {
        down[k] = above[k];
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
          if (w == warp) down[k] = above[k];
          above[k] = above[k] + sums[turn][w][k][lane];
        }
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        Neighbours<Out> line;
        Sum along = inclusive[r].sum;
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
          along = along + Sum(read[r].number[k]);
          down[k] = down[k] + along;
          line.number[k] = Out(down[k]);
        }
        if (row + r < p.rows) line.write(p.out + (row_0 + row + r) * p.columns + column, there, write_at_once);
      }
    }
    wait_for_copies<0>();
  }
}
