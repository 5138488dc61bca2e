// The visitor of run-length encoding: marked items are starts of runs; each closes the run before it, whose length is known then.
//
// The engine's state is the number of starts and the last of them. Starts are listed in shared memory as compaction does.
// This file must never know what makes a run.
#pragma once

__device__ __forceinline__ State identity() { return State{}; }
__device__ __forceinline__ State combine(const State& a, const State& b) {
  return State{a.marked + b.marked, b.marked ? b.last : a.last};
}

// Marks a warp's items. If they are few, their places are copied to `kept`, one a lane, and the tile is not `held`.
__device__ __forceinline__ State segment_reduce(const Params& p, const View& view, Kept* kept, bool& held, u16* list,
                                                int warp, int lane) {
  u32 marks = segment_marks(p, view, warp, lane);
  int total = int(warp_sum(__popc(marks)));
  if (total == 0) {
    held = false;
    return State{};
  }
  int last = last_marked(marks, lane);
  held = total > 32;
  if (held) {
    kept[lane].marks = marks;
  } else {
    list_marked(marks, list, lane);
    if (lane < total) kept[lane].marks = list[lane];
  }
  return State{total, view.first + warp * SEGMENT + last};
}

__device__ __forceinline__ void write_run(const Params& p, const State& before, int k, i64 start, i64 previous) {
  i64 place = before.marked + k;
  reinterpret_cast<i64*>(p.out[0])[place] = start;
  if (place) reinterpret_cast<i64*>(p.rest[0])[place - 1] = start - previous;
}
__device__ __forceinline__ void segment_write(const Params& p, const View& view, const Kept* kept, const State&,
                                              const State& before, u16* list, int warp, int lane) {
  int total = list_marked(kept[lane].marks, list, lane);
  i64 first = view.first + warp * SEGMENT;
  for (int k = lane; k < total; k += 32)
    write_run(p, before, k, first + list[k], k ? first + list[k - 1] : before.last);
}
// The same for a segment whose tile is gone.
__device__ __forceinline__ void kept_write(const Params& p, const View& view, const Kept* kept, const State& sum,
                                           const State& before, int warp, int lane) {
  if (lane >= sum.marked) return;
  i64 first = view.first + warp * SEGMENT;
  write_run(p, before, lane, first + kept[lane].marks, lane ? first + kept[lane - 1].marks : before.last);
}

// By one thread, once: what the last item decides.
__device__ __forceinline__ void finish(const Params& p, const State& all) {
  *p.carry_out = all;
  reinterpret_cast<i64*>(p.rest[0])[all.marked - 1] = p.length - all.last;
}
