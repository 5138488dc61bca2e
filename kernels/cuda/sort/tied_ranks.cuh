// The rank of each sorted key; equal keys share the average, the least or the largest of their places. With groups,
// which are sorted too, keys are sorted and ranked within their group.
//
// A tile sets bits of the keys that begin a run, and scans for the last of them before each word of bits and for the
// first one behind it; and it does the same for groups. The end of a run or group that reaches beyond the tile is
// searched for in steps that double, and then halve.
#pragma once

enum { AVERAGE, LEAST, LARGEST };  // METHOD: the place that equal keys share

struct Params {
  const Key* keys;
  const Group* groups;  // read if GROUPED
  double* out;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;
};

constexpr int HEAD_WORDS = TILE / 32;
static_assert(HEAD_WORDS <= THREADS && THREADS % 32 == 0, "a thread scans a word");

// The number of following keys that equal this one, at most `most`.
template <class Equal>
__device__ __forceinline__ i64 run_on(i64 most, Equal equal) {
  i64 known = 0, step = 1;
  while (known + step <= most && equal(known + step)) known += step, step *= 2;
  for (; step; step /= 2)
    if (known + step <= most && equal(known + step)) known += step;
  return known;
}

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  __shared__ u32 heads[HEAD_WORDS];
  __shared__ int last[HEAD_WORDS + 1], next[HEAD_WORDS + 1];  // the last head before a word, and the first from it on
  __shared__ i64 before, behind;  // rows of the first run before the tile, and of the last run behind it
  __shared__ u32 tops[GROUPED ? HEAD_WORDS : 1];     // heads of groups
  __shared__ int top[GROUPED ? HEAD_WORDS + 1 : 1];  // the last head of a group before each word
  __shared__ i64 above;                              // rows of the first group before the tile
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 first = tile * TILE;
    const int count = p.length - first < TILE ? int(p.length - first) : TILE;
    auto code_at = [&](i64 row) { return code_of(p.keys[row]); };
    auto same = [&](i64 row, i64 other) {
      if (GROUPED && p.groups[row] != p.groups[other]) return false;
      return code_at(row) == code_at(other);
    };
    if constexpr (GROUPED) {
#pragma unroll
      for (int i = 0; i < ITEMS; i++) {
        const int at = i * THREADS + thread;
        const i64 row = first + at;
        const bool begins = at < count && (row == 0 || p.groups[row] != p.groups[row - 1]);
        const u32 word = __ballot_sync(0xffffffffu, begins);
        if (lane == 0) tops[i * (THREADS / 32) + warp] = word;
      }
      __syncwarp();
    }
    Key codes[ITEMS], edges[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const int at = i * THREADS + thread;
      codes[i] = at < count ? p.keys[first + at] : Key(0);
      edges[i] = lane == 0 && at < count && first + at > 0 ? p.keys[first + at - 1] : Key(0);
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const int at = i * THREADS + thread;
      const Key code = code_of(codes[i]);
      Key earlier = __shfl_up_sync(0xffffffffu, code, 1);
      if (lane == 0) earlier = code_of(edges[i]);
      u32 word = __ballot_sync(0xffffffffu, at < count && (first + at == 0 || earlier != code));
      if constexpr (GROUPED) word |= tops[i * (THREADS / 32) + warp];
      if (lane == 0) heads[i * (THREADS / 32) + warp] = word;
    }
    __syncthreads();
    if (thread == 0) before = heads[0] & 1 ? 0 : run_on(first, [&](i64 rows) { return same(first - rows, first); });
    if (thread == 32) {
      const i64 end = first + count - 1;
      behind = run_on(p.length - 1 - end, [&](i64 rows) { return same(end + rows, end); });
    }
    if constexpr (GROUPED)
      if (thread == 64)
        above = tops[0] & 1 ? 0 : run_on(first, [&](i64 rows) { return p.groups[first - rows] == p.groups[first]; });
    // Hillis and Steele's scan of both at once; a word without heads has -1 and TILE
    if (thread < HEAD_WORDS) {
      const u32 word = heads[thread];
      last[thread + 1] = word ? 32 * thread + 31 - __clz(word) : -1;
      next[thread] = word ? 32 * thread + __ffs(word) - 1 : TILE;
      if constexpr (GROUPED) top[thread + 1] = tops[thread] ? 32 * thread + 31 - __clz(tops[thread]) : -1;
    }
    if (thread == 0) last[0] = -1, top[0] = -1, next[HEAD_WORDS] = TILE;
    __syncthreads();
#pragma unroll 1
    for (int step = 1; step < HEAD_WORDS; step *= 2) {
      int low = -1, high = TILE, upper = -1;
      if (thread < HEAD_WORDS) {
        low = thread + 1 > step ? last[thread + 1 - step] : -1;
        if constexpr (GROUPED) upper = thread + 1 > step ? top[thread + 1 - step] : -1;
        high = thread + step < HEAD_WORDS ? next[thread + step] : TILE;
      }
      __syncthreads();
      if (thread < HEAD_WORDS) {
        last[thread + 1] = max(last[thread + 1], low), next[thread] = min(next[thread], high);
        if constexpr (GROUPED) top[thread + 1] = max(top[thread + 1], upper);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
      const int at = i * THREADS + thread, in = i * (THREADS / 32) + warp;
      const u32 reach = 0xffffffffu >> (31 - lane);
      const u32 word = heads[in], up_to = word & reach, on = word & ~reach;
      const int from = up_to ? 32 * in + 31 - __clz(up_to) : last[in], to = on ? 32 * in + __ffs(on) - 1 : next[in + 1];
      i64 start = from < 0 ? first - before : first + from;
      i64 stop = to >= count ? first + count + behind : first + to;
      if constexpr (GROUPED) {
        const u32 group = tops[in] & reach;
        const int origin = group ? 32 * in + 31 - __clz(group) : top[in];
        const i64 base = origin < 0 ? first - above : first + origin;
        start -= base, stop -= base;
      }
      const double rank = METHOD == LEAST ? double(start + 1) : METHOD == LARGEST ? double(stop) : .5 * double(start + stop + 1);
      if (at < count) p.out[first + at] = rank;
    }
    __syncthreads();
  }
}
