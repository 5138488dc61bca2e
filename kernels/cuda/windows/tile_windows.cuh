// Order statistics of windows that are shorter than a tile: a block sorts the rows of a tile, and makes the wavelet
// matrix of their places in shared memory. Each thread answers a window from it. Follows order_answers.cuh,
// window_rows.cuh and wavelet_matrix.cuh.

typedef unsigned short Code;

constexpr int WARPS = THREADS / 32, ROWS = THREADS * EACH, WORDS = ROWS / 32, STRIDE = WORDS + 1;
constexpr unsigned ALL = ~0u;

__device__ constexpr int bits_of(int number) { return number ? 1 + bits_of(number / 2) : 0; }
constexpr int LEVELS = bits_of(ROWS - 1);
static_assert(EACH <= 32, "a lane keeps the word of one");

__shared__ double ordered[ROWS + 1];         // the last is read, but not used
__shared__ Code codes[ROWS];                 // while rows are sorted, the row of each value
__shared__ Word words[(LEVELS + 1) * STRIDE];  // on the last level, a row without a value has a 1
__shared__ unsigned zeros[LEVELS];
__shared__ alignas(sizeof(unsigned) * WARPS) unsigned of_warps[WARPS];  // aligned, so that vector reads stay within it

__device__ int lane() { return threadIdx.x % 32; }
__device__ int warp() { return threadIdx.x / 32; }

// The values of a thread, and the row of each.
struct Values {
  double values[EACH];
  unsigned rows[EACH];

  __device__ void exchange(int i, int j) {
    const double a = values[i], b = values[j];
    const unsigned of_a = rows[i], of_b = rows[j];
    const bool swaps = b < a;
    values[i] = swaps ? b : a, values[j] = swaps ? a : b;
    rows[i] = swaps ? of_b : of_a, rows[j] = swaps ? of_a : of_b;
  }
  // Sorts the values: Batcher's odd-even merge sort. Neighbouring lists of PART values are merged, from this step on.
  template <int PART = 1, int STEP = PART> __device__ void sort() {
    constexpr int FIRST = STEP % PART;
#pragma unroll
    for (int i = FIRST; i + STEP < EACH; ++i)
      if ((i - FIRST) / STEP % 2 == 0 && i / (2 * PART) == (i + STEP) / (2 * PART)) exchange(i, i + STEP);
    if constexpr (STEP > 1)
      sort<PART, STEP / 2>();
    else if constexpr (2 * PART < EACH)
      sort<2 * PART>();
  }
  __device__ void store() const {
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      ordered[threadIdx.x * EACH + i] = values[i];
      codes[threadIdx.x * EACH + i] = Code(rows[i]);
    }
    __syncthreads();
  }
  // Gets this thread's part of the merge of neighbouring lists with the values of `threads` threads each; after Odeh,
  // Green, Mwassi, Shmueli and Birk, "Merge Path" (2012).
  __device__ void merge(int threads) {
    const int first = threadIdx.x / (2 * threads) * (2 * threads), length = threads * EACH;
    const int a = first * EACH, b = a + length, taken = (threadIdx.x - first) * EACH;
    int low = max(0, taken - length), high = min(taken, length);
    while (low < high) {
      const int middle = (low + high) / 2;
      if (ordered[a + middle] <= ordered[b + taken - 1 - middle])
        low = middle + 1;
      else
        high = middle;
    }
    int of_a = a + low, of_b = b + taken - low, from[EACH];
    double next_a = ordered[of_a], next_b = ordered[of_b];
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const bool takes_a = of_b == b + length || (of_a < b && next_a <= next_b);
      values[i] = takes_a ? next_a : next_b;
      from[i] = takes_a ? of_a++ : of_b++;
      const double next = ordered[takes_a ? of_a : of_b];
      next_a = takes_a ? next : next_a, next_b = takes_a ? next_b : next;
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i) rows[i] = codes[from[i]];
    __syncthreads();
  }
};

// The combination of the numbers of all earlier threads.
template <class Combine> __device__ unsigned before_thread(unsigned own, Combine combine) {
  unsigned all = own;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const unsigned other = __shfl_up_sync(ALL, all, apart);
    if (lane() >= apart) all = combine(other, all);
  }
  if (lane() == 31) of_warps[warp()] = all;
  __syncthreads();
  unsigned before = __shfl_up_sync(ALL, all, 1);
  if (lane() == 0) before = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w)  // not up to warp(): the remainder of such a loop is read in vectors, past the end
    if (w < warp()) before = combine(of_warps[w], before);
  return before;
}

// Sorts the rows of the tile, which are in `ordered`; the code of a row becomes the first place of its value.
__device__ void order_rows() {
  Values own;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const int row = threadIdx.x * EACH + i;
    own.values[i] = ordered[row], own.rows[i] = row;
  }
  own.sort();
  own.store();
#pragma unroll 1
  for (int threads = 1; threads < THREADS; threads *= 2) {
    own.merge(threads);
    own.store();
  }
  const int first = threadIdx.x * EACH;
  double before = first ? ordered[first - 1] : INFINITE;
  unsigned begins[EACH], last = 0;
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    if (own.values[i] != before) last = first + i;
    begins[i] = last, before = own.values[i];
  }
  const unsigned earlier = before_thread(last, [](unsigned a, unsigned b) { return max(a, b); });
#pragma unroll
  for (int i = 0; i < EACH; ++i) codes[own.rows[i]] = Code(max(begins[i], earlier));
  __syncthreads();
}

// The first place of a value in the tile.
__device__ unsigned place_of(double value) {
  int low = 0, high = ROWS;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (ordered[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Makes a level of the matrix; `is_one` returns the bit of a row's code, and rows move unless it is the last level.
template <class IsOne> __device__ void make_level(int level, bool moves, IsOne is_one) {
  Code here[EACH];
  unsigned mine = 0, ones[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    here[i] = codes[(warp() * EACH + i) * 32 + lane()];
    ones[i] = __ballot_sync(ALL, is_one(here[i]));
    if (lane() == i) mine = ones[i];
  }
  const unsigned clear = lane() < EACH ? __popc(~mine) : 0;
  const unsigned before = before_thread(clear, [](unsigned a, unsigned b) { return a + b; });
  unsigned all = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) all += of_warps[w];
  if (lane() < EACH) words[level * STRIDE + warp() * EACH + lane()] = Word(before) << 32 | mine;
  if (threadIdx.x == 0) words[level * STRIDE + WORDS] = Word(all) << 32;
  if (moves) {
    if (threadIdx.x == 0) zeros[level] = all;
    const unsigned below = (1u << lane()) - 1;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const unsigned zero = __shfl_sync(ALL, before, i) + __popc(~ones[i] & below);
      const int row = (warp() * EACH + i) * 32 + lane();
      codes[ones[i] >> lane() & 1 ? all + row - zero : zero] = here[i];
    }
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    tile_windows(const double* values, const long long* starts, const long long* stops, long long rows, long long windows,
                 long long shift, int width, int kind, double first, double second, int way, int ascending, int pct,
                 long long least, double* out) {
  const Asked asked{kind, first, second, way, ascending, pct, least};
  const Bounds bounds{starts, stops, rows, shift, width};
  const int answered = ROWS - width + 1;
  const long long first_window = (long long)blockIdx.x * answered, low = first_window + shift;
  for (int i = threadIdx.x; i < ROWS; i += THREADS) {
    const long long row = low + i;
    ordered[i] = row >= 0 && row < rows ? kept(values[row]) : INFINITE;
  }
  __syncthreads();
  order_rows();
  // rows without a value come last
  make_level(LEVELS, false, [](Code code) { return !(ordered[code] < INFINITE); });
  for (int level = 0; level < LEVELS; ++level)
    make_level(level, true, [=](Code code) { return bool(code >> (LEVELS - 1 - level) & 1); });
  const Matrix<unsigned> matrix{words, zeros, STRIDE, LEVELS};
  for (int i = threadIdx.x; i < answered && first_window + i < windows; i += THREADS) {
    long long start, stop;
    bounds.of(first_window + i, start, stop);
    const unsigned from = unsigned(clip(start - low, 0, ROWS)), to = unsigned(clip(stop - low, 0, ROWS));
    const unsigned found = matrix.zeros_before(LEVELS, to) - matrix.zeros_before(LEVELS, from);
    double answer = null();
    if (found > 0 && found >= asked.least) {
      if (asked.kind == QUANTILE) {
        auto at = [&](Word place) { return ordered[matrix.select(from, to, unsigned(place))]; };
        answer = quantile(asked.first, asked.way, found, at);
      } else {
        const double newest = kept(values[low + to - 1]);
        if (newest < INFINITE) {
          unsigned less, equal;
          matrix.count(from, to, place_of(newest), less, equal);
          answer = rank(asked.first, asked.second, asked.ascending, asked.pct, found, less, equal);
        }
      }
    }
    out[first_window + i] = answer;
  }
}
