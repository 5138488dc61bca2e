// The items of a tile: their addresses, and how a lane reads, lifts and writes those of a row.
#pragma once

#include "swizzle.cuh"

constexpr int ROW = 32 * VN;
constexpr int SEGMENT = ROWS * ROW;
constexpr int TILE = WARPS * SEGMENT;

#include "stages.cuh"

constexpr int group_rows(int rows, int words) { return rows > 1 && rows * words > GROUP_WORDS ? group_rows(rows / 2, words) : rows; }
constexpr int GROUP = group_rows(ROWS, VN * STATE_WORDS);  // rows that are scanned at the same time

struct Params {
  const u8* in[INPUTS];
  u8* out[OUTPUTS];
  const u8* mask;         // validity bits, or bytes
  u64* scratch;           // zeros: a ticket, then descriptors (lookback.cuh); null if every block has one tile
  const State* carry_in;  // a state for each line; or null, for `seed` on every line
  State* carry_out;       // a state for each line
  i64 mask_offset;        // of item 0, in bits or bytes
  i64 length;             // items of a line
  i64 lines;
  i64 tiles;  // of a line
  i64 inner;  // lines side by side, which is the distance between neighbours in a line
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

// A tile of one of many lines; `first` is an index into the arrays.
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

// The addresses of a tile: those of the item that is first in memory, whatever the direction of the scan.
struct View {
  const u8* in[INPUTS];
  const u8* mask;
  int bit;  // of the first item in mask[0]
  int null;
  int count;
  bool vectors;  // whether lanes may read their items of a row in one access
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

// Reads a lane's items of a row in as few accesses as possible; in any order unless ORDERED.
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

// One item of the arrays.
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

// Calls f(j, element, missing) for a lane's items of a row of a whole tile, item i of the tile and its VN - 1
// successors: in the order of the scan; or in turn for each of CHAINS parts of them; or in any order unless ORDERED.
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

// Calls f(j, state, missing, element) in the same way. Unless the tile is WHOLE, items beyond the end have the
// identity, as missing items have; if states are raked, f is not called for them.
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

// A lane's items of a row as states, which are read, scanned and written.
template <bool WHOLE>
struct StateItems {
  static constexpr int AT_ONCE = GROUP;  // rows
  State state[VN];
  u32 missing;  // a bit for each

  __device__ __forceinline__ void read(const View& view, int i) {
    missing = 0;
    each_item<WHOLE>(view, i, [&](int j, const State& s, bool gone, const Element&) {
      state[j] = s;
      if (MARK_NULLS) missing |= u32(gone) << j;
    });
  }
  // Returns the combination of all states.
  __device__ __forceinline__ State reduce() const {
    State s = state[0];
#pragma unroll
    for (int j = 1; j < VN; j++) s = combine(s, state[j]);
    return s;
  }
  // The same; each state becomes the combination of all up to it.
  __device__ __forceinline__ State scan() {
#pragma unroll
    for (int j = 1; j < VN; j++) state[j] = combine(state[j - 1], state[j]);
    return state[VN - 1];
  }
  __device__ __forceinline__ void write(const View& view, const Outputs& out, int i, const State& before) const {
    State earlier = before;
    Output y[VN];
#pragma unroll
    for (int j = 0; j < VN; j++) {
      State after = combine(before, state[j]);
      y[j] = finalize(earlier, after, (missing >> j) & 1);
      earlier = after;
    }
    write_items<WHOLE>(view, out, i, y);
  }
};
