// Load-balancing search: the place of a step in the path that merges two ordered lists (Green, McColl, Bader, GPU Merge
// Path, ICS 2012). A whole warp searches: each round chooses one of 33 parts of the remaining range.
#pragma once

// The number of true things among `count`, where all true ones come first. All lanes get the answer; it is from 0 to
// `count` whatever the order.
template <class Is>
__device__ __forceinline__ i64 count_true(i64 count, Is is) {
  const int lane = threadIdx.x & 31;
  i64 known = 0;
  while (count > 0) {
    const i64 step = (count + 31) / 32, last = (lane + 1) * step - 1;
    const i64 done = __popc(__ballot_sync(~0u, last < count && is(known + last))) * step;
    known += done;
    count = min(count - done, step - 1);
  }
  return known;
}
