// Order statistics of short windows: the values of a window are kept in order in registers, where one leaves and one
// enters from row to row, in a pass without branches. Follows order_answers.cuh.
//
// SLOTS is how many values a thread keeps. Up to 32 are those of one thread, which answers neighbouring windows; more
// are kept by a warp, of which each lane has SLOTS neighbouring ones. What is missing is infinite, and so comes last.

#define INFINITE __longlong_as_double(0x7ff0000000000000)
#define ALL 0xffffffffu

enum Kind { QUANTILE, RANK, DISTINCT };

struct Asked {
  int kind;
  double first, second;  // the share of the way of a quantile; what ranks are given, and their share
  int way;               // of a quantile
  int ascending, pct;    // of a rank
  long long least;
};

// A value as it is kept: zeros have one sign, so that their order does not matter.
__device__ double kept(double value) { return isfinite(value) ? value + 0.0 : INFINITE; }

__device__ long long clip(long long value, long long least, long long most) { return min(max(value, least), most); }

// Rows that window `j` has: of the `width` ones from j + `shift` on those within its bounds, or within all rows.
struct Bounds {
  const long long* starts;
  const long long* stops;
  long long rows, shift;
  int width;

  __device__ void of(long long j, long long& first, long long& last) const {
    const long long least = starts ? clip(starts[j], 0, rows) : 0, most = stops ? clip(stops[j], least, rows) : rows;
    first = clip(j + shift, least, most);
    last = clip(j + shift + width, first, most);
  }
};

// The value at a place below SLOTS that is known only as the kernel runs: registers have no addresses.
__device__ double picked(const double (&values)[SLOTS], unsigned place) {
  double left[SLOTS];
#pragma unroll
  for (int i = 0; i < SLOTS; ++i) left[i] = values[i];
#pragma unroll
  for (int half = SLOTS / 2, bit = 0; half > 0; half /= 2, ++bit) {
#pragma unroll
    for (int i = 0; i < half; ++i) left[i] = place >> bit & 1 ? left[2 * i + 1] : left[2 * i];
  }
  return left[0];
}

// The values of a window in the registers of one thread.
struct OfThread {
  double values[SLOTS];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) values[i] = INFINITE;
  }

  // Drop one value that is there, and add another; an infinite one stands for none.
  __device__ void replace(double old, double added) {
    double before = added;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      const double next = i + 1 < SLOTS ? values[i + 1] : INFINITE, here = values[i] < old ? values[i] : next;
      values[i] = here <= added ? here : before <= added ? added : before;
      before = here;
    }
  }

  __device__ double at(Word place) const { return picked(values, unsigned(place)); }

  __device__ void count(double value, Word& less, Word& equal) const {
    int below = 0, same = 0;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      below += values[i] < value;
      same += values[i] == value;
    }
    less = below;
    equal = same;
  }

  __device__ int distinct() const {
    int found = values[0] < INFINITE;
#pragma unroll
    for (int i = 1; i < SLOTS; ++i) found += values[i] < INFINITE && values[i] != values[i - 1];
    return found;
  }
};

// The values of a window in the registers of a warp; all lanes call, and get the same answers.
struct OfWarp {
  double values[SLOTS];

  static __device__ int lane() { return threadIdx.x % 32; }

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) values[i] = INFINITE;
  }

  __device__ void replace(double old, double added) {
    double following = __shfl_down_sync(ALL, values[0], 1), here[SLOTS];
    if (lane() == 31) following = INFINITE;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) here[i] = values[i] < old ? values[i] : i + 1 < SLOTS ? values[i + 1] : following;
    double before = __shfl_up_sync(ALL, here[SLOTS - 1], 1);
    if (lane() == 0) before = added;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      values[i] = here[i] <= added ? here[i] : before <= added ? added : before;
      before = here[i];
    }
  }

  __device__ double at(Word place) const {
    return __shfl_sync(ALL, picked(values, unsigned(place) % SLOTS), unsigned(place) / SLOTS);
  }

  __device__ void count(double value, Word& less, Word& equal) const {
    int below = 0, same = 0;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      below += __popc(__ballot_sync(ALL, values[i] < value));
      same += __popc(__ballot_sync(ALL, values[i] == value));
    }
    less = below;
    equal = same;
  }

  __device__ int distinct() const {
    double before = __shfl_up_sync(ALL, values[SLOTS - 1], 1);
    if (lane() == 0) before = INFINITE;
    int found = 0;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      found += __popc(__ballot_sync(ALL, values[i] < INFINITE && values[i] != before));
      before = values[i];
    }
    return found;
  }
};

// `newest` is the value of the last row of the window.
template <class Window> __device__ double answer(const Asked& asked, const Window& window, int found, double newest) {
  if (asked.kind == DISTINCT) return found < asked.least ? null() : double(window.distinct());
  if (found < 1 || found < asked.least) return null();
  if (asked.kind == QUANTILE)
    return quantile(asked.first, asked.way, found, [&](Word place) { return window.at(place); });
  if (!(newest < INFINITE)) return null();
  Word less, equal;
  window.count(newest, less, equal);
  return rank(asked.first, asked.second, asked.ascending, asked.pct, found, less, equal);
}

#define PARAMETERS                                                                                                    \
  const double *values, const long long *starts, const long long *stops, long long rows, long long windows,           \
      long long shift, int width, int run, int kind, double first, double second, int way, int ascending, int pct,    \
      long long least, double *out
#define GIVEN                                                                                                         \
  const Asked asked{kind, first, second, way, ascending, pct, least};                                                 \
  const Bounds bounds{starts, stops, rows, shift, width};

#ifdef ITEMS  // of neighbouring windows a thread

constexpr int TILE = THREADS * ITEMS, SEEN = TILE + SLOTS;

extern "C" __global__ void __launch_bounds__(THREADS) windows_of_threads(PARAMETERS) {
  GIVEN
  __shared__ double seen[SEEN], answers[TILE];
  const long long tile = (long long)blockIdx.x * TILE, low = tile + shift;
  for (int i = threadIdx.x; i < SEEN; i += THREADS) {
    const long long row = low + i;
    seen[i] = row >= 0 && row < rows ? kept(values[row]) : INFINITE;
  }
  __syncthreads();
  OfThread window;
  int from = 0, to = 0, found = 0;  // the rows that the window has, counted from `low`
  double newest = INFINITE;
  for (int i = threadIdx.x * ITEMS; i < (threadIdx.x + 1) * ITEMS && tile + i < windows; ++i) {
    long long start, stop;
    bounds.of(tile + i, start, stop);
    const int first = int(clip(start - low, 0, SEEN)), last = int(clip(stop - low, 0, SEEN));
    if (first >= to) {
      window.clear();
      from = to = first;
      found = 0;
    }
    while (from < first || to < last) {
      const double old = from < first ? seen[from++] : INFINITE;
      double added = INFINITE;
      if (to < last) newest = added = seen[to++];
      window.replace(old, added);
      found += int(added < INFINITE) - int(old < INFINITE);
    }
    answers[i] = answer(asked, window, found, newest);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TILE && tile + i < windows; i += THREADS) out[tile + i] = answers[i];
}

#else

// Values of rows in order, of which a warp reads 32 at once.
struct Reader {
  const double* values;
  long long rows, base;
  double chunk;

  __device__ void start(long long row) {
    base = row;
    const long long own = row + OfWarp::lane();
    chunk = own >= 0 && own < rows ? kept(values[own]) : INFINITE;
  }

  // Rows never decrease from call to call.
  __device__ double operator()(long long row) {
    if (row >= base + 32) start(row);
    return __shfl_sync(ALL, chunk, int(row - base));
  }
};

extern "C" __global__ void __launch_bounds__(THREADS) windows_of_warps(PARAMETERS) {
  GIVEN
  const long long warp = ((long long)blockIdx.x * THREADS + threadIdx.x) / 32, begin = warp * run;
  const long long end = min(begin + run, windows);
  if (begin >= end) return;
  Reader leaving{values, rows}, entering{values, rows};
  OfWarp window;
  long long from = 0, to = -1;  // the rows that the window has
  int found = 0;
  double newest = INFINITE;
  for (long long group = begin; group < end; group += 32) {
    long long start = 0, stop = 0;
    if (group + OfWarp::lane() < end) bounds.of(group + OfWarp::lane(), start, stop);
    double own = 0.0;
    for (int i = 0; i < 32 && group + i < end; ++i) {
      const long long first = __shfl_sync(ALL, start, i), last = __shfl_sync(ALL, stop, i);
      if (first >= to) {
        window.clear();
        from = to = first;
        leaving.start(first);
        entering.start(first);
        found = 0;
      }
      while (from < first || to < last) {
        const double old = from < first ? leaving(from++) : INFINITE;
        double added = INFINITE;
        if (to < last) newest = added = entering(to++);
        window.replace(old, added);
        found += int(added < INFINITE) - int(old < INFINITE);
      }
      const double found_here = answer(asked, window, found, newest);
      if (OfWarp::lane() == i) own = found_here;
    }
    if (group + OfWarp::lane() < end) out[group + OfWarp::lane()] = own;
  }
}

#endif
