// Counts, means and sums of squared distances from the mean (`welford`) of a lane's items, without combining a state
// for each, which takes a division and a chain of steps. After Chan, Golub and LeVeque, "Algorithms for computing the
// sample variance" (The American Statistician 37, 1983).
#pragma once

#include "float_bits.cuh"
#include "tile_items.cuh"

struct Moments {
  double count, mean, spread;
  template <class S>
  __device__ __forceinline__ explicit Moments(const S& s) : count(as_number(s.f0)), mean(as_number(s.f1)), spread(as_number(s.f2)) {}
};
template <class S>
__device__ __forceinline__ S moments(double count, double mean, double spread) {
  return {as_bits(count), as_bits(mean), as_bits(spread)};
}
// sum / count by Newton's method, for a count that is an integer; the sum, which is zero, if the count is; NaN if the
// sum is infinite.
__device__ __forceinline__ double mean_of(double sum, double count) {
  double by = max(count, 1.0), inverse;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(by));
#pragma unroll
  for (int step = 0; step < 2; step++) inverse = fma(inverse, fma(-by, inverse, 1.0), inverse);
  double mean = sum * inverse;
  return fma(inverse, fma(-by, mean, sum), mean);
}

// The state of a lane's items of a row of a whole tile: first distances from the first item are added up, then
// distances from the mean.
template <class S>
__device__ __forceinline__ S lane_moments(const View& view, int i) {
  static_assert(VN <= 32);
  double apart[VN], origin = 0, sum = 0, spread = 0;
  u32 seen = 0;
  each_item<true>(view, i, [&](int j, const S& s, bool, const Element&) {
    Moments item(s);
    bool here = item.count != 0;
    if (j == 0) origin = item.mean;
    seen |= u32(here) << j;
    apart[j] = here ? item.mean - origin : 0;
    sum += apart[j];
  });
  double shift = mean_of(sum, __popc(seen));
#pragma unroll
  for (int j = 0; j < VN; j++) {
    double rest = (seen >> j) & 1 ? apart[j] - shift : 0;
    spread = fma(rest, rest, spread);
  }
  return moments<S>(__popc(seen), origin + shift, spread);
}

// Calls next(j, state, missing) for the states after each item of a lane. Distances are measured from the mean of the
// items before the lane, which loses at most one bit, as those are at least as many.
template <class S, class Next>
__device__ __forceinline__ void scan_moments(const View& view, int i, const S& before, Next next) {
  Moments earlier(before);
  double count = earlier.count, sum = 0, spread = earlier.spread;
  each_item<true>(view, i, [&](int j, const S& s, bool missing, const Element&) {
    Moments item(s);
    double apart = item.count != 0 ? item.mean - earlier.mean : 0;
    count += item.count, sum += apart;
    spread = fma(apart, apart, spread);
    double shift = mean_of(sum, count);
    next(j, moments<S>(count, earlier.mean + shift, fma(-sum, shift, spread)), missing);
  });
}
