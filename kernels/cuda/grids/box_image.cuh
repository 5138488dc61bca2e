// Means of boxes of images in one pass: sums along rows, then sums of these along columns.
//
// A block has a strip of columns of a band of rows, and walks down it, ROWS rows at a time. It loads rows into shared
// memory, with the elements within reach on both sides, and writes the sums of their windows to a ring of rows, as long
// as a window is high. Sums of windows along the columns of the ring are the answers. A thread sums up WINDOWS_X
// neighbouring windows of a row, then WINDOWS_Y of a column. One place after each WINDOWS_X is unused, to avoid bank
// conflicts.
#pragma once

__device__ __forceinline__ int padded(int at) { return WINDOWS_X > 1 ? at + int(u32(at) / WINDOWS_X) : at; }

constexpr int CHUNKS = COLUMNS / WINDOWS_X;             // of WINDOWS_X columns
constexpr int LINE = COLUMNS + (WINDOWS_X > 1 ? CHUNKS : 0);  // places of a row of the ring
constexpr int LINE_BYTES = LINE * int(sizeof(Sum));
static_assert(COLUMNS % WINDOWS_X == 0 && ROWS % WINDOWS_X == 0 && ROWS % WINDOWS_Y == 0, "threads have whole windows");

// Copies one number, asynchronously if it is aligned to its size.
__device__ __forceinline__ void copy_number(In* to, const In* from) {
  if constexpr (sizeof(In) == alignof(In) && sizeof(In) <= 8)
    copy_async<int(sizeof(In))>(to, from);
  else
    *to = *from;
}

extern "C" __global__ void __launch_bounds__(COLUMNS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  extern __shared__ __align__(16) u8 memory[];
  const int thread = threadIdx.x, radius_x = int(p.radius_x), radius_y = int(p.radius_y);
  const int ring_rows = 2 * radius_y + ROWS, span = COLUMNS + 2 * radius_x, line = int(p.line);
  Sum* ring = reinterpret_cast<Sum*>(memory);
  In* rows = reinterpret_cast<In*>(ring + ring_rows * LINE);  // ROWS of them, `line` places apart
  const i64 bands = (p.rows + p.band - 1) / p.band, images = p.lines / p.rows;
  for (i64 work = blockIdx.x; work < images * bands * p.tiles; work += gridDim.x) {
    const i64 column_0 = work % p.tiles * COLUMNS, begin = work / p.tiles % bands * p.band;
    const i64 image = work / p.tiles / bands * p.rows;
    const int count = int(min(p.band, p.rows - begin));  // rows of the band
    auto read_rows = [&](int first) {  // counted from the first row that a window of the band reaches
      const i64 top = begin - radius_y + first;
      const bool inside = top >= 0 && top + ROWS <= p.rows;
      for (int at = thread; at < span; at += COLUMNS) {
        const i64 x = source_of(column_0 - radius_x + at, p.columns, p.edges_x, radius_x);
        In* to = rows + padded(at);
        if (inside && x >= 0) {
          const In* from = p.values + (image + top) * p.columns + x;
#pragma unroll
          for (int r = 0; r < ROWS; r++, to += line, from += p.columns) copy_number(to, from);
          continue;
        }
#pragma unroll 1
        for (int r = 0; r < ROWS; r++, to += line) {
          const i64 y = source_of(top + r, p.rows, p.edges_y, radius_y);
          if (x < 0 || y < 0)
            *to = In(p.outside);
          else
            copy_number(to, p.values + (image + y) * p.columns + x);
        }
      }
      commit_copies();
    };
    __syncthreads();
    read_rows(0);
    int newest = 0;  // the place in the ring of the first of the latest rows
    for (int first = 0; first < count + 2 * radius_y; first += ROWS) {
      wait_for_copies<0>();
      __syncthreads();
#pragma unroll 1
      for (int item = thread; item < ROWS * CHUNKS; item += COLUMNS) {
        const int row = item / CHUNKS, chunk = item % CHUNKS;
        const In* from = rows + row * line + padded(chunk * WINDOWS_X);
        const int slot = newest + row < ring_rows ? newest + row : newest + row - ring_rows;
        Sum* to = ring + slot * LINE + padded(chunk * WINDOWS_X);
        Sum sums[WINDOWS_X];
        window_sums<WINDOWS_X>(sums, 2 * radius_x + 1, [&](int at) { return Sum(from[padded(at)]); });
#pragma unroll
        for (int k = 0; k < WINDOWS_X; k++) to[k] = sums[k];
      }
      __syncthreads();
      if (first + ROWS < count + 2 * radius_y) read_rows(first + ROWS);
      newest = newest + ROWS < ring_rows ? newest + ROWS : newest + ROWS - ring_rows;
      const int answer = first - 2 * radius_y;  // the first row of its window is at `newest` in the ring
      if (answer + ROWS > 0 && column_0 + thread < p.columns) {
        const u8* column = memory + padded(thread) * sizeof(Sum);
        const int ring_bytes = ring_rows * LINE_BYTES;
        Out* to = p.out + (image + begin + answer) * p.columns + column_0 + thread;
#pragma unroll 1
        for (int group = 0; group < ROWS; group += WINDOWS_Y) {
          const int from = (newest + group) * LINE_BYTES;
          Sum sums[WINDOWS_Y];
          window_sums<WINDOWS_Y>(sums, 2 * radius_y + 1, [&](int at) {
            const int place = from + at * LINE_BYTES;
            return *reinterpret_cast<const Sum*>(column + (place < ring_bytes ? place : place - ring_bytes));
          });
          const int row = answer + group;
          const bool all = row >= 0 && row + WINDOWS_Y <= count;
#pragma unroll
          for (int k = 0; k < WINDOWS_Y; k++, to += p.columns)
            if (all || (row + k >= 0 && row + k < count)) *to = mean_of(sums[k], p.number);
        }
      }
    }
  }
}
