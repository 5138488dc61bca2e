// Sums of neighbouring windows, and the elements that continue a line beyond its ends.
#pragma once

// The element of a line to use for a place, which is at most `radius` before its first or behind its last; -1 for none.
__device__ __forceinline__ i64 source_of(i64 at, i64 length, const i64* edges, i64 radius) {
  if (u64(at) < u64(length)) return at;
  if (at < 0) return at < -radius ? -1 : edges[radius + at];
  return at < length + radius ? edges[radius + at - length] : -1;
}

// Sums of K neighbouring windows of `width` elements, K at least. What they share is added up once, by two sums in turn;
// each adds what is its own on either side, so that nothing is subtracted.
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

// `number` is that of the elements of a box, or one over it.
__device__ __forceinline__ Out mean_of(Sum total, Number number) {
  if constexpr (MULTIPLIES)
    return Out(total * number);
  else
    return Out(total / number);
}
