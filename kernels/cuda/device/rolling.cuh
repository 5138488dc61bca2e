// Rolling windows: of one width that fits shared memory, or between any bounds.
//
// Windows of one width: a block takes a tile of answers and all rows in their windows. A thread has ITEMS neighbouring
// answers. Each is the suffix of its own rows, from its first one on; then the rows that are in the windows of all of
// these, which are whole threads' rows for the most part, and known by doubling; then the rows that enter one by one.
// After van Herk (Pattern Recognition Letters 13, 1992) and Gil and Werman (IEEE PAMI 15, 1993).
//
// Other windows: rows are reduced by GROUP to a first level, and each level by FAN to the next. Prefixes and suffixes of
// the groups of a level are kept beside it, so that a window takes its ends from each level until it is in one group.
//
// Every combination keeps the earlier state on the left, and its order depends on lengths and windows alone.
#pragma once

enum NullKind { NO_NULLS, IN_BAND, BITS, BYTES };
enum Step { TILES, REDUCE_ROWS, SCAN_LEVEL, ANSWER };

struct Params {
  const u8* in[INPUTS];
  u8* out[OUTPUTS];
  const u8* mask;      // validity bits, or bytes
  State* levels;       // of each: its states, their prefixes in groups of FAN, their suffixes
  const i64* starts;   // bounds of windows; or null
  const i64* stops;    // likewise
  u64* scratch;
  u8* carry_out;
  i64 mask_offset;
  i64 length, lines, tiles;
  i64 rows;
  i64 shift;  // window j begins with row j + shift
  i64 width;  // and has so many rows, as far as they are between its bounds
  i64 level;  // where the level begins that is scanned
  i64 count;  // states of it
  i64 null;
  Numbers numbers;
};

__device__ __forceinline__ State read_row(const Params& p, i64 at) {
  Element e;
  unroll<INPUTS>([&](auto k) {
    using T = typename In<k.value>::type;
    In<k.value>::of(e) = reinterpret_cast<const T*>(p.in[k.value])[at];
  });
  bool gone = false;
  if constexpr (NULLS == IN_BAND) gone = is_missing(e);
  if constexpr (NULLS == BITS) gone = ((p.mask[(p.mask_offset + at) >> 3] >> ((p.mask_offset + at) & 7)) & 1) == p.null;
  if constexpr (NULLS == BYTES) gone = p.mask[p.mask_offset + at] == p.null;
  State s = lift(e);
  if constexpr (NULLS != NO_NULLS) s = choose(gone, identity(), s);
  return s;
}
__device__ __forceinline__ State read_row_if_any(const Params& p, i64 at) {
  return at >= 0 && at < p.rows ? read_row(p, at) : identity();
}

// --- windows of one width --------------------------------------------------------------------------------------------

constexpr int TILE = THREADS * ITEMS;

// Where item i is, so that threads that each read the items of their own meet no bank twice.
__device__ __forceinline__ int padded(int i) { return ITEMS > 1 ? i + i / ITEMS : i; }

// States in shared memory, word by word.
struct States {
  u32* words;
  int room;  // states
  __device__ __forceinline__ State get(int i) const {
    StateWords w;
#pragma unroll
    for (int k = 0; k < STATE_WORDS; k++) w.word[k] = words[k * room + i];
    return state_of(w);
  }
  __device__ __forceinline__ void put(int i, const State& s) const {
    StateWords w = words_of(s);
#pragma unroll
    for (int k = 0; k < STATE_WORDS; k++) words[k * room + i] = w.word[k];
  }
};

// Each thread gets the states of so many threads behind it, in order; `states` are those of all threads, and so many more.
__device__ __forceinline__ State following(States states, States other, int many) {
  const int all = THREADS + many;
  State run = identity();
  int next = threadIdx.x + 1;
  for (int size = 1;; size *= 2) {  // states[i] is that of i and of the size - 1 behind it
    if (many & size) {
      run = combine(run, states.get(next));
      next += size;
    }
    if (2 * size > many) return run;
    for (int i = threadIdx.x; i + 2 * size <= all; i += THREADS) other.put(i, combine(states.get(i), states.get(i + size)));
    __syncthreads();
    States before = states;
    states = other, other = before;
  }
}

__device__ __forceinline__ void answer_tile(const Params& p, i64 tile, u8* memory) {
  const int width = int(p.width), held = TILE + width - 1;
  const int whole = width / ITEMS, rest = width % ITEMS, many = whole - 1;
  const int thread = threadIdx.x, mine = thread * ITEMS;
  const States rows = {reinterpret_cast<u32*>(memory), padded(held)};
  const States sums = {rows.words + STATE_WORDS * rows.room, THREADS + many};
  const States other = {sums.words + STATE_WORDS * sums.room, sums.room};
  const i64 first = tile * TILE;
  for (int begin = thread; begin < held; begin += THREADS * BATCH) {
    State read[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; i++) read[i] = read_row_if_any(p, first + p.shift + begin + i * THREADS);
#pragma unroll
    for (int i = 0; i < BATCH; i++)
      if (begin + i * THREADS < held) rows.put(padded(begin + i * THREADS), read[i]);
  }
  __syncthreads();
  State suffix[ITEMS];
  suffix[ITEMS - 1] = rows.get(padded(mine + ITEMS - 1));
#pragma unroll
  for (int i = ITEMS - 2; i >= 0; i--) suffix[i] = combine(rows.get(padded(mine + i)), suffix[i + 1]);
  sums.put(thread, suffix[0]);
  for (int t = THREADS + thread; t < THREADS + many; t += THREADS) {
    State sum = rows.get(padded(t * ITEMS));
    for (int i = 1; i < ITEMS; i++) sum = combine(sum, rows.get(padded(t * ITEMS + i)));
    sums.put(t, sum);
  }
  __syncthreads();
  State run = following(sums, other, many);
  for (int i = 0; i < rest; i++) run = combine(run, rows.get(padded(mine + whole * ITEMS + i)));
  Output answers[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    answers[i] = lower(combine(suffix[i], run));
    if (i < ITEMS - 1) run = combine(run, rows.get(padded(mine + width + i)));
  }
  __syncthreads();
  unroll<OUTPUTS>([&](auto k) {  // through shared memory, so that neighbours are written together
    using T = typename Out<k.value>::type;
    T* values = reinterpret_cast<T*>(memory);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) values[padded(mine + i)] = Out<k.value>::of(answers[i]);
    __syncthreads();
    for (int i = thread; i < TILE; i += THREADS)
      if (first + i < p.length) reinterpret_cast<T*>(p.out[k.value])[first + i] = values[padded(i)];
    __syncthreads();
  });
}

// --- windows between any bounds --------------------------------------------------------------------------------------

__device__ __forceinline__ void reduce_rows(const Params& p, i64 group) {
  State read[GROUP];
#pragma unroll
  for (int i = 0; i < GROUP; i++) read[i] = read_row_if_any(p, group * GROUP + i);
#pragma unroll
  for (int i = 1; i < GROUP; i++) read[0] = combine(read[0], read[i]);
  p.levels[group] = read[0];
}

__device__ __forceinline__ void scan_group(const Params& p, i64 group) {
  State* states = p.levels + p.level;
  const i64 first = group * FAN, end = first + FAN < p.count ? first + FAN : p.count;
  State run = states[first];
  states[p.count + first] = run;
  for (i64 i = first + 1; i < end; i++) states[p.count + i] = run = combine(run, states[i]);
  states[3 * p.count + group] = run;
  run = states[end - 1];
  states[2 * p.count + end - 1] = run;
  for (i64 i = end - 2; i >= first; i--) states[2 * p.count + i] = run = combine(states[i], run);
}

__device__ __forceinline__ State combined(const Params& p, i64 start, i64 stop) {
  State left = identity(), right = identity();
  if (start >= stop) return left;
  i64 first = (start + GROUP - 1) / GROUP, end = stop / GROUP;  // the groups that are whole
  if (first > end) end = first;                                 // all in the midst of one
  for (i64 at = start; at < first * GROUP && at < stop; at++) left = combine(left, read_row(p, at));
  for (i64 at = end * GROUP; at < stop; at++) right = combine(right, read_row(p, at));
  const State* states = p.levels;
  i64 count = (p.rows + GROUP - 1) / GROUP;
  while (first < end) {
    if (first / FAN == (end - 1) / FAN) {
      for (; first < end; first++) left = combine(left, states[first]);
    } else {
      left = combine(left, states[2 * count + first]);
      right = combine(states[count + end - 1], right);
      first = first / FAN + 1;
      end = (end - 1) / FAN;
      states += 3 * count;
      count = (count + FAN - 1) / FAN;
    }
  }
  return combine(left, right);
}

__device__ __forceinline__ i64 within(i64 row, i64 rows) { return row < 0 ? 0 : row < rows ? row : rows; }

__device__ __forceinline__ void answer_window(const Params& p, i64 j) {
  i64 start = j + p.shift, stop = start + p.width;
  if (p.starts) {
    const i64 from = p.starts[j], to = p.stops[j];
    start = start > from ? start : from;
    stop = stop < to ? stop : to;
  }
  Output answer = lower(combined(p, within(start, p.rows), within(stop, p.rows)));
  unroll<OUTPUTS>([&](auto k) {
    using T = typename Out<k.value>::type;
    reinterpret_cast<T*>(p.out[k.value])[j] = Out<k.value>::of(answer);
  });
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  extern __shared__ __align__(16) u8 memory[];
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    if constexpr (STEP == TILES) {
      answer_tile(p, tile, memory);
    } else {
      const i64 i = tile * THREADS + threadIdx.x;
      if (i >= p.length) continue;
      if constexpr (STEP == REDUCE_ROWS) reduce_rows(p, i);
      if constexpr (STEP == SCAN_LEVEL) scan_group(p, i);
      if constexpr (STEP == ANSWER) answer_window(p, i);
    }
  }
}
