// Columns of a tile in shared memory: their layout, their copies, and reads of four neighbouring rows.
//
// A tile is cut into a segment for each warp, and a segment into rows of 128 items, four for each lane. The copy of a
// column starts at the 16-byte word of global memory that holds its first byte, so whole words are copied, with up to
// 15 unused bytes before or after those of the tile. If runs are selected, a copy has one more item before or after the
// tile.
#pragma once

constexpr int VN = 4;
constexpr int ROW = 32 * VN;
constexpr int SEGMENT = ROWS * ROW;
constexpr int TILE = WARPS * SEGMENT;

struct Params {
  const u8* in[COLUMNS];
  const u8* payload[OUTPUTS];  // gathered arrays that are not columns
  u8* out[OUTPUTS];
  u8* rest[OUTPUTS];
  u64* scratch;      // zeros: a ticket, then descriptors (lookback.cuh)
  Prefix* carry_out;  // after the last item
  i64 bit[COLUMNS];  // of item 0, where a column holds bits
  i64 length;
  i64 lines;  // 1
  i64 tiles;
  i64 continues;  // whether item 0 continues a run that began before it
  u64 seed[(sizeof(Prefix) + 7) / 8];
  union {  // scalars of a predicate, or numbers of an operator
    Scalars scalars;
    Numbers numbers;
  };
};

#include "stages.cuh"

__device__ __forceinline__ Place place_of(const Params& p, i64 tile) { return place_in_line(p.length, tile); }

template <int K>
__device__ constexpr int region_bytes() {
  return (Column<K>::BITS ? TILE / 8 + 2 : (TILE + 1) * int(sizeof(typename Column<K>::type))) + 32;
}
constexpr int STAGE = region_offset<COLUMNS>();

// The words that cover a column's bytes, and the place of the tile's item 0 in them, in bits if the column holds bits,
// else in bytes.
struct ColumnSource : Source {
  int skip;
};
template <int K>
__device__ __forceinline__ ColumnSource source_of(const Params& p, const Place& at) {
  int before = BEFORE && at.first > 0, after = AFTER && at.first + at.count < p.length;
  ColumnSource source;
  if constexpr (Column<K>::BITS) {
    i64 bit = p.bit[K] + at.first - before;
    source.from = p.in[K] + (bit >> 3);
    int bits = (int(bit) & 7) + before + at.count + after, shift = source.shift();
    source.cover((bits + 7) >> 3);
    source.skip = 8 * shift + (int(bit) & 7) + before;
  } else {
    constexpr int size = sizeof(typename Column<K>::type);
    source.from = p.in[K] + (at.first - before) * size;
    int shift = source.shift();
    source.cover((before + at.count + after) * size);
    source.skip = shift + before * size;
  }
  return source;
}

// A tile, described by one thread for all.
struct Tile {
  Place at;
  int skip[COLUMNS];
  bool border;  // the tile has the first item of all, in the direction in which runs are selected
  bool whole;   // and aligned: lanes may read their items in one access
};
__device__ __forceinline__ void describe(const Params& p, const Place& at, Tile& tile) {
  bool whole = at.count == TILE;
  unroll<COLUMNS>([&](auto k) {
    constexpr int K = k.value;
    tile.skip[K] = source_of<K>(p, at).skip;
    if constexpr (!Column<K>::BITS) whole = whole && tile.skip[K] % PIECE<VN, typename Column<K>::type> == 0;
  });
  tile.at = at;
  tile.border = AFTER ? at.first + at.count == p.length : at.first == 0;
  tile.whole = whole;
}

struct View {
  const u8* at[COLUMNS];  // item 0, or the first byte if the column holds bits
  int bit[COLUMNS];       // of item 0
  i64 first;
  int count;
  bool border, whole;
};
__device__ __forceinline__ View view_of(const Tile& tile, const u8* stage) {
  View view;
  view.first = tile.at.first;
  view.count = tile.at.count;
  view.border = tile.border;
  view.whole = tile.whole;
  unroll<COLUMNS>([&](auto k) {
    view.bit[k.value] = tile.skip[k.value];
    view.at[k.value] = stage + region_offset<k.value>() + (Column<k.value>::BITS ? 0 : tile.skip[k.value]);
  });
  return view;
}

// The place in memory of item i of the tile in the order of the scan.
__device__ __forceinline__ int in_memory(const View& view, int i) { return REVERSE ? view.count - 1 - i : i; }

template <int K>
__device__ __forceinline__ typename Column<K>::type read_one(const View& view, int at) {
  return reinterpret_cast<const typename Column<K>::type*>(view.at[K])[at];
}
// Items i to i + 3 in the order of the scan; items beyond the tile's last one are arbitrary. `whole` is that of the
// view.
template <int K>
__device__ __forceinline__ void read_four(const View& view, int i, typename Column<K>::type (&values)[VN], bool whole) {
  using T = typename Column<K>::type;
  if (whole) {
    T found[VN];
    read_vector<VN>(view.at[K] + in_memory(view, REVERSE ? i + VN - 1 : i) * int(sizeof(T)), found);
#pragma unroll
    for (int j = 0; j < VN; j++) values[j] = found[REVERSE ? VN - 1 - j : j];
  } else {
#pragma unroll
    for (int j = 0; j < VN; j++) values[j] = read_one<K>(view, REVERSE ? max(in_memory(view, i + j), 0) : i + j);
  }
}
// Whether a mask marks an item missing, by its place in memory.
template <int K>
__device__ __forceinline__ bool missing_one(const View& view, int at) {
  if constexpr (Column<K>::BITS) {
    int bit = view.bit[K] + at;
    return ((view.at[K][bit >> 3] >> (bit & 7)) & 1) == Column<K>::NULL_IS;
  } else {
    return read_one<K>(view, at) == Column<K>::NULL_IS;
  }
}
template <int K>
__device__ __forceinline__ u32 missing_four(const View& view, int i) {
  u32 found = 0;
#pragma unroll
  for (int j = 0; j < VN; j++) {
    int at = in_memory(view, i + j);
    found |= u32(missing_one<K>(view, REVERSE ? max(at, 0) : at)) << j;
  }
  return found;
}

// The bits of the first `n` of four items.
__device__ __forceinline__ u32 bits_of_first(int n) { return n >= VN ? 15u : n <= 0 ? 0u : (1u << n) - 1; }
// Bits of items i to i + 3 that exist.
__device__ __forceinline__ u32 present_four(const View& view, int i) { return bits_of_first(view.count - i); }

// The prefix of the first tile.
__device__ __forceinline__ Prefix seed_of(const Params& p) {
  Prefix s;
  memcpy(&s, p.seed, sizeof(Prefix));
  return s;
}

// All lanes get the tile's aggregate; `befores` gets the prefix of each warp within the tile.
__device__ __forceinline__ State warp_fold(const State (&aggregates)[WARPS], State (&befores)[WARPS], int lane) {
  State sum = warp_scan(lane < WARPS ? aggregates[lane % WARPS] : identity(), lane);
  State before = from_earlier(sum, 1);
  if (lane < WARPS) befores[lane] = choose(lane == 0, identity(), before);
  return from_lane(sum, 31);
}
