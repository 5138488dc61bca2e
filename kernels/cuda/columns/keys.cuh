// Whether two keys are the same. Nulls equal each other, NaN equal each other, and 0.0 equals -0.0.
#pragma once

__device__ __forceinline__ bool same_floats(u16 a, u16 b) {
  u32 x = a & 0x7fffu, y = b & 0x7fffu;
  return a == b || (x | y) == 0 || (x > 0x7c00u && y > 0x7c00u);
}
__device__ __forceinline__ bool same_floats(u32 a, u32 b) {
  float x = __uint_as_float(a), y = __uint_as_float(b);
  return x == y || (x != x && y != y);
}
__device__ __forceinline__ bool same_floats(u64 a, u64 b) {
  double x = __longlong_as_double(i64(a)), y = __longlong_as_double(i64(b));
  return x == y || (x != x && y != y);
}
__device__ __forceinline__ bool is_nan(u32 a) { return (a & 0x7fffffffu) > 0x7f800000u; }
__device__ __forceinline__ bool is_nan(u64 a) { return (a & ~(1ull << 63)) > 0x7ffull << 52; }
template <class T>
__device__ __forceinline__ bool same_complex(const T& a, const T& b) {  // a number with a NaN part is NaN
  bool nan_a = is_nan(a.part[0]) || is_nan(a.part[1]), nan_b = is_nan(b.part[0]) || is_nan(b.part[1]);
  return nan_a || nan_b ? nan_a && nan_b : same_floats(a.part[0], b.part[0]) && same_floats(a.part[1], b.part[1]);
}
__device__ __forceinline__ bool same_floats(const c64& a, const c64& b) { return same_complex(a, b); }
__device__ __forceinline__ bool same_floats(const c128& a, const c128& b) { return same_complex(a, b); }

template <class T>
__device__ __forceinline__ bool same_keys(const T& a, const T& b, bool no_a, bool no_b) {
  return no_a || no_b ? no_a == no_b : a == b;
}
template <class T>
__device__ __forceinline__ bool same_keys_as_floats(const T& a, const T& b, bool no_a, bool no_b) {
  return no_a || no_b ? no_a == no_b : same_floats(a, b);
}
