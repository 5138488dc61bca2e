// The visitor of run-length encoding: selected items are the starts of runs; each ends the previous run, and so
// determines its length.
//
// The engine's state is the number of starts, and of items since the last start. Starts are listed in shared memory as
// in compaction.
#pragma once

__device__ __forceinline__ State identity() { return State{}; }
template <class Earlier>
__device__ __forceinline__ Earlier combine(const Earlier& a, const State& b) {
  return Earlier{a.selected + b.selected, b.selected ? b.open : a.open + b.open};
}

// The number of items of a warp's segment.
__device__ __forceinline__ int segment_count(const View& view, int warp) {
  return min(max(view.count - warp * SEGMENT, 0), SEGMENT);
}

// Selects a warp's items. The tile is never `held`: if items are few, their places are kept, one for each lane, else
// the bits of the lanes.
__device__ __forceinline__ State segment_reduce(const Params& p, const View& view, Kept* kept, bool& held, int warp, int lane) {
  u32 selection = segment_selection(p, view, warp, lane);
  int total = int(warp_sum(__popc(selection))), count = segment_count(view, warp);
  held = false;
  if (total == 0) return State{0, Count(count)};
  if (total > 32)
    kept[lane].selection = selection;
  else
    each_of_few(selection, lane, [&](int k, int place) { kept[k].selection = place; });
  return State{Count(total), Count(count - last_selected(selection, lane))};
}

using Index = Gathered<0>::type;
// Writes the start of a run, and the length of the run before it.
__device__ __forceinline__ void write_run(const Params& p, i64 place, i64 start, i64 length) {
  reinterpret_cast<Index*>(p.out[0])[place] = Index(start);
  if (place) reinterpret_cast<Index*>(p.rest[0])[place - 1] = Index(length);
}
__device__ __forceinline__ void kept_write(const Params& p, const View& view, const Kept* kept, const State& sum,
                                           const Prefix& before, u16* list, int warp, int lane) {
  i64 first = view.first + warp * SEGMENT;
  int at = kept[lane].selection;
  if (sum.selected <= 32) {
    if (lane < int(sum.selected))
      write_run(p, before.selected + lane, first + at, lane ? at - int(kept[lane - 1].selection) : before.open + at);
    return;
  }
  i64 open = before.open;
  int since = 0;  // the run before the list has `open` items, and the items from place `since` on
  each_list(at, list, lane, [&](int earlier, int total) {
    for (int k = lane; k < total; k += 32) {
      int place = list[k];
      write_run(p, before.selected + earlier + k, first + place, k ? place - list[k - 1] : open + (place - since));
    }
    open = 0, since = list[total - 1];
  });
}
__device__ __forceinline__ void segment_write(const Params&, const View&, Kept*, const State&, const Prefix&, u16*, int,
                                              int) {}

// Writes the results that depend on the last item; called once, by one thread.
__device__ __forceinline__ void finish(const Params& p, const Prefix& all) {
  *p.carry_out = all;
  reinterpret_cast<Index*>(p.rest[0])[all.selected - 1] = Index(all.open);
}
