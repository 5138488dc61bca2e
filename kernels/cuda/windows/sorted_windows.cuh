// Order statistics of short windows: the values of a window are kept sorted in registers. From row to row, one value
// leaves and one enters, without branches. Follows order_answers.cuh and window_rows.cuh.
//
// A group of LANES threads answers ITEMS neighbouring windows; each thread has SLOTS neighbouring values of the sorted
// window. Missing values are infinite, so they come last. All lanes of a group call the methods of `Window` together.

#define ALL 0xffffffffu

__device__ constexpr int log2_of(int number) { return number > 1 ? 1 + log2_of(number / 2) : 0; }
constexpr int CAPACITY = LANES * SLOTS, TILE = THREADS / LANES * ITEMS, SEEN = TILE + CAPACITY;

__device__ int lane() { return threadIdx.x % LANES; }

// The lanes of this group, in their warp.
__device__ unsigned group() { return (LANES == 32 ? ALL : (1u << LANES % 32) - 1) << (threadIdx.x % 32 - lane()); }

// Gets the value at a place that is not a constant: registers have no addresses.
template <int COUNT> struct Pick {
  static __device__ double of(const double (&values)[COUNT], unsigned place) {
    double half[COUNT / 2];
#pragma unroll
    for (int i = 0; i < COUNT / 2; ++i) half[i] = place & 1 ? values[2 * i + 1] : values[2 * i];
    return Pick<COUNT / 2>::of(half, place >> 1);
  }
};

template <> struct Pick<1> {
  static __device__ double of(const double (&values)[1], unsigned) { return values[0]; }
};

struct Window {
  double values[SLOTS];

  // Reads rows from shared memory, in any order; at most CAPACITY.
  __device__ void load(const double* rows, int count) {
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) values[i] = lane() * SLOTS + i < count ? rows[lane() * SLOTS + i] : INFINITE;
  }

  // Sorts the values: Batcher's bitonic sort.
  __device__ void sort() {
#pragma unroll
    for (int up = 1; up <= log2_of(CAPACITY); ++up) {
#pragma unroll
      for (int down = up - 1; down >= 0; --down) exchange(1 << up, 1 << down);
    }
  }

  // Puts pairs of values at the distance `step` in order, ascending and descending in alternate blocks of `block`.
  __device__ void exchange(int block, int step) {
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      const int place = lane() * SLOTS + i;
      const bool rises = !(place & block);
      if (step >= SLOTS) {
        const double other = __shfl_xor_sync(ALL, values[i], step / SLOTS);
        values[i] = (other < values[i]) == (rises == !(place & step)) ? other : values[i];
      } else if (!(i & step)) {
        const double low = values[i], high = values[i | step];
        const bool swaps = (high < low) == rises;
        values[i] = swaps ? high : low;
        values[i | step] = swaps ? low : high;
      }
    }
  }

  // Drops a value of the window, and adds another; an infinite one stands for none. All lanes of a warp must call this.
  __device__ void replace(double old, double added) {
    double following = INFINITE, before = added, here[SLOTS];
    if (LANES > 1) {
      const double next = __shfl_down_sync(ALL, values[0], 1, LANES);
      if (lane() < LANES - 1) following = next;
    }
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) here[i] = values[i] < old ? values[i] : i + 1 < SLOTS ? values[i + 1] : following;
    if (LANES > 1) {
      const double last = __shfl_up_sync(ALL, here[SLOTS - 1], 1, LANES);
      if (lane() > 0) before = last;
    }
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      values[i] = here[i] <= added ? here[i] : before <= added ? added : before;
      before = here[i];
    }
  }

  __device__ double at(Word place) const {
    const double mine = Pick<SLOTS>::of(values, unsigned(place) % SLOTS);
    return LANES > 1 ? __shfl_sync(group(), mine, unsigned(place) / SLOTS, LANES) : mine;
  }

  // The number of values, of those less than a value, and of those equal to it.
  __device__ int present() const { return less_than(INFINITE); }

  __device__ int less_than(double value) const {
    int found = 0;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) found += values[i] < value;
    return together(found);
  }

  __device__ int equal_to(double value) const {
    int found = 0;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) found += values[i] == value;
    return together(found);
  }

  __device__ int distinct() const {
    double before = LANES > 1 ? __shfl_up_sync(group(), values[SLOTS - 1], 1, LANES) : INFINITE;
    if (lane() == 0) before = INFINITE;
    int found = 0;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      found += values[i] < INFINITE && values[i] != before;
      before = values[i];
    }
    return together(found);
  }

  static __device__ int together(int number) {
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) number += __shfl_xor_sync(group(), number, step, LANES);
    return number;
  }
};

// `newest` is the value of the last row of the window.
__device__ double answer(const Asked& asked, const Window& window, int found, double newest) {
  if (asked.kind == DISTINCT) return found < asked.least ? null() : double(window.distinct());
  if (found < 1 || found < asked.least) return null();
  if (asked.kind == QUANTILE)
    return quantile(asked.first, asked.way, found, [&](Word place) { return window.at(place); });
  if (!(newest < INFINITE)) return null();
  const int less = window.less_than(newest), equal = window.equal_to(newest);
  return rank(asked.first, asked.second, asked.ascending, asked.pct, found, less, equal);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sorted_windows(const double* values, const long long* starts, const long long* stops, long long rows,
                   long long windows, long long shift, int width, int kind, double first, double second, int way,
                   int ascending, int pct, long long least, double* out) {
  const Asked asked{kind, first, second, way, ascending, pct, least};
  const Bounds bounds{starts, stops, rows, shift, width};
  __shared__ double seen[SEEN], answers[TILE];
  const long long tile = (long long)blockIdx.x * TILE, low = tile + shift;
  for (int i = threadIdx.x; i < SEEN; i += THREADS) {
    const long long row = low + i;
    seen[i] = row >= 0 && row < rows ? kept(values[row]) : INFINITE;
  }
  __syncthreads();
  Window window;
  int from = 0, to = 0, found = 0;  // the rows of the window, counted from `low`
  const int begin = threadIdx.x / LANES * ITEMS;
  for (int i = begin; i < begin + ITEMS; ++i) {
    int next = from, behind = to;
    if (tile + i < windows) {
      long long start, stop;
      bounds.of(tile + i, start, stop);
      next = int(clip(start - low, 0, SEEN));
      behind = int(clip(stop - low, 0, SEEN));
    }
    if (i == begin) {
      from = next;
      to = behind;
      window.load(seen + from, to - from);
      window.sort();
      found = window.present();
    } else if (next >= to) {  // no row stays
      from = to = next;
      found = 0;
      window.load(seen, 0);
    }
    while (LANES > 1 ? __any_sync(ALL, from < next || to < behind) : from < next || to < behind) {
      const double old = from < next ? seen[from++] : INFINITE, added = to < behind ? seen[to++] : INFINITE;
      window.replace(old, added);
      found += int(added < INFINITE) - int(old < INFINITE);
    }
    const double here = answer(asked, window, found, from < to ? seen[to - 1] : INFINITE);
    if (lane() == 0) answers[i] = here;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TILE && tile + i < windows; i += THREADS) out[tile + i] = answers[i];
}
