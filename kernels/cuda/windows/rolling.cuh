// Rolling windows: of one width that fits shared memory, or between any bounds.
//
// Windows of one width: a block takes a tile of answers and all rows in their windows. A thread has ITEMS neighbouring
// answers. Each answer combines a suffix of the thread's own rows; the rows that all of its windows share, most of
// which are all rows of other threads and are combined by doubling; and the rows that enter one by one. After van Herk
// (Pattern Recognition Letters 13, 1992) and Gil and Werman (IEEE PAMI 15, 1993).
//
// Windows between bounds with rows that fit shared memory: see rolling_spans.cuh.
//
// Other windows: groups of GROUP rows are reduced to the states of a first level, and FAN states of a level to one of
// the next. The prefixes and suffixes of the groups of a level are stored with it. A window takes its ends from each
// level until the rest is in one group.
//
// Every combination keeps the earlier state on the left, and its order depends on lengths and windows alone.
#pragma once

enum Step { TILES, SPANS, WIDE_SPANS, REDUCE_ROWS, SCAN_LEVEL, ANSWER };

struct Params {
  const u8* in[INPUTS];
  u8* out[OUTPUTS];
  const u8* mask;      // validity bits, or bytes
  State* levels;       // for each level: its states, their prefixes in groups of FAN, their suffixes
  const i64* starts;   // bounds of windows; or null
  const i64* stops;    // likewise; or null, if `shift` and `width` say where windows end
  u64* widest;         // rows of the widest span that the first pass over spans leaves; or null
  u64* scratch;
  u8* carry_out;
  i64 mask_offset;
  i64 length, lines, tiles;
  i64 rows;
  i64 shift;  // window j begins with row j + shift
  i64 width;  // rows of a window, as far as they are between its bounds
  i64 level;  // where the level that is scanned begins
  i64 count;  // the states of this level
  i64 null;
  Numbers numbers;
};

__device__ __forceinline__ Element read_element(const Params& p, i64 at) {
  Element e;
  unroll<INPUTS>([&](auto k) {
    using T = typename In<k.value>::type;
    In<k.value>::of(e) = reinterpret_cast<const T*>(p.in[k.value])[at];
  });
  return e;
}
__device__ __forceinline__ bool is_masked(const Params& p, i64 at) {
  at += p.mask_offset;
  if constexpr (NULLS == BITS) return ((p.mask[at >> 3] >> (at & 7)) & 1) == p.null;
  if constexpr (NULLS == BYTES) return p.mask[at] == p.null;
  return false;
}
__device__ __forceinline__ State read_row(const Params& p, i64 at) {
  Element e = read_element(p, at);
  bool gone = is_masked(p, at);
  if constexpr (NULLS == IN_BAND) gone = is_missing(e);
  State s = lift(e);
  if constexpr (NULLS != NO_NULLS) s = choose(gone, identity(), s);
  return s;
}
__device__ __forceinline__ State read_row_if_any(const Params& p, i64 at) {
  return at >= 0 && at < p.rows ? read_row(p, at) : identity();
}

// --- windows of one width --------------------------------------------------------------------------------------------

constexpr int TILE = THREADS * ITEMS;
constexpr bool MASKED = NULLS == BITS || NULLS == BYTES;

// The place of item i, so that threads that read their own items have no bank conflicts.
__device__ __forceinline__ int padded(int i) { return ITEMS > 1 ? i + int(u32(i) / ITEMS) : i; }

// The elements of a tile's rows in shared memory, array by array, and whether each is missing.
struct Rows {
  u8* memory;
  int room;         // elements
  int from, count;  // the elements that exist

  template <int K>
  __device__ __forceinline__ u8* array() const {
    if constexpr (K == 0)
      return memory;
    else
      return array<K - 1>() + align_16(room * int(sizeof(typename In<K - 1>::type)));
  }
  __device__ __forceinline__ static int align_16(int bytes) { return (bytes + 15) & ~15; }
  __device__ __forceinline__ u8* end() const { return array<INPUTS>() + (MASKED ? align_16(room) : 0); }

  __device__ __forceinline__ bool has(int i) const { return u32(i - from) < u32(count); }
  __device__ __forceinline__ void put(int i, const Element& e, bool gone) const {
    Element copy = e;
    unroll<INPUTS>([&](auto k) {
      using T = typename In<k.value>::type;
      reinterpret_cast<T*>(array<k.value>())[padded(i)] = In<k.value>::of(copy);
    });
    if (MASKED) array<INPUTS>()[padded(i)] = gone;
  }
  __device__ __forceinline__ State get(int i) const {
    Element e;
    unroll<INPUTS>([&](auto k) {
      using T = typename In<k.value>::type;
      In<k.value>::of(e) = reinterpret_cast<const T*>(array<k.value>())[padded(i)];
    });
    bool gone = STEP == TILES && !has(i);
    if constexpr (NULLS == IN_BAND) gone |= is_missing(e);
    if (MASKED) gone |= array<INPUTS>()[padded(i)];
    return choose(gone, identity(), lift(e));
  }
};

// States in shared memory, in pieces, so that the lanes of a warp have no bank conflicts.
using Piece = Chunk<STATE_WORDS % 2 ? 4 : 8>::type;
constexpr int PIECES = STATE_WORDS * 4 / int(sizeof(Piece));
struct States {
  Piece* pieces;
  int room;  // states

  __device__ __forceinline__ States(u8* memory, int room) : pieces(reinterpret_cast<Piece*>(memory)), room(room) {}
  __device__ __forceinline__ u8* end() const { return reinterpret_cast<u8*>(pieces + PIECES * room); }
  __device__ __forceinline__ State get(int i) const {
    Piece found[PIECES];
#pragma unroll
    for (int k = 0; k < PIECES; k++) found[k] = pieces[k * room + i];
    StateWords w;
    memcpy(&w, found, sizeof(w));
    return state_of(w);
  }
  __device__ __forceinline__ void put(int i, const State& s) const {
    StateWords w = words_of(s);
    Piece found[PIECES];
    memcpy(found, &w, sizeof(w));
#pragma unroll
    for (int k = 0; k < PIECES; k++) pieces[k * room + i] = found[k];
  }
};

// Reads MANY rows of a tile from row `begin` on, THREADS apart; all are requested before the first is stored.
template <int MANY>
__device__ __forceinline__ void load(const Params& p, const Rows& rows, i64 first, int begin, int held) {
  Element read[MANY];
  bool gone[MANY];
#pragma unroll
  for (int i = 0; i < MANY; i++) {
    int at = begin + i * THREADS;
    read[i] = Element{};
    gone[i] = false;
    if (at < held && rows.has(at)) read[i] = read_element(p, first + at), gone[i] = is_masked(p, first + at);
  }
#pragma unroll
  for (int i = 0; i < MANY; i++)
    if (begin + i * THREADS < held) rows.put(begin + i * THREADS, read[i], gone[i]);
}

// Writes the answers of a tile through shared memory, so that neighbours are written together.
__device__ __forceinline__ void write_answers(const Params& p, Output (&answers)[ITEMS], i64 first, u8* memory) {
  const int thread = threadIdx.x;
  __syncthreads();
  unroll<OUTPUTS>([&](auto k) {
    using T = typename Out<k.value>::type;
    T* values = reinterpret_cast<T*>(memory);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) values[padded(thread * ITEMS + i)] = Out<k.value>::of(answers[i]);
    __syncthreads();
#pragma unroll
    for (int i = thread; i < TILE; i += THREADS)
      if (first + i < p.length) reinterpret_cast<T*>(p.out[k.value])[first + i] = values[padded(i)];
    __syncthreads();
  });
}

// Each thread gets the combined states of the `many` threads behind it; `states` holds those of all threads, and `many`
// more.
__device__ __forceinline__ State following(States states, States other, int many) {
  const int all = THREADS + many;
  State run = identity();
  int next = threadIdx.x + 1;
  for (int size = 1;; size *= 2) {  // states[i] combines i and the size - 1 states behind it
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
  const i64 answers_from = tile * TILE, first = answers_from + p.shift;
  const i64 before = first < 0 ? -first : 0, behind = p.rows - first;
  const int from = before < held ? int(before) : held;
  const Rows rows = {memory, padded(held), from, max(0, (behind < held ? int(behind) : held) - from)};
  const States sums(rows.end(), THREADS + many), other(sums.end(), sums.room);
  load<ITEMS>(p, rows, first, thread, held);
  for (int begin = TILE + thread; begin < held; begin += BATCH * THREADS) load<BATCH>(p, rows, first, begin, held);
  __syncthreads();
  State suffix[ITEMS], run = identity();
  suffix[ITEMS - 1] = rows.get(mine + ITEMS - 1);
#pragma unroll
  for (int i = ITEMS - 2; i >= 0; i--) suffix[i] = combine(rows.get(mine + i), suffix[i + 1]);
  if (many) {
    sums.put(thread, suffix[0]);
    for (int t = THREADS + thread; t < THREADS + many; t += THREADS) {
      State sum = rows.get(t * ITEMS);
      for (int i = 1; i < ITEMS; i++) sum = combine(sum, rows.get(t * ITEMS + i));
      sums.put(t, sum);
    }
    __syncthreads();
    run = following(sums, other, many);
  }
  for (int i = 0; i < rest; i++) run = combine(run, rows.get(mine + whole * ITEMS + i));
  Output answers[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    answers[i] = lower(combine(suffix[i], run));
    if (i < ITEMS - 1) run = combine(run, rows.get(mine + width + i));
  }
  write_answers(p, answers, answers_from, memory);
}

// --- windows between any bounds --------------------------------------------------------------------------------------

__device__ __forceinline__ i64 within(i64 row, i64 rows) { return row < 0 ? 0 : row < rows ? row : rows; }

// The rows of a window, clipped to those that exist.
struct Window {
  i64 start, stop;
};
__device__ __forceinline__ Window window_of(const Params& p, i64 j, i64 from, i64 to) {
  const i64 start = j + p.shift, stop = start + p.width;
  return {within(start > from ? start : from, p.rows), within(stop < to ? stop : to, p.rows)};
}
__device__ __forceinline__ Window window_of(const Params& p, i64 j) {
  if (!p.starts) return window_of(p, j, 0, p.rows);
  return window_of(p, j, p.starts[j], p.stops ? p.stops[j] : p.rows);
}

#include "rolling_spans.cuh"

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
  i64 first = (start + GROUP - 1) / GROUP, end = stop / GROUP;  // the whole groups
  if (first > end) end = first;                                 // the window lies within one group
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

__device__ __forceinline__ void answer_window(const Params& p, i64 j) {
  if (p.widest && span_of(p, j / TILE).rows() <= SPARED) return;
  const Window window = window_of(p, j);
  Output answer = lower(combined(p, window.start, window.stop));
  unroll<OUTPUTS>([&](auto k) {
    using T = typename Out<k.value>::type;
    reinterpret_cast<T*>(p.out[k.value])[j] = Out<k.value>::of(answer);
  });
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  if (STEP > SPANS && p.widest && i64(*p.widest) <= SPARED) return;
  take_numbers(p);
  extern __shared__ __align__(16) u8 memory[];
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    if constexpr (STEP == TILES) {
      answer_tile(p, tile, memory);
    } else if constexpr (STEP == SPANS || STEP == WIDE_SPANS) {
      answer_span(p, tile, memory);
    } else {
      const i64 i = tile * THREADS + threadIdx.x;
      if (i >= p.length) continue;
      if constexpr (STEP == REDUCE_ROWS) reduce_rows(p, i);
      if constexpr (STEP == SCAN_LEVEL) scan_group(p, i);
      if constexpr (STEP == ANSWER) answer_window(p, i);
    }
  }
}
