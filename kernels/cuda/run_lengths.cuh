// The visitor of run-length encoding: marked items are starts of runs; each closes the run before it, whose length is known then.
//
// The engine's state is the number of starts and the last of them. Starts are listed in shared memory as compaction does.
// This file must never know what makes a run.
#pragma once

__device__ __forceinline__ State identity() { return State{}; }
__device__ __forceinline__ State combine(const State& a, const State& b) {
  return State{a.marked + b.marked, b.marked ? b.last : a.last};
}

__device__ __forceinline__ State segment_reduce(const Params& p, const View& view, u32& marks, int warp, int lane) {
  marks = segment_marks(p, view, warp, lane);
  int last = last_marked(marks, lane);
  return State{i64(warp_sum(__popc(marks))), view.first + warp * SEGMENT + last};
}

__device__ __forceinline__ void segment_write(const Params& p, const View& view, u32 marks, const State& before,
                                              u16* list, int warp, int lane) {
  int total = list_marked(marks, list, lane);
  i64 first = view.first + warp * SEGMENT;
  i64* starts = reinterpret_cast<i64*>(p.out[0]) + before.marked;
  i64* lengths = reinterpret_cast<i64*>(p.rest[0]) + before.marked;
  for (int k = lane; k < total; k += 32) {
    i64 start = first + list[k], previous = k ? first + list[k - 1] : before.last;
    starts[k] = start;
    if (k || before.marked) lengths[k - 1] = start - previous;
  }
}

// By one thread, once: what the last item decides.
__device__ __forceinline__ void finish(const Params& p, const State& all) {
  *p.carry_out = all;
  reinterpret_cast<i64*>(p.rest[0])[all.marked - 1] = p.length - all.last;
}
