// Selection: four bits for each row of a lane say which items are kept, or start or end a run.
//
// The conditions are generated: `is_selected` for a row of flags or of a predicate's inputs, `differs` for two rows of
// keys. The visitor decides what is done with selected items.
#pragma once

enum SelectionKind { ALONE, NEIGHBOURS, BITS };

__device__ __forceinline__ Key read_key(const View& view, int at) {
  Key key;
  unroll<KEYS>([&](auto k) {
    Field<k.value>::of(key) = read_one<k.value>(view, at);
    if constexpr (Field<k.value>::MASK >= 0) Field<k.value>::null(key) = missing_one<Field<k.value>::MASK>(view, at);
  });
  return key;
}

// The key of another lane.
__device__ __forceinline__ Key key_of_lane(const Key& key, int lane) {
  u32 words[(sizeof(Key) + 3) / 4] = {};
  memcpy(words, &key, sizeof(Key));
#pragma unroll
  for (u32& word : words) word = __shfl_sync(ALL, word, lane);
  Key other;
  memcpy(&other, words, sizeof(Key));
  return other;
}

// Selection of items i to i + 3 in the order of the scan; bit j is that of item i + j. Called by a whole warp: a lane
// gets the item next to its four from its neighbour, and the outermost lanes read theirs.
template <bool WHOLE>
__device__ __forceinline__ u32 selection_of(const Params& p, const View& view, int i, int lane) {
  Key keys[VN];
  unroll<KEYS>([&](auto k) {
    typename Column<k.value>::type values[VN];
    read_four<k.value>(view, i, values, WHOLE);
#pragma unroll
    for (int j = 0; j < VN; j++) Field<k.value>::of(keys[j]) = values[j];
    if constexpr (Field<k.value>::MASK >= 0) {
      u32 nulls = missing_four<Field<k.value>::MASK>(view, i);
#pragma unroll
      for (int j = 0; j < VN; j++) Field<k.value>::null(keys[j]) = (nulls >> j) & 1;
    }
  });
  u32 selection = 0;
  if constexpr (SELECTS == BITS && REVERSE) {
    selection = missing_four<VALUES>(view, i);
  } else if constexpr (SELECTS == BITS) {  // a tile begins with the first bit of a byte, so four items share a byte
    int bit = view.bit[VALUES] + i;
    selection = (view.at[VALUES][bit >> 3] >> (bit & 7)) & 15;
  } else if constexpr (SELECTS == ALONE) {
#pragma unroll
    for (int j = 0; j < VN; j++) selection |= u32(is_selected(p, keys[j])) << j;
  } else if constexpr (AFTER && !REVERSE) {  // selects the last items of runs
    Key edge = key_of_lane(keys[0], lane + 1);
    if (lane == 31) edge = read_key(view, min(i + VN, view.count - int(view.border)));
#pragma unroll
    for (int j = 0; j < VN; j++) selection |= u32(differs(keys[j], j + 1 < VN ? keys[j + 1 < VN ? j + 1 : 0] : edge)) << j;
    if (view.border) {
      int last = view.count - 1 - i;
      if (last >= 0 && last < VN) selection = (selection & ~(1u << last)) | u32(!p.continues) << last;
    }
  } else {  // selects the first items of runs
    Key edge = key_of_lane(keys[VN - 1], lane - 1);
    if (lane == 0) {
      int earlier = in_memory(view, max(i - 1, -int(!view.border)));
      edge = read_key(view, REVERSE ? max(earlier, 0) : earlier);
    }
#pragma unroll
    for (int j = 0; j < VN; j++) selection |= u32(differs(j ? keys[j ? j - 1 : 0] : edge, keys[j])) << j;
    if (view.border && i == 0) selection = (selection & ~1u) | u32(!p.continues);
  }
  return WHOLE || view.count == TILE ? selection : selection & present_four(view, i);
}

// Four bits a row.
template <bool WHOLE>
__device__ __forceinline__ u32 rows_selection(const Params& p, const View& view, int warp, int lane) {
  u32 selection = 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    selection |= selection_of<WHOLE>(p, view, warp * SEGMENT + r * ROW + lane * VN, lane) << (VN * r);
  return selection;
}
__device__ __forceinline__ u32 segment_selection(const Params& p, const View& view, int warp, int lane) {
  return view.whole ? rows_selection<true>(p, view, warp, lane) : rows_selection<false>(p, view, warp, lane);
}

// All lanes get the sum.
__device__ __forceinline__ u32 warp_sum(u32 n) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, n);
#else
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) n += __shfl_xor_sync(ALL, n, distance);
  return n;
#endif
}

// All lanes get the largest number.
__device__ __forceinline__ int warp_max(int n) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(ALL, n);
#else
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) n = max(n, __shfl_xor_sync(ALL, n, distance));
  return n;
#endif
}

// All lanes get the place of the last selected item of the segment, or -1.
__device__ __forceinline__ int last_selected(u32 selection, int lane) {
  int bit = 31 - __clz(selection);
  return warp_max(selection ? bit / VN * ROW + lane * VN + bit % VN : -1);
}

// The number of set bits of each of four rows, one byte for each row.
__device__ __forceinline__ u32 row_counts(u32 rows) {
  rows -= (rows >> 1) & 0x5555;
  rows = (rows & 0x3333) + ((rows >> 2) & 0x3333);
  rows = (rows | rows << 8) & 0x00ff00ff;
  return (rows | rows << 4) & 0x0f0f0f0f;
}
// The sums of the counts of lanes up to this one, one byte for each row, which has at most 128 items.
__device__ __forceinline__ u32 lanes_scanned(u32 counts, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    u32 earlier = __shfl_up_sync(ALL, counts, distance);
    if (lane >= distance) counts += earlier;
  }
  return counts;
}

// The number of selected items of the segment before each row of the lane.
struct Ranks {
  int row[ROWS];
  int total;
};
__device__ __forceinline__ Ranks rank(u32 selection, int lane) {
  constexpr int words = (ROWS + 3) / 4;
  Ranks ranks;
  ranks.total = 0;
#pragma unroll
  for (int w = 0; w < words; w++) {
    u32 mine = row_counts((selection >> (4 * VN * w)) & 0xffff), sum = lanes_scanned(mine, lane);
    u32 all = __shfl_sync(ALL, sum, 31);
    sum -= mine;
#pragma unroll
    for (int r = 4 * w; r < ROWS && r < 4 * w + 4; r++) {
      ranks.row[r] = ranks.total + int((sum >> (8 * (r & 3))) & 255);
      ranks.total += int((all >> (8 * (r & 3))) & 255);
    }
  }
  return ranks;
}

// Lists the places of selected items in the segment, some rows at a time, and calls f(items listed before, items
// listed).
template <class F>
__device__ __forceinline__ void each_list(u32 selection, u16* list, int lane, F f) {
  int earlier = 0;
#pragma unroll 1
  for (int begin = 0; begin < ROWS; begin += LISTED_ROWS) {
    u32 some = ROWS <= LISTED_ROWS ? selection : (selection >> (VN * begin)) & ((1u << (VN * LISTED_ROWS % 32)) - 1);
    if (!__any_sync(ALL, some)) continue;
    u32 counts = row_counts(some & 0xffff), sum = lanes_scanned(counts, lane);
    u32 all = __shfl_sync(ALL, sum, 31);
    sum -= counts;
    __syncwarp();  // the list may still be read
    int total = 0;
#pragma unroll
    for (int r = 0; r < LISTED_ROWS; r++) {
      int next = total + int((sum >> (8 * r)) & 255);
      total += int((all >> (8 * r)) & 255);
#pragma unroll
      for (int j = 0; j < VN; j++)
        if ((some >> (VN * r + j)) & 1) list[next++] = u16((begin + r) * ROW + lane * VN + j);
    }
    __syncwarp();
    f(earlier, total);
    earlier += total;
  }
}

// Calls f(rank, place) for the lane's selected items, if at most 255 are selected in the segment.
template <class F>
__device__ __forceinline__ void each_of_few(u32 selection, int lane, F f) {
  u32 earlier = 0;
#pragma unroll
  for (int begin = 0; begin < ROWS; begin += 4) {
    u32 some = (selection >> (VN * begin)) & 0xffff, sum = lanes_scanned(row_counts(some), lane);
    u32 all = __shfl_sync(ALL, sum, 31);
    u32 next = sum + all * 0x01010100 + earlier * 0x01010101;  // where the ranks of this lane's items of each row end
    while (some) {
      int bit = 31 - __clz(some), row = bit / VN;
      some ^= 1u << bit;
      next -= 1u << (8 * row);
      f(int((next >> (8 * row)) & 255), (begin + row) * ROW + lane * VN + bit % VN);
    }
    earlier += (all * 0x01010101) >> 24;
  }
}
