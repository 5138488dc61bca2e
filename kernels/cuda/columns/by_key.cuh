// The visitor of reductions and scans by key: an operator's state that restarts at each selected item.
//
// The engine's state is the number of selected items, and the operator's state since the last of them. A lane scans its
// four items of a row, the states of lanes are scanned back to the last selected item, and rows are scanned in order.
#pragma once

template <class T>
struct WordsOf {
  u32 word[(sizeof(T) + 3) / 4];
};
template <class T, class F>
__device__ __forceinline__ T each_word(const T& a, const T& b, F f) {
  WordsOf<T> x = {}, y = {};
  memcpy(&x, &a, sizeof(T));
  memcpy(&y, &b, sizeof(T));
#pragma unroll
  for (int i = 0; i < int(sizeof(x) / 4); i++) x.word[i] = f(x.word[i], y.word[i]);
  T both;
  memcpy(&both, &x, sizeof(T));
  return both;
}
__device__ __forceinline__ op::State pick(bool first, const op::State& a, const op::State& b) {
  return each_word(a, b, [=](u32 x, u32 y) { return first ? x : y; });
}
__device__ __forceinline__ op::State lane_up(const op::State& s, int distance) {
  return each_word(s, s, [=](u32 x, u32) { return __shfl_up_sync(ALL, x, distance); });
}
__device__ __forceinline__ op::State lane_xor(const op::State& s, int distance) {
  return each_word(s, s, [=](u32 x, u32) { return __shfl_xor_sync(ALL, x, distance); });
}
__device__ __forceinline__ op::State lane_at(const op::State& s, int lane) {
  return each_word(s, s, [=](u32 x, u32) { return __shfl_sync(ALL, x, lane); });
}

__device__ __forceinline__ State identity() {
  State s;
  s.selected = 0;
  s.open = op::identity();
  return s;
}
template <class Earlier>
__device__ __forceinline__ Earlier combine(const Earlier& a, const State& b) {
  Earlier both;
  both.selected = a.selected + b.selected;
  both.open = pick(b.selected, b.open, op::combine(a.open, b.open));
  return both;
}

// Reads items i to i + 3 in the order of the scan; items that are missing, beyond the end or not wanted have the
// identity.
__device__ __forceinline__ u32 read_states(const View& view, int i, op::State (&states)[VN], u32 wanted = 15) {
  op::Element e[VN];
  unroll<VALUES>([&](auto k) {
    typename Column<KEYS + k.value>::type values[VN];
    read_four<KEYS + k.value>(view, i, values, view.whole);
#pragma unroll
    for (int j = 0; j < VN; j++) op::In<k.value>::of(e[j]) = values[j];
  });
  u32 missing = 0;
  if constexpr (VALUE_MASK >= 0) missing = missing_four<VALUE_MASK >= 0 ? VALUE_MASK : 0>(view, i);
  u32 present = view.count < TILE ? present_four(view, i) : 15;
#pragma unroll
  for (int j = 0; j < VN; j++) {
    if constexpr (IN_BAND) missing |= u32(op::is_missing(e[j])) << j;
    states[j] = pick(((present & wanted & ~missing) >> j) & 1, op::lift(e[j]), op::identity());
  }
  return missing & present;
}

constexpr int TOGETHER = sizeof(op::State) <= 8 ? ROWS : 1;  // rows in registers

// All lanes get the combination of their states in the order of the lanes.
__device__ __forceinline__ op::State lanes_reduced(op::State sum, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    op::State other = lane_xor(sum, distance);
    bool later = lane & distance;
    sum = op::combine(pick(later, other, sum), pick(later, sum, other));
  }
  return sum;
}

// The combination of a segment's items from place `first` up to `end`, exclusive. If the order does not matter, lanes
// are combined only at the end, and keep VN states, so that additions do not wait for each other.
__device__ __forceinline__ op::State reduce_between(const View& view, int first, int end, int warp, int lane) {
  constexpr int KEPT = COMMUTES ? VN : 1;
  op::State sums[KEPT];
#pragma unroll
  for (op::State& sum : sums) sum = op::identity();
#pragma unroll TOGETHER
  for (int r = 0; r < ROWS; r++) {
    if ((r + 1) * ROW <= first || r * ROW >= end) continue;
    op::State x[VN];
    int place = r * ROW + lane * VN;
    read_states(view, warp * SEGMENT + place, x, bits_of_first(end - place) & ~bits_of_first(first - place));
    if constexpr (COMMUTES) {
#pragma unroll
      for (int j = 0; j < VN; j++) sums[j] = op::combine(sums[j], x[j]);
    } else {
#pragma unroll
      for (int j = 1; j < VN; j++) x[0] = op::combine(x[0], x[j]);
      sums[0] = op::combine(sums[0], lanes_reduced(x[0], lane));
    }
  }
#pragma unroll
  for (int j = 1; j < KEPT; j++) sums[0] = op::combine(sums[0], sums[j]);
  return COMMUTES ? lanes_reduced(sums[0], lane) : sums[0];
}

// Scans a segment's items from state `run` on. `write` gets four items at a time: row and place of the first, bits of
// the selected and of the missing ones, and the states before and after each. Returns the state after the last item.
template <class Write>
__device__ __forceinline__ op::State scan_segment(const View& view, u32 selection, op::State run, int warp, int lane,
                                                  Write write) {
#pragma unroll TOGETHER
  for (int r = 0; r < ROWS; r++) {
    int place = r * ROW + lane * VN;
    u32 mine = (selection >> (VN * r)) & 15;
    op::State x[VN];
    u32 missing = read_states(view, warp * SEGMENT + place, x);
#pragma unroll
    for (int j = 1; j < VN; j++) x[j] = pick((mine >> j) & 1, x[j], op::combine(x[j - 1], x[j]));
    u32 lanes = __ballot_sync(ALL, mine);
    int since = lane - (31 - __clz(lanes & (ALL >> (31 - lane))));  // lanes since the last selected item
    op::State sum = x[VN - 1];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      op::State earlier = lane_up(sum, distance);
      sum = pick(lane >= distance && since >= distance, op::combine(earlier, sum), sum);
    }
    op::State before[VN], after[VN];
    before[0] = lane_up(sum, 1);
    bool restarted = lanes & ((1u << lane) - 1);
    before[0] = pick(lane == 0, run, pick(restarted, before[0], op::combine(run, before[0])));
    op::State all = lane_at(sum, 31);
    run = pick(lanes, all, op::combine(run, all));
#pragma unroll
    for (int j = 0; j < VN; j++) {
      if (j) before[j] = after[j ? j - 1 : 0];
      after[j] = pick(mine & ((2u << j) - 1), x[j], op::combine(before[0], x[j]));
    }
    write(r, place, mine, missing, before, after);
  }
  return run;
}

// Selects and reduces a warp's items. If few selected items close runs, a reduction copies the states of these runs to
// `kept`, one for each lane, and the tile is not `held`.
__device__ __forceinline__ State segment_reduce(const Params& p, const View& view, Kept* kept, bool& held, int warp, int lane) {
  u32 selection = segment_selection(p, view, warp, lane);
  State sum;
  int total = int(warp_sum(__popc(selection)));
  sum.selected = total;
  held = !REDUCES || total > 32;
  if (held) kept[lane].selection = selection;
  if (held || total == 0) {
    sum.open = reduce_between(view, total ? last_selected(selection, lane) : 0, SEGMENT, warp, lane);
  } else if (COMMUTES && total <= ROWS) {  // run by run
    each_of_few(selection, lane, [&](int next, int place) { kept[next].selection = place; });
    __syncwarp();
    int first = 0;
#pragma unroll 1
    for (int k = 0; k <= total; k++) {
      int end = k < total ? int(kept[k].selection) : SEGMENT;
      sum.open = reduce_between(view, first, end, warp, lane);
      if (k < total && lane == 0) kept[k].open = sum.open;
      first = end;
    }
  } else if constexpr (REDUCES) {
    Ranks ranks = rank(selection, lane);
    sum.open = scan_segment(view, selection, op::identity(), warp, lane,
                            [&](int r, int place, u32 mine, u32, const op::State(&before)[VN], const op::State(&)[VN]) {
                              int next = ranks.row[r];
#pragma unroll
                              for (int j = 0; j < VN; j++)
                                if ((mine >> j) & 1) {
                                  kept[next].selection = place + j;
                                  kept[next++].open = before[j];
                                }
                            });
  }
  return sum;
}

__device__ __forceinline__ void write_result(const Params& p, i64 at, op::Output result) {
  unroll<OUTPUTS>([&](auto k) {
    using T = typename op::Out<k.value>::type;
    reinterpret_cast<T*>(p.out[k.value])[at] = op::Out<k.value>::of(result);
  });
}

// Writes what a scan answers for items i to i + 3.
__device__ __forceinline__ void write_four(const Params& p, const View& view, int i, op::Output (&results)[VN]) {
  unroll<OUTPUTS>([&](auto k) {
    using T = typename op::Out<k.value>::type;
    u8* to = p.out[k.value] + (view.first + (REVERSE ? view.count - VN - i : i)) * i64(sizeof(T));
    if (i + VN <= view.count && aligned(to, PIECE<VN, T>)) {
      T values[VN];
#pragma unroll
      for (int j = 0; j < VN; j++) values[REVERSE ? VN - 1 - j : j] = op::Out<k.value>::of(results[j]);
      write_vector<VN>(to, values);
    } else {
#pragma unroll
      for (int j = 0; j < VN; j++)
        if (i + j < view.count)
          reinterpret_cast<T*>(p.out[k.value])[view.first + in_memory(view, i + j)] = op::Out<k.value>::of(results[j]);
    }
  });
}

// Writes that a run starts at `start`, and the state of the run that it closes.
__device__ __forceinline__ void finalize_run(const Params& p, i64 place, i64 start, const op::State& closed) {
  if (STARTS) reinterpret_cast<i64*>(p.rest[0])[place] = start;
  if (place) write_result(p, place - 1, op::lower(closed));
}

// The runs that a row closes are put next to each other in `kept` before they are written.
__device__ __forceinline__ void segment_write(const Params& p, const View& view, Kept* kept, const State&,
                                              const Prefix& before_all, u16*, int warp, int lane) {
  u32 selection = kept[lane].selection;
  if constexpr (REDUCES) {
    Ranks ranks = rank(selection, lane);
    i64 first = view.first + warp * SEGMENT;
    scan_segment(view, selection, before_all.open, warp, lane,
                 [&](int r, int place, u32 mine, u32, const op::State(&before)[VN], const op::State(&)[VN]) {
                   int earlier = __shfl_sync(ALL, ranks.row[r], 0);
                   int later = r + 1 < ROWS ? __shfl_sync(ALL, ranks.row[r + 1 < ROWS ? r + 1 : 0], 0) : ranks.total;
#pragma unroll 1
                   for (int begin = earlier; begin < later; begin += 32) {
                     int at = ranks.row[r] - begin;
                     __syncwarp();  // `kept` may still be read
#pragma unroll
                     for (int j = 0; j < VN; j++)
                       if ((mine >> j) & 1) {
                         if (at >= 0 && at < 32) kept[at].selection = place + j, kept[at].open = before[j];
                         at++;
                       }
                     __syncwarp();
                     if (begin + lane < later)
                       finalize_run(p, before_all.selected + begin + lane, first + kept[lane].selection, kept[lane].open);
                   }
                 });
  } else {
    scan_segment(view, selection, before_all.open, warp, lane,
                 [&](int, int place, u32 mine, u32 missing, const op::State(&before)[VN], const op::State(&after)[VN]) {
                   op::Output results[VN];
                   if (IN_BAND && missing && p.rest[0]) *p.rest[0] = 1;
#pragma unroll
                   for (int j = 0; j < VN; j++) {
                     bool selected = (mine >> j) & 1;
                     results[j] = op::answer<EXCLUSIVE>(pick(selected, op::identity(), before[j]), after[j]);
                     if (MARK_NULLS && ((missing >> j) & 1)) results[j] = op::null_output();
                   }
                   write_four(p, view, warp * SEGMENT + place, results);
                 });
  }
}
// The same for a segment of a tile that has left its stage.
__device__ __forceinline__ void kept_write(const Params& p, const View& view, const Kept* kept, const State& sum,
                                           const Prefix& before, u16*, int warp, int lane) {
  if constexpr (REDUCES) {
    if (lane >= int(sum.selected)) return;
    op::State closed = lane ? kept[lane].open : op::combine(before.open, kept[lane].open);
    finalize_run(p, before.selected + lane, view.first + warp * SEGMENT + kept[lane].selection, closed);
  }
}

// Writes the results that depend on the last item; called once, by one thread.
__device__ __forceinline__ void finish(const Params& p, const Prefix& all) {
  *p.carry_out = all;
  if constexpr (REDUCES) write_result(p, all.selected - 1, op::lower(all.open));
}
