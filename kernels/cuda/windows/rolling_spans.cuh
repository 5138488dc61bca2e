// Windows between bounds: a block takes a tile of answers and their span, the rows from the first start to the last stop.
//
// CHUNK rows make a chunk, and FAN chunks a piece. Shared memory has each row, the state of each chunk and piece and,
// if spans are short, the suffix of its chunk from each row on. A window combines the suffix at its start, whole
// chunks, and the first rows of the chunk that it ends in. A thread has ITEMS neighbouring answers, and reuses the last
// two parts from one to the next. Spans of more rows than HELD are left to wide spans, and to levels.
#pragma once

constexpr bool SUFFIXES = STEP == SPANS;
constexpr int CHUNK = ITEMS < 4 ? 4 : ITEMS, PIECED_FROM = 4 * CHUNK * FAN;
static_assert(HELD % CHUNK == 0, "chunks are whole");

struct Span {
  i64 first, stop, widest;  // rows of the wider one of its first and last window
  __device__ __forceinline__ i64 rows() const { return stop > first ? stop - first : 0; }
};
__device__ __forceinline__ Span span_of(const Params& p, i64 tile) {
  const i64 first = tile * TILE, last = first + TILE < p.length ? first + TILE - 1 : p.length - 1;
  const Window one = window_of(p, first), other = window_of(p, last);
  return {one.start, other.stop, max(one.stop - one.start, other.stop - other.start)};
}

// The states of chunks and, if windows are wide, of pieces.
struct Chunks {
  States one, many;
  bool pieced;
  // Returns a state combined with those of chunks `from` to `end` - 1.
  __device__ __forceinline__ State after(State run, int from, int end) const {
#pragma unroll 1
    while (from < end) {
      const bool whole = pieced && from % FAN == 0 && end - from >= FAN;
      run = combine(run, whole ? many.get(u32(from) / FAN) : one.get(from));
      from += whole ? FAN : 1;
    }
    return run;
  }
};

// Writes for each window of a tile its start in the span and, in the upper half of the word, its stop.
__device__ __forceinline__ void load_bounds(const Params& p, i64 answers_from, const Span& span, int held, u32* bounds) {
  const i64 last = p.length - 1;
  i64 from[ITEMS], to[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) from[i] = p.starts[min(answers_from + i * THREADS + threadIdx.x, last)];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const i64 j = answers_from + i * THREADS + threadIdx.x;
    to[i] = p.stops ? p.stops[min(j, last)] : p.rows;
  }
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const int at = i * THREADS + threadIdx.x;
    const Window window = window_of(p, answers_from + at, from[i], to[i]);
    const i64 start = within(window.start - span.first, held), stop = within(window.stop - span.first, held);
    bounds[padded(at)] = u32(start) | u32(stop) << 16;
  }
}

__device__ __forceinline__ void reduce_chunks(const Rows& rows, const States& suffixes, const Chunks& chunks, int held) {
  for (int c = threadIdx.x; c < held / CHUNK; c += THREADS) {
    int at = (c + 1) * CHUNK - 1;
    State run = rows.get(at);
    if (SUFFIXES) suffixes.put(padded(at), run);
#pragma unroll
    for (int i = 1; i < CHUNK; i++) {
      run = combine(rows.get(--at), run);
      if (SUFFIXES) suffixes.put(padded(at), run);
    }
    chunks.one.put(c, run);
  }
  __syncthreads();
  if (!chunks.pieced) return;
  for (int c = threadIdx.x; c < held / (CHUNK * FAN); c += THREADS) {
    State run = chunks.one.get(c * FAN);
    for (int i = 1; i < FAN; i++) run = combine(run, chunks.one.get(c * FAN + i));
    chunks.many.put(c, run);
  }
  __syncthreads();
}

__device__ __forceinline__ void answer_span(const Params& p, i64 tile, u8* memory) {
  const Span span = span_of(p, tile);
  if (span.rows() > HELD || span.rows() <= SPARED) {
    if (STEP == SPANS && span.rows() > HELD && threadIdx.x == 0) atomicMax(p.widest, u64(span.rows()));
    return;
  }
  const int held = int(span.rows()), thread = threadIdx.x, mine = thread * ITEMS;
  const Rows rows = {memory, padded(HELD), 0, held};
  const States suffixes(rows.end(), SUFFIXES ? padded(HELD) : 0);
  const States one(suffixes.end(), HELD / CHUNK), many(one.end(), HELD / CHUNK / FAN);
  const Chunks chunks = {one, many, span.widest > PIECED_FROM};
  u32* bounds = reinterpret_cast<u32*>(many.end());
  const i64 answers_from = tile * TILE;
  load_bounds(p, answers_from, span, held, bounds);
  constexpr int AT_ONCE = ITEMS < BATCH ? BATCH : ITEMS + 1;  // most spans are little longer than a tile
  for (int begin = thread; begin < held; begin += AT_ONCE * THREADS) load<AT_ONCE>(p, rows, span.first, begin, held);
  __syncthreads();
  reduce_chunks(rows, suffixes, chunks, held);
  const int last = int(bounds[padded(mine + ITEMS - 1)] & 0xffff) / CHUNK + 1;
  State run = identity();  // of the rows from chunk `base` up to row `at`
  int base = -1, at = 0;
  Output answers[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; i++) {
    const u32 both = bounds[padded(mine + i)];
    const int start = both & 0xffff, stop = both >> 16;
    const int first = start / CHUNK + 1, end = stop / CHUNK;  // the whole chunks, if there are any
    const int alone = first > end ? stop : first * CHUNK;
    State left = identity();
    if (SUFFIXES && first <= end) {
      left = suffixes.get(padded(start));
    } else {
#pragma unroll 1
      for (int row = start; row < alone; row++) left = combine(left, rows.get(row));
    }
    if (first <= end) {
      if (first > base || stop < at || stop - at > 2 * CHUNK) {
        base = last < end ? last : end;  // if possible, a chunk that the next windows share
        base = base > first ? base : first;
        run = chunks.after(identity(), base, end);
        at = end * CHUNK;
      }
#pragma unroll 1
      for (; at < stop; at++) run = combine(run, rows.get(at));
      left = combine(chunks.after(left, first, base), run);
    }
    answers[i] = lower(left);
  }
  write_answers(p, answers, answers_from, memory);
}
