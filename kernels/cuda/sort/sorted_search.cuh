// The places of sorted needles among sorted values: how many values come before each needle if both sides are merged.
//
// A whole warp finds the needles and values of a tile of the merged sides, and each thread finds its ITEMS neighbours
// in the tile. Tiles of a block are adjacent; the end of a tile, where the next one begins, is searched for near its
// start. Arrays that are not sorted are not read beyond their ends.
//
// With MERGES, both sides are written in order: the code of each row, its number if it is a value, and whether it is a
// needle.
#pragma once

struct Params {
  const Key* needles;
  const Key* haystack;
  bool* unsorted;  // set if a side decreases or holds NaN; or null
  i64* out;
  const u32* needle_codes;  // from here on with MERGES only
  const u32* value_codes;
  u32* codes;
  int* rows;
  bool* is_needle;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;  // of both sides together
  i64 needle_count, value_count;
  i64 shift;   // added to places; with MERGES, the last row if rows are written from the last to the first, else -1
  i64 beyond;  // from this place on -1 is written; with MERGES, the number of a needle
};

// Neighbouring threads access different banks.
constexpr int BANKS = 128 / sizeof(Key);
__device__ __forceinline__ int seat(int at) { return at + at / BANKS; }

__shared__ Key codes[TILE + TILE / BANKS + 1];  // of the tile's needles, then of its values; by seat
__shared__ u16 found[TILE];  // the number of the tile's values before each of its needles; or the next of `codes`
__shared__ i64 splits[2];    // needles before the tile, and before the next one

// Whether a needle comes before a value.
__device__ __forceinline__ bool comes(Key needle, Key value) { return RIGHT ? needle < value : needle <= value; }

// Whether a row is NaN, or less than the previous one on its side.
__device__ __forceinline__ bool falls(const Key* side, i64 first, int at, Key code, Key before) {
  if (FLOATS && code == Key(~Key(0))) return true;
  if (at == 0 && first > 0) before = code_of(side[first - 1]);
  return (at > 0 || first > 0) && code < before;
}

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  const int thread = threadIdx.x;
  // the number of needles among the first `step` merged rows, which is from `least` to `most`
  auto split = [&](i64 step, i64 least, i64 most) {
    const i64 low = max(max(step - p.value_count, i64(0)), least), high = min(min(step, p.needle_count), most);
    return low + count_true(high - low, [&](i64 i) {
      return comes(code_of(p.needles[low + i]), code_of(p.haystack[step - 1 - low - i]));
    });
  };
  const i64 each = (p.tiles + gridDim.x - 1) / gridDim.x, last = min((blockIdx.x + 1) * each, p.tiles);
  for (i64 tile = blockIdx.x * each; tile < last; tile++) {
    const i64 begin = tile * TILE;
    const int length = int(min(i64(TILE), p.length - begin));
    if (thread < 32) {
      const i64 before = tile % each ? splits[1] : split(begin, 0, begin);
      const i64 after = split(begin + length, before, before + length);
      __syncwarp();
      if (thread == 0) splits[0] = before, splits[1] = after;
    }
    __syncthreads();
    const i64 first = splits[0], first_value = begin - first;
    const int needles = int(splits[1] - first), values = length - needles;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const int at = i * THREADS + thread;
      if (at < length) codes[seat(at)] = code_of(at < needles ? p.needles[first + at] : p.haystack[first_value + at - needles]);
    }
    __syncthreads();
    if (p.unsorted) {
      // if tiles end where those of the next block begin, each row is in one tile, and is checked there
      bool is_wrong = thread < 32 && tile + 1 == last && split(begin + length, 0, begin + length) != splits[1];
#pragma unroll
      for (int i = 0; i < ITEMS; i++) {
        const int at = i * THREADS + thread;
        const Key code = codes[seat(at)], before = codes[seat(max(at - 1, 0))];
        if (at < needles)
          is_wrong |= falls(p.needles, first, at, code, before);
        else if (at < length)
          is_wrong |= falls(p.haystack, first_value, at - needles, code, before);
      }
      if (is_wrong) *p.unsorted = true;
    }
    const int step = min(thread * ITEMS, length);
    int needle = max(step - values, 0), high = min(step, needles);
    while (needle < high) {
      const int middle = (needle + high) / 2;
      if (comes(codes[seat(middle)], codes[seat(needles + step - 1 - middle)]))
        needle = middle + 1;
      else
        high = middle;
    }
    int value = step - needle;
    Key one = codes[seat(needle)], other = codes[seat(needles + value)];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const bool takes = needle < needles && (value >= values || comes(one, other));
      if constexpr (MERGES) {
        if (step + i < length) found[step + i] = u16(takes ? needle : needles + value);
      } else {
        if (takes) found[needle] = u16(value);
      }
      needle += takes;
      value += !takes;
      const Key next = codes[seat(min(takes ? needle : needles + value, TILE))];
      one = takes ? next : one;
      other = takes ? other : next;
    }
    __syncthreads();
    if constexpr (MERGES) {
#pragma unroll
      for (int i = 0; i < ITEMS; i++) {
        const int at = i * THREADS + thread;
        if (at >= length) break;
        const int from = found[at];
        const bool is_needle = from < needles;
        const i64 row = is_needle ? first + from : first_value + from - needles;
        const i64 to = p.shift < 0 ? begin + at : p.shift - begin - at;
        p.codes[to] = is_needle ? p.needle_codes[row] : p.value_codes[row];
        p.rows[to] = int(is_needle ? p.beyond : row);
        p.is_needle[to] = is_needle;
      }
    } else {
      for (int i = thread; i < needles; i += THREADS) {
        const i64 place = first_value + found[i];
        p.out[first + i] = place < p.beyond ? place + p.shift : -1;
      }
    }
    __syncthreads();
  }
}
