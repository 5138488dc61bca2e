// A tile: how its items are read, lifted to states, reduced, scanned and written; the visitor of scan and reduce.
//
// A tile is cut into one segment a warp and a segment into rows; in a row each lane has VN neighbouring items. Tiles are
// read twice, first to reduce and then, once the prefix is known, to scan them: from shared memory, or from a cache. So no
// thread holds more than GROUP rows, and tiles may be large. How tiles are handed out, and where a prefix comes from, is said
// by the schedules.
#pragma once

#include "swizzle.cuh"

constexpr int ROW = 32 * VN;
constexpr int SEGMENT = ROWS * ROW;
constexpr int TILE = WARPS * SEGMENT;

#include "stages.cuh"
#include "digit_sums.cuh"

constexpr int group_rows(int rows, int words) { return rows > 1 && rows * words > GROUP_WORDS ? group_rows(rows / 2, words) : rows; }
constexpr int GROUP = group_rows(ROWS, VN * STATE_WORDS);  // rows that are scanned at the same time

struct Params {
  const u8* in[INPUTS];
  u8* out[OUTPUTS];
  const u8* mask;         // validity bits, or bytes
  u64* scratch;           // zeros: a ticket, then descriptors (lookback.cuh); null where every block has one tile
  const State* carry_in;  // one state a line, or null: `seed` for every line
  State* carry_out;       // one state a line
  i64 mask_offset;        // of item 0, in bits or bytes
  i64 length;             // items a line
  i64 lines;
  i64 tiles;  // a line
  i64 inner;  // lines that lie side by side: the distance of neighbours in a line
  i64 null;   // the mask's value that says "missing"
  u64 seed[(sizeof(State) + 7) / 8];
  Numbers numbers;
};

__device__ __forceinline__ State carry_into(const Params& p, i64 line) {
  if (p.carry_in) return p.carry_in[line];
  State s;
  memcpy(&s, p.seed, sizeof(State));
  return s;
}

// A tile of one of many lines; `first` is an item of the arrays.
struct Line {
  i64 line;  // < 0: no more tiles
};
struct LinePlace : Line, Place {};
__device__ __forceinline__ LinePlace place_of(const Params& p, i64 ticket) {
  LinePlace at;
  at.line = p.lines == 1 ? 0 : ticket / p.tiles;
  static_cast<Place&>(at) = place_in_line(p.length, ticket - at.line * p.tiles);
  at.first += at.line * p.length;
  return at;
}

// Where the bytes of a tile are: of its item that is first in memory, whatever the direction of the scan.
struct View {
  const u8* in[INPUTS];
  const u8* mask;
  int bit;  // of the first item in mask[0]
  int null;
  int count;
  bool vectors;  // lanes may read their items of a row in one access
};
__device__ __forceinline__ bool takes_vectors(const View& view) {
  bool all = true;
  unroll<INPUTS>([&](auto k) { all = all && aligned(view.in[k.value], PIECE<VN, typename In<k.value>::type>); });
  return all;
}

struct Outputs {
  u8* at[OUTPUTS];
  bool vectors;  // likewise
};
__device__ __forceinline__ Outputs outputs_of(const Params& p, const LinePlace& at) {
  Outputs out;
  out.vectors = true;
  unroll<OUTPUTS>([&](auto k) {
    using T = typename Out<k.value>::type;
    out.at[k.value] = p.out[k.value] + at.first * sizeof(T);
    out.vectors = out.vectors && aligned(out.at[k.value], PIECE<VN, T>);
  });
  return out;
}

// A lane's items of a row, in one access or a few; in any order unless they are ORDERED.
template <bool ORDERED, class T>
__device__ __forceinline__ void read_part(const u8* from, T (&values)[VN]) {
  if constexpr (SWIZZLE)
    read_swizzled<VN, T, ORDERED>(from, values);
  else
    read_vector<VN>(from, values);
}
template <class T>
__device__ __forceinline__ void write_part(u8* to, const T (&values)[VN]) {
  if constexpr (SWIZZLE)
    write_swizzled<VN>(to, values);
  else if constexpr (STREAM)
    write_streaming<VN>(to, values);
  else
    write_vector<VN>(to, values);
}

__device__ __forceinline__ bool is_masked(const u8* mask, i64 at, int null) {
  if constexpr (NULLS == BYTES) return mask[at] == null;
  return ((mask[at >> 3] >> (at & 7)) & 1) == null;
}

// One item of SoA arrays.
template <class Pointers>
__device__ __forceinline__ Element read_element(const Pointers& in, i64 at) {
  Element e;
  unroll<INPUTS>([&](auto k) {
    using T = typename In<k.value>::type;
    In<k.value>::of(e) = reinterpret_cast<const T*>(in[k.value])[at];
  });
  return e;
}
template <class Pointers>
__device__ __forceinline__ void write_output(const Pointers& out, i64 at, Output value) {
  unroll<OUTPUTS>([&](auto k) {
    using T = typename Out<k.value>::type;
    reinterpret_cast<T*>(out[k.value])[at] = Out<k.value>::of(value);
  });
}
__device__ __forceinline__ Output finalize(const State& before, const State& after, bool missing) {
  if (MARK_NULLS && missing) return null_output();
  return answer<EXCLUSIVE>(before, after);
}

// Calls f(j, element, missing) for the items of a lane in a row of a whole tile, in the order of the scan: item i of the
// tile and its VN - 1 successors; or in turns for each of CHAINS parts of them; or in any order if they are not ORDERED.
template <int CHAINS = 1, bool ORDERED = true, class F>
__device__ __forceinline__ void each_element(const View& view, int i, F f) {
  int low = REVERSE ? TILE - VN - i : i;  // the lowest address
  Element e[VN];
  unroll<INPUTS>([&](auto k) {
    using T = typename In<k.value>::type;
    T values[VN];
    const u8* from = view.in[k.value] + low * int(sizeof(T));
    if (view.vectors) {
      read_part<ORDERED>(from, values);
    } else {
#pragma unroll
      for (int j = 0; j < VN; j++) values[j] = reinterpret_cast<const T*>(from)[j];
    }
#pragma unroll
    for (int j = 0; j < VN; j++) In<k.value>::of(e[j]) = values[REVERSE ? VN - 1 - j : j];
  });
  u32 window = 0;
  if constexpr (NULLS == BITS) {
    int bit = view.bit + low, rest = bit & 7;
    const u8* byte = view.mask + (bit >> 3);
    u64 bits = byte[0];
#pragma unroll
    for (int b = 1; b < (VN + 14) / 8; b++)
      if (rest + VN > 8 * b) bits |= u64(byte[b]) << (8 * b);
    window = u32(bits >> rest) ^ (view.null ? 0 : ALL);
  }
#pragma unroll
  for (int turn = 0; turn < VN; turn++) {
    int j = turn % CHAINS * (VN / CHAINS) + turn / CHAINS, m = REVERSE ? VN - 1 - j : j;
    bool gone = false;
    if constexpr (NULLS == IN_BAND) gone = is_missing(e[j]);
    if constexpr (NULLS == BITS) gone = (window >> m) & 1;
    if constexpr (NULLS == BYTES) gone = view.mask[view.bit + low + m] == view.null;
    f(j, e[j], gone);
  }
}

// Calls f(j, state, missing, element) likewise; unless the tile is WHOLE, items behind the end have the identity as a
// missing item has, or none if states are raked.
template <bool WHOLE, int CHAINS = 1, class F>
__device__ __forceinline__ void each_item(const View& view, int i, F f) {
  if constexpr (WHOLE) {
    each_element<CHAINS>(view, i, [&](int j, Element e, bool gone) {
      State state = lift(e);
      if constexpr (NULLS != NO_NULLS) state = choose(gone, identity(), state);
      f(j, state, gone, e);
    });
  } else {
#pragma unroll (RAKES ? 1 : VN)
    for (int j = 0; j < (RAKES ? min(VN, view.count - i) : VN); j++) {
      State state = identity();
      Element e;
      bool gone = false;
      if (RAKES || i + j < view.count) {
        int at = REVERSE ? view.count - 1 - (i + j) : i + j;
        e = read_element(view.in, at);
        if constexpr (NULLS == IN_BAND) gone = is_missing(e);
        if constexpr (NULLS == BITS || NULLS == BYTES) gone = is_masked(view.mask, view.bit + at, view.null);
        if (!gone) state = lift(e);
      }
      f(j, state, gone, e);
    }
  }
}
// Returns in which places of the row an item is missing, as bits.
template <bool WHOLE>
__device__ __forceinline__ u32 read_items(const View& view, int i, State (&states)[VN]) {
  u32 missing = 0;
  each_item<WHOLE>(view, i, [&](int j, const State& state, bool gone, const Element&) {
    states[j] = state;
    missing |= u32(gone) << j;
  });
  return missing;
}

// All lanes get the combination of a warp's items.
template <bool WHOLE>
__device__ __forceinline__ State segment_reduce(const View& view, int warp, int lane) {
  State rows[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    State x[VN];
    read_items<WHOLE>(view, warp * SEGMENT + r * ROW + lane * VN, x);
    rows[r] = x[0];
#pragma unroll
    for (int j = 1; j < VN; j++) rows[r] = combine(rows[r], x[j]);
    // else the compiler reads all rows ahead, and with their masks has too few registers
    if ((NULLS == BITS || NULLS == BYTES) && r % GROUP == GROUP - 1) __syncwarp();
  }
  return rows_reduce<ROWS>(rows, lane);
}

// Writes item i of a tile, in the order of the scan.
__device__ __forceinline__ void write_item(const View& view, const Outputs& out, int i, Output y) {
  write_output(out.at, REVERSE ? view.count - 1 - i : i, y);
}
// Writes the items of a lane in a row.
template <bool WHOLE>
__device__ __forceinline__ void write_items(const View& view, const Outputs& out, int i, Output (&y)[VN]) {
  if constexpr (WHOLE) {
    int low = REVERSE ? TILE - VN - i : i;
    unroll<OUTPUTS>([&](auto k) {
      using T = typename Out<k.value>::type;
      T values[VN];
      u8* to = out.at[k.value] + low * int(sizeof(T));
#pragma unroll
      for (int j = 0; j < VN; j++) values[REVERSE ? VN - 1 - j : j] = Out<k.value>::of(y[j]);
      if (out.vectors) {
        write_part(to, values);
      } else {
#pragma unroll
        for (int j = 0; j < VN; j++) reinterpret_cast<T*>(to)[j] = values[j];
      }
    });
  } else {
#pragma unroll
    for (int j = 0; j < VN; j++)
      if (i + j < view.count) write_item(view, out, i + j, y[j]);
  }
}

// Large states are raked (Blelloch, CMU-CS-90-190, 1990): lanes reduce their items, states among lanes are scanned once a
// segment, which is one row, and then lanes scan their items from what comes before them. So an item is combined twice
// and with no state but its own, and few states are shuffled. Where an answer follows from the one before and an element
// (FOLLOWS), the second time needs no states at all.

// The combination of a lane's items.
__device__ __forceinline__ State lane_reduce(const View& view, int warp, int lane) {
  State sum = identity();
  int i = warp * SEGMENT + lane * VN;
  if (view.count == TILE && !DIGITS) {
    constexpr int CHAINS = VN % RAKE_CHAINS ? 1 : RAKE_CHAINS, LINKS = VN / CHAINS;
    State sums[CHAINS];
    each_item<true, CHAINS>(view, i, [&](int j, State x, bool, Element) {
      sums[j / LINKS] = j % LINKS ? combine(sums[j / LINKS], x) : x;
    });
    sum = sums[0];
#pragma unroll
    for (int c = 1; c < CHAINS; c++) sum = combine(sum, sums[c]);
  } else
    each_item<false>(view, i, [&](int j, State x, bool, Element) { sum = j ? combine(sum, x) : x; });
  return sum;
}
// A lane's sums of digits, in the bin of the largest number of the segment; false if `lift` has to see that.
template <class E = Element>
__device__ __forceinline__ bool lane_digits(const View& view, int warp, int lane, State& sum) {
  if constexpr (DIGITS) {
    constexpr bool ORDERED = NULLS == BITS || NULLS == BYTES;
    auto numbers = [&](auto f) { each_element<1, ORDERED>(view, warp * SEGMENT + lane * VN, f); };
    sum = identity();
    return view.count == TILE && sum_digits(LaneNumbers<E>(numbers), sum);
  }
  return false;
}
// Lane l gets the combination of what lanes 0 to l have of a warp's items.
__device__ __forceinline__ State rake(const View& view, int warp, int lane) {
  State sum;
  if constexpr (DIGITS)
    if (lane_digits(view, warp, lane, sum)) return digits_scanned(sum, lane);
  return warp_scan(lane_reduce(view, warp, lane), lane);
}
__device__ __forceinline__ State segment_reduce(const View& view, int warp, int lane) {
  State sum;
  if constexpr (DIGITS) return warp_reduce(lane_digits(view, warp, lane, sum) ? sum : lane_reduce(view, warp, lane), lane);
  if constexpr (RAKES) return from_lane(rake(view, warp, lane), 31);
  return view.count == TILE ? segment_reduce<true>(view, warp, lane) : segment_reduce<false>(view, warp, lane);
}
// Where `rake` has left what each lane of a tile got, by word: else it is called again.
__device__ __forceinline__ void keep_lane(u32* lanes, int warp, int lane, const State& s) {
  StateWords w = words_of(s);
  u32* words = lanes + warp * 32 + lane;
#pragma unroll
  for (int k = 0; k < STATE_WORDS; k++) words[k * (32 * WARPS)] = w.word[k];
}
__device__ __forceinline__ State kept_lane(const u32* lanes, int warp, int lane) {
  StateWords w;
  const u32* words = lanes + warp * 32 + lane;
#pragma unroll
  for (int k = 0; k < STATE_WORDS; k++) w.word[k] = words[k * (32 * WARPS)];
  return state_of(w);
}
template <class Before, class E = Element>
__device__ __forceinline__ void raked_scan(const View& view, const Outputs& out, int warp, int lane, Before before,
                                           const u32* lanes) {
  int i = warp * SEGMENT + lane * VN;
  State so_far, earlier, run;
  if (!KEEPS_LANES) so_far = rake(view, warp, lane), earlier = from_earlier(so_far, 1);
  run = before();
  if (KEEPS_LANES) earlier = kept_lane(lanes, warp, lane ? lane - 1 : 0);
  if constexpr (DIGITS) {
    if (KEEPS_LANES) so_far = kept_lane(lanes, warp, 31);
    int bin = int(bin_in(run)), largest = int(__shfl_sync(ALL, bin_in(so_far), 31));
    if (view.count == TILE && largest <= bin && is_usual(bin)) {
      move_digits(earlier, bin);
      if (lane) unroll<SUMS<State>>([&](auto k) { sum_of<k.value>(run) += sum_of<k.value>(earlier); });
      Output y[VN];
      scan_digits(LaneNumbers<E>([&](auto f) { each_element(view, i, f); }), run, y);
      return write_items<true>(view, out, i, y);
    }
    // answers need each lane's own bin
    if (view.count == TILE && is_usual(largest)) earlier = from_earlier(warp_scan(lane_reduce(view, warp, lane), lane), 1);
  }
  run = choose(lane == 0, run, combine(run, earlier));
  Output answer = lower(run);
  auto next = [&](State x, bool missing, auto e) {
    if constexpr (FOLLOWS) {  // so states end here
      Output before = answer;
      if (!missing) answer = follow(answer, e);
      return MARK_NULLS && missing ? null_output() : EXCLUSIVE ? before : answer;
    }
    State after = combine(run, x);
    Output y = finalize(run, after, missing);
    run = after;
    return y;
  };
  if (view.count == TILE && !DIGITS) {
    Output y[VN];
    each_item<true>(view, i, [&](int j, State x, bool missing, Element e) { y[j] = next(x, missing, e); });
    write_items<true>(view, out, i, y);
  } else {
    each_item<false>(view, i,
                     [&](int j, State x, bool missing, Element e) { write_item(view, out, i + j, next(x, missing, e)); });
  }
}

// Scans a warp's items. `before()` is called once, as late as may be: it returns what comes before the first of them.
// `out` may be where the items are: a lane writes only what it has read.
template <bool WHOLE, class Before>
__device__ __forceinline__ void segment_scan(const View& view, const Outputs& out, int warp, int lane, Before before) {
  State run;
#pragma unroll 1
  for (int begin = 0; begin < ROWS; begin += GROUP) {
    int i = warp * SEGMENT + begin * ROW + lane * VN;
    State x[GROUP][VN], row[GROUP];
    u32 missing[GROUP];
#pragma unroll
    for (int r = 0; r < GROUP; r++) {
      missing[r] = read_items<WHOLE>(view, i + r * ROW, x[r]);
#pragma unroll
      for (int j = 1; j < VN; j++) x[r][j] = combine(x[r][j - 1], x[r][j]);
      row[r] = warp_scan(x[r][VN - 1], lane);
    }
    if (begin == 0) run = before();
#pragma unroll
    for (int r = 0; r < GROUP; r++) {
      State earlier = from_earlier(row[r], 1), first = choose(lane == 0, run, combine(run, earlier));
      earlier = first;
      run = combine(run, from_lane(row[r], 31));
      Output y[VN];
#pragma unroll
      for (int j = 0; j < VN; j++) {
        State after = combine(first, x[r][j]);
        y[j] = finalize(earlier, after, (missing[r] >> j) & 1);
        earlier = after;
      }
      write_items<WHOLE>(view, out, i + r * ROW, y);
    }
  }
}
template <class Before>
__device__ __forceinline__ void segment_scan(const View& view, const Outputs& out, int warp, int lane, Before before,
                                             const u32* lanes = nullptr) {
  if constexpr (RAKES) {
    raked_scan(view, out, warp, lane, before, lanes);
  } else if (view.count == TILE) {
    segment_scan<true>(view, out, warp, lane, before);
  } else {
    segment_scan<false>(view, out, warp, lane, before);
  }
}

// All lanes of a warp get the combination of all warps' aggregates, in order.
__device__ __forceinline__ State reduce_warps(const State (&aggregates)[WARPS], int lane) {
  if constexpr (FIRST_DIGIT<State> >= 0) return warp_reduce(lane < WARPS ? aggregates[lane] : identity(), lane);
  State s = aggregates[lane % WARPS];
#pragma unroll
  for (int distance = 1; distance < WARPS; distance *= 2) s = pair_up(s, distance, lane);
  return s;
}

// What comes before a warp's segment: what comes before its tile, and the aggregates of the earlier warps.
__device__ __forceinline__ State earlier_warps(State prefix, const State (&aggregates)[WARPS], int warp, int lane) {
  if constexpr (FIRST_DIGIT<State> >= 0)
    return warp_reduce(lane == WARPS ? prefix : lane < warp ? aggregates[lane] : identity(), lane);
  State sum = aggregates[0];
#pragma unroll (RAKES ? 1 : WARPS)
  for (int w = 1; w < (RAKES ? warp : WARPS); w++)
    if (w < warp) sum = combine(sum, aggregates[w]);
  return warp ? combine(prefix, sum) : prefix;
}
