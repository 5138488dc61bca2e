// Integers of 128 bits in two words, for decimals, and the functions that built-in operators need.
#pragma once

struct i128 {
  u64 low;
  i64 high;
};
__device__ __forceinline__ i128 plus(const i128& a, const i128& b) {
  u64 low = a.low + b.low;
  return {low, i64(u64(a.high) + u64(b.high) + u64(low < a.low))};
}
__device__ __forceinline__ bool less(const i128& a, const i128& b) {  // no branch
  return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}
__device__ __forceinline__ i128 pick(bool first, const i128& a, const i128& b) {  // no branch
  return {first ? a.low : b.low, first ? a.high : b.high};
}
