// Order statistics of any windows, from the wavelet matrix of all rows, which is made one level at a time. Follows
// order_answers.cuh and wavelet_matrix.cuh.

// Blocks are whole warps, with one row for each thread; words cover rows 0 to `rows`, inclusive.
__device__ Word own_row() { return Word(blockIdx.x) * blockDim.x + threadIdx.x; }

extern "C" __global__ void count_zeros(const unsigned* codes, Word rows, int shift, unsigned* counts) {
  const Word row = own_row();
  const bool is_zero = row < rows && !(codes[row] >> shift & 1);
  const unsigned clear = __ballot_sync(~0u, is_zero);
  if (row % 32 == 0 && row <= rows) counts[row / 32] = __popc(clear);
}

// `counts` are the numbers of zeros in all words up to each, inclusive.
extern "C" __global__ void part_rows(const unsigned* codes, Word rows, int shift, const unsigned* counts, Word* words,
                                     Word* zeros, unsigned* parted) {
  const Word row = own_row();
  const unsigned code = row < rows ? codes[row] : 0;
  const bool is_one = row < rows && (code >> shift & 1);
  const unsigned bits = __ballot_sync(~0u, is_one), clear = __ballot_sync(~0u, row < rows && !is_one);
  if (row / 32 > rows / 32) return;
  const unsigned all = counts[rows / 32], before = counts[row / 32] - __popc(clear);
  const Word first = before + __popc(clear & ((1u << row % 32) - 1));
  if (row < rows) parted[is_one ? all + (row - first) : first] = code;
  if (row % 32 == 0) words[row / 32] = Word(before) << 32 | bits;
  if (row == 0) *zeros = all;
}

extern "C" __global__ void quantiles(const Word* words, const Word* zeros, Word stride, int levels,
                                     const double* distinct, const long long* starts, const long long* stops,
                                     Word windows, double q, int way, long long least, double* out) {
  const Word i = own_row();
  if (i >= windows) return;
  const Matrix<Word> matrix{words, zeros, stride, levels};
  const long long start = starts[i], stop = stops[i], found = stop - start;
  if (found < 1 || found < least) {
    out[i] = null();
    return;
  }
  out[i] = quantile(q, way, found, [&](Word place) { return distinct[matrix.select(start, stop, place)]; });
}

extern "C" __global__ void ranks(const Word* words, const Word* zeros, Word stride, int levels, const unsigned* codes,
                                 const long long* starts, const long long* stops, Word windows, double added,
                                 double share, int ascending, int pct, long long least, double* out) {
  const Word i = own_row();
  if (i >= windows) return;
  const Matrix<Word> matrix{words, zeros, stride, levels};
  const long long start = starts[i], stop = stops[i], found = stop - start;
  if (found < 1 || found < least) {
    out[i] = null();
    return;
  }
  Word less, equal;
  matrix.count(start, stop, codes[stop - 1], less, equal);
  out[i] = rank(added, share, ascending, pct, found, less, equal);
}

// The number of windows with a bound up to a row; bounds never decrease.
__device__ Word windows_up_to(const long long* bounds, Word windows, long long row) {
  Word low = 0, high = windows;
  while (low < high) {
    const Word middle = (low + high) / 2;
    if (bounds[middle] > row) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Rows are in the order of their values. A row and the next one with the same value are both in the windows from the
// first that has the latter to the last that has the former. Adds 1 at the first of these windows, and -1 behind the
// last.
extern "C" __global__ void count_again(const double* ordered, const long long* rows, Word length,
                                       const long long* starts, const long long* stops, Word windows, Word* again) {
  const Word i = own_row() + 1;
  if (i >= length || ordered[i] != ordered[i - 1]) return;
  const Word enters = windows_up_to(stops, windows, rows[i]), leaves = windows_up_to(starts, windows, rows[i - 1]);
  if (enters >= leaves) return;
  atomicAdd(again + enters, Word(1));
  atomicAdd(again + leaves, ~Word(0));
}
