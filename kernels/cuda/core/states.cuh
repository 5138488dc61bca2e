// States among the lanes of a warp: shuffles, ordered reductions, and the inclusive scan.
//
// Every combination keeps the earlier state on the left, so operators need not commute, and its order depends on lane
// numbers alone.
#pragma once

constexpr u32 ALL = 0xffffffffu;

#include "digit_states.cuh"

template <class Shuffle>
__device__ __forceinline__ State shuffled(const State& s, Shuffle shuffle) {
  StateWords w = words_of(s);
#pragma unroll
  for (int i = 0; i < STATE_WORDS; i++) w.word[i] = shuffle(w.word[i]);
  return state_of(w);
}
__device__ __forceinline__ State from_lane(const State& s, int lane) {
  return shuffled(s, [=](u32 w) { return __shfl_sync(ALL, w, lane); });
}
__device__ __forceinline__ State from_partner(const State& s, int distance) {
  return shuffled(s, [=](u32 w) { return __shfl_xor_sync(ALL, w, distance); });
}
__device__ __forceinline__ State from_earlier(const State& s, int distance) {
  return shuffled(s, [=](u32 w) { return __shfl_up_sync(ALL, w, distance); });
}

__device__ __forceinline__ State choose(bool first, const State& a, const State& b) {
  StateWords x = words_of(a), y = words_of(b);
#pragma unroll
  for (int i = 0; i < STATE_WORDS; i++) x.word[i] = first ? x.word[i] : y.word[i];
  return state_of(x);
}

// One step of a butterfly: both lanes of the pair that differs in bit `distance` get the two states combined in order.
__device__ __forceinline__ State pair_up(const State& s, int distance, int lane) {
  State other = from_partner(s, distance);
  bool later = lane & distance;
  return combine(choose(later, other, s), choose(later, s, other));
}

// All lanes get the sum of the warp's states, for states that are counts (ADDS); from sm_80 on.
__device__ __forceinline__ State lanes_added(const State& s) {
#if __CUDA_ARCH__ >= 800
  StateWords w = words_of(s);
  w.word[0] = __reduce_add_sync(ALL, w.word[0]);
  return state_of(w);
#else
  return s;
#endif
}

// All lanes get the combination of the warp's states in the order of the lanes.
template <class S>
__device__ __forceinline__ S warp_reduce(S s, int lane) {
  if constexpr (ADDS<State>) return lanes_added(s);
  if constexpr (FIRST_DIGIT<S> >= 0) return digits_reduced(s);
  constexpr int at_once = STATE_WORDS > 4 ? 1 : 5;  // unrolled steps: large states need short code
#pragma unroll at_once
  for (int distance = 1; distance < 32; distance *= 2) s = pair_up(s, distance, lane);
  return s;
}

// Reduces R rows at once, each over all lanes as warp_reduce does; lane l gets row `row_of_lane<R>(l)`. In the first
// steps a lane keeps half of its rows and exchanges the others, so that R rows cost little more than one.
template <int R, int DISTANCE = 1>
__device__ __forceinline__ State each_reduce(State (&rows)[R], int lane) {
  if constexpr (R == 1) {
    State s = rows[0];
#pragma unroll
    for (int distance = DISTANCE; distance < 32; distance *= 2) s = pair_up(s, distance, lane);
    return s;
  } else {
    State half[R / 2];
    bool later = lane & DISTANCE;  // this lane keeps the second half of the rows
#pragma unroll
    for (int i = 0; i < R / 2; i++) {
      State keep = choose(later, rows[i + R / 2], rows[i]);
      State other = from_partner(choose(later, rows[i], rows[i + R / 2]), DISTANCE);
      half[i] = combine(choose(later, other, keep), choose(later, keep, other));
    }
    return each_reduce<R / 2, 2 * DISTANCE>(half, lane);
  }
}
// The row that a lane below R gets, and the lane that gets a row: the bits of the number are reversed.
template <int R>
__device__ __forceinline__ int row_of_lane(int lane) {
  constexpr int bits = R == 1 ? 0 : R == 2 ? 1 : R == 4 ? 2 : R == 8 ? 3 : R == 16 ? 4 : 5;
  return bits ? int(__brev(u32(lane)) >> ((32 - bits) & 31)) : 0;
}

// All lanes get the combination of rows[0] of all lanes, then rows[1] of all lanes, and so on.
template <int R>
__device__ __forceinline__ State rows_reduce(State (&rows)[R], int lane) {
  State s = each_reduce<R>(rows, lane);
#pragma unroll
  for (int distance = R / 2; distance; distance /= 2) s = pair_up(s, distance, lane);
  return s;
}

// Lane l gets the combination of the states of lanes 0 to l.
__device__ __forceinline__ State warp_scan(State s, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    State earlier = from_earlier(s, distance);
    if (lane >= distance) s = combine(earlier, s);
  }
  return s;
}
