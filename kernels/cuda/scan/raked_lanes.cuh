// Large states are raked (Blelloch, CMU-CS-90-190, 1990): lanes reduce their items, the states of lanes are scanned
// once for a segment, which is one row, and then lanes scan their items from their prefixes. So an item is combined
// twice, no other states are needed, and few states are shuffled. If an answer follows from the previous one and an
// element (FOLLOWS), the second time needs no states at all.
#pragma once

#include "tile_items.cuh"
#include "digit_sums.cuh"
#include "lane_moments.cuh"
#include "lane_products.cuh"

// The combination of a lane's items.
__device__ __forceinline__ State lane_reduce(const View& view, int warp, int lane) {
  State sum = identity();
  int i = warp * SEGMENT + lane * VN;
  if (view.count == TILE && !DIGITS) {
    if constexpr (MULTIPLIES) return lane_product(view, i);
    if constexpr (MOMENTS) return lane_moments<State>(view, i);
    constexpr int CHAINS = VN % RAKE_CHAINS ? 1 : RAKE_CHAINS, LINKS = VN / CHAINS;
    State sums[CHAINS];
    each_item<true, CHAINS>(view, i, [&](int j, State x, bool, Element) {
      sums[j / LINKS] = j % LINKS ? combine(sums[j / LINKS], x) : x;
    });
    sum = sums[0];
#pragma unroll
    for (int c = 1; c < CHAINS; c++) sum = combine(sum, sums[c]);
  } else
    each_item<false>(view, i, [&](int j, State x, bool, Element) { sum = j ? combine(sum, x) : x; });
  return sum;
}
// A lane's sums of digits, in the bin of the largest number of the segment; false if that bin needs `lift`.
template <class E = Element>
__device__ __forceinline__ bool lane_digits(const View& view, int warp, int lane, State& sum) {
  if constexpr (DIGITS) {
    constexpr bool ORDERED = NULLS == BITS || NULLS == BYTES;
    auto numbers = [&](auto f) { each_element<1, ORDERED>(view, warp * SEGMENT + lane * VN, f); };
    sum = identity();
    return view.count == TILE && sum_digits(LaneNumbers<E>(numbers), sum);
  }
  return false;
}
// Lane l gets the combination of a warp's items that lanes 0 to l have.
__device__ __forceinline__ State rake(const View& view, int warp, int lane) {
  State sum;
  if constexpr (DIGITS)
    if (lane_digits(view, warp, lane, sum)) return digits_scanned(sum, lane);
  return warp_scan(lane_reduce(view, warp, lane), lane);
}
// The place where `rake` leaves the result of each lane, word by word; without it, `rake` is called again.
__device__ __forceinline__ void keep_lane(u32* lanes, int warp, int lane, const State& s) {
  StateWords w = words_of(s);
  u32* words = lanes + warp * 32 + lane;
#pragma unroll
  for (int k = 0; k < STATE_WORDS; k++) words[k * (32 * WARPS)] = w.word[k];
}
__device__ __forceinline__ State kept_lane(const u32* lanes, int warp, int lane) {
  StateWords w;
  const u32* words = lanes + warp * 32 + lane;
#pragma unroll
  for (int k = 0; k < STATE_WORDS; k++) w.word[k] = words[k * (32 * WARPS)];
  return state_of(w);
}
template <class Before, class E = Element, class S = State>
__device__ __forceinline__ void raked_scan(const View& view, const Outputs& out, int warp, int lane, Before before,
                                           const u32* lanes) {
  int i = warp * SEGMENT + lane * VN;
  State so_far, earlier, run;
  if (!KEEPS_LANES) so_far = rake(view, warp, lane), earlier = from_earlier(so_far, 1);
  run = before();
  if (KEEPS_LANES) earlier = kept_lane(lanes, warp, lane ? lane - 1 : 0);
  if constexpr (DIGITS) {
    if (KEEPS_LANES) so_far = kept_lane(lanes, warp, 31);
    int bin = int(bin_in(run)), largest = int(__shfl_sync(ALL, bin_in(so_far), 31));
    if (view.count == TILE && largest <= bin && is_usual(bin)) {
      move_digits(earlier, bin);
      if (lane) unroll<SUMS<State>>([&](auto k) { sum_of<k.value>(run) += sum_of<k.value>(earlier); });
      Output y[VN];
      scan_digits(LaneNumbers<E>([&](auto f) { each_element(view, i, f); }), run, y);
      return write_items<true>(view, out, i, y);
    }
    // answers need the bin of each lane
    if (view.count == TILE && is_usual(largest)) earlier = from_earlier(warp_scan(lane_reduce(view, warp, lane), lane), 1);
  }
  run = choose(lane == 0, run, combine(run, earlier));
  if constexpr (MOMENTS) {
    if (KEEPS_LANES) so_far = kept_lane(lanes, warp, lane);
    bool has_none = lane ? S(so_far).f0 == S(earlier).f0 : S(so_far).f0 == 0;
    if (view.count == TILE && (Moments(S(run)).count >= VN || has_none)) {
      Output y[VN];
      scan_moments(view, i, S(run), [&](int j, const S& after, bool missing) {
        y[j] = finalize(run, after, missing);
        run = after;
      });
      return write_items<true>(view, out, i, y);
    }
  }
  Output answer = lower(run);
  auto next = [&](State x, bool missing, auto e) {
    if constexpr (FOLLOWS) {  // no states are needed from here on
      Output before = answer;
      if (!missing) answer = follow(answer, e);
      return MARK_NULLS && missing ? null_output() : EXCLUSIVE ? before : answer;
    }
    State after = combine(run, x);
    Output y = finalize(run, after, missing);
    run = after;
    return y;
  };
  if (view.count == TILE && !DIGITS && !MOMENTS) {
    Output y[VN];
    each_item<true>(view, i, [&](int j, State x, bool missing, Element e) { y[j] = next(x, missing, e); });
    write_items<true>(view, out, i, y);
  } else {
    each_item<false>(view, i,
                     [&](int j, State x, bool missing, Element e) { write_item(view, out, i + j, next(x, missing, e)); });
  }
}
