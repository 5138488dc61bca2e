// Sums of neighbouring windows, and the elements that continue a line beyond its ends.
#pragma once

// The index of the element for a place that is at most `radius` before the first or after the last element of a line;
// -1 for none.
__device__ __forceinline__ i64 source_of(i64 at, i64 length, const i64* edges, i64 radius) {
  if (u64(at) < u64(length)) return at;
  if (at < 0) return at < -radius ? -1 : edges[radius + at];
  return at < length + radius ? edges[radius + at - length] : -1;
}

// Sums of K neighbouring windows of `width` elements, at least K. The elements that they share are added up once, in
// two alternating sums; each window adds its other elements on both sides, so that nothing is subtracted.
template <int K, class Place, class Get>
__device__ __forceinline__ void window_sums(Sum (&sums)[K], Place width, Get get) {
  Sum shared = get(K - 1), other{};
  Place at = K;
#pragma unroll 4
  for (; at + 1 < width; at += 2) {
    other = other + get(at);
    shared = shared + get(at + 1);
  }
  if (at < width) other = other + get(at);
  shared = shared + other;
  sums[K - 1] = shared;
  Sum own{};
#pragma unroll
  for (int k = K - 2; k >= 0; k--) {
    own = own + get(k);
    sums[k] = own + shared;
  }
  own = Sum{};
#pragma unroll
  for (int k = 1; k < K; k++) {
    own = own + get(width + k - 1);
    sums[k] = sums[k] + own;
  }
}

// `number` is the number of elements of a box, or its reciprocal.
__device__ __forceinline__ Out mean_of(Sum total, Number number) {
  if constexpr (MULTIPLIES)
    return Out(total * number);
  else
    return Out(total / number);
}
