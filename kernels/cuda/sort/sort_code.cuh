// Codes of keys: unsigned integers of the same size and in the same order, which a sort cuts into digits.
//
// The keys themselves are moved; codes are computed where digits are read. -0.0 has the code of 0.0. NaN and NaT have
// the highest code, or with NULLS_FIRST the lowest, in both directions.
#pragma once

constexpr int KEY_BITS = 8 * sizeof(Key);
constexpr Key SIGN = Key(Key(1) << (KEY_BITS - 1));

__device__ __forceinline__ Key code_of(Key key) {
  if constexpr (FLOATS) {
    if (Key(key & Key(~SIGN)) > Key(INFINITE)) return NULLS_FIRST ? Key(0) : Key(~Key(0));
    if (key == SIGN) key = 0;
    key = key & SIGN ? Key(~key) : Key(key | SIGN);
    return DESCENDING ? Key(~key) : key;
  }
  if constexpr (SIGNED || TIMES) key ^= SIGN;
  if constexpr (DESCENDING) key = Key(~key);
  if constexpr (TIMES) key += DESCENDING == NULLS_FIRST ? (NULLS_FIRST ? 1 : -1) : 0;
  return key;
}

constexpr int BINS = 256;

__device__ __forceinline__ u32 digit_of(Key key, int shift) { return u32(code_of(key) >> shift) & (BINS - 1); }
