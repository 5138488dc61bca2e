// What a tile of columns needs beside the look-back: the first tile's seed, and its warps' aggregates folded in order.
#pragma once

__device__ __forceinline__ Prefix seed_of(const Params& p) {
  Prefix s;
  memcpy(&s, p.seed, sizeof(Prefix));
  return s;
}

// All lanes get the tile's aggregate; `befores` gets what comes before each warp within the tile.
__device__ __forceinline__ State warp_fold(const State (&aggregates)[WARPS], State (&befores)[WARPS], int lane) {
  State sum = warp_scan(lane < WARPS ? aggregates[lane % WARPS] : identity(), lane);
  State before = from_earlier(sum, 1);
  if (lane < WARPS) befores[lane] = choose(lane == 0, identity(), before);
  return from_lane(sum, 31);
}
