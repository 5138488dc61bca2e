// States of sums of digits (reproducible.py) in the lanes of a warp: once all are in the bin of the largest, digits are
// integers, which can be added in any order.
#pragma once

template <class S>
constexpr int SUMS = FIRST_DIGIT<S> + 3;  // a count, if there is one, and the digits
template <int K, class S>
__device__ __forceinline__ u64& sum_of(S& s) {
  if constexpr (K == 0)
    return s.f0;
  else if constexpr (K == 1)
    return s.f1;
  else if constexpr (K == 2)
    return s.f2;
  else
    return s.f3;
}
template <int K, class S>
__device__ __forceinline__ u64& digit_of(S& s) {
  return sum_of<FIRST_DIGIT<S> + K>(s);
}
template <class S>
__device__ __forceinline__ u32& bin_in(S& s) {
  if constexpr (SUMS<S> == 3)
    return s.f3;
  else
    return s.f4;
}

// Moves digits to a bin that is not below theirs. Digits below the third are dropped.
template <class S>
__device__ __forceinline__ void move_digits(S& s, int bin) {
  int gap = bin - int(bin_in(s));
  u64 first = digit_of<0>(s), second = digit_of<1>(s), third = digit_of<2>(s);
  digit_of<2>(s) = gap == 0 ? third : gap == 1 ? second : gap == 2 ? first : 0;
  digit_of<1>(s) = gap == 0 ? second : gap == 1 ? first : 0;
  digit_of<0>(s) = gap == 0 ? first : 0;
  bin_in(s) = u32(bin);
}

#if __CUDA_ARCH__ >= 800
template <class T>
__device__ __forceinline__ T most_of_lanes(T x) { return __reduce_max_sync(ALL, x); }
__device__ __forceinline__ u64 total_of_lanes(u64 x) {
  constexpr int PART = 27;  // the sum of 32 numbers of 27 bits has 32 bits
  constexpr u32 MASK = (1 << PART) - 1;
  u32 low = __reduce_add_sync(ALL, u32(x) & MASK), middle = __reduce_add_sync(ALL, u32(x >> PART) & MASK);
  return (u64(__reduce_add_sync(ALL, u32(x >> 2 * PART))) << 2 * PART) + (u64(middle) << PART) + low;
}
#else
template <class T>
__device__ __forceinline__ T most_of_lanes(T x) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) x = max(x, __shfl_xor_sync(ALL, x, distance));
  return x;
}
__device__ __forceinline__ u64 total_of_lanes(u64 x) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) x += __shfl_xor_sync(ALL, x, distance);
  return x;
}
#endif

// All lanes get the combination of the warp's states.
template <class S>
__device__ __forceinline__ S digits_reduced(S s) {
  move_digits(s, most_of_lanes(int(bin_in(s))));
  unroll<SUMS<S>>([&](auto k) { sum_of<k.value>(s) = total_of_lanes(sum_of<k.value>(s)); });
  return s;
}
// Lane l gets the combination of the states of lanes 0 to l, which are all in one bin.
template <class S>
__device__ __forceinline__ S digits_scanned(S s, int lane) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2)
    unroll<SUMS<S>>([&](auto k) {
      u64 earlier = __shfl_up_sync(ALL, sum_of<k.value>(s), distance);
      sum_of<k.value>(s) += lane >= distance ? earlier : 0;
    });
  return s;
}
