// Requests for the aggregates of many tiles at once, by a look-back warp of the pipelined schedules.
#pragma once

// Lane i gets the combination of the tiles before `tile` in block `block + i`, for i below WINDOW. BATCH blocks are
// requested at once, as many as registers allow. `turn()` is called before each wait: if many warps waited for the same
// few descriptors, their requests would delay the data.
template <class Turn>
__device__ __forceinline__ State of_blocks(const u64* tiles, i64 block, i64 tile, int lane, Turn turn) {
  State found = identity();
#pragma unroll 1
  for (int begin = 0; begin < WINDOW && (block + begin) * 32 < tile; begin += BATCH) {
    State batch[BATCH];
    i64 first = (block + begin) * 32 + lane;
    u32 absent = 0;
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      batch[i] = identity();
      absent |= u32(first + i * 32 < tile) << i;
    }
    for (;;) {
      Descriptor read[BATCH];  // all are requested before the first is used
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        if ((absent >> i) & 1) read[i].read(tiles + (first + i * 32) * DESCRIPTOR);
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        if ((absent >> i) & 1) absent ^= u32(read[i].says(batch[i])) << i;
      u32 rows = __reduce_or_sync(ALL, absent);
      if (!rows) break;
      turn();
      // wait for the last tile that is absent, then request all absent ones again
      int row = 31 - __clz(rows), last = 31 - __clz(__ballot_sync(ALL, (absent >> row) & 1));
      State ignored;
      if (lane == last)
        while (!peek(tiles + (first + row * 32) * DESCRIPTOR, ignored)) __nanosleep(20);
      __syncwarp();
    }
    State reduced;
    if constexpr (ADDS<State>) {
#pragma unroll
      for (int i = 0; i < BATCH; i++) reduced = choose(lane % BATCH == i, lanes_added(batch[i]), reduced);
    } else {
      reduced = from_lane(each_reduce<BATCH>(batch, lane), row_of_lane<BATCH>(lane % BATCH));
    }
    found = choose(lane / BATCH == begin / BATCH, reduced, found);
  }
  return found;
}

// Adds what `of_blocks` found to a walk towards a tile of block `target`. Returns `left`, the number of blocks before
// the target. If that is less than WINDOW, the walk has arrived, and lane `left` of `found` has the target's tiles.
template <class Base>
__device__ __forceinline__ i64 add_window(WalkOnto<Base>& walk, const State& found, i64 target, int lane) {
  i64 left = target - walk.block;
  walk.add(found, left < WINDOW ? target : walk.block + WINDOW, lane);
  return left;
}
