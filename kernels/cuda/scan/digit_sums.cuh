// Sums of digits (reproducible.py) of a lane's items. Once the bin of the largest number of a warp is known, all
// numbers are cut into digits at the same places, and no item needs a state. Adding 1.5 times a power of two rounds a
// number to a digit, which is an integer in the lower half of the sum's bits.
#pragma once

#include "float_bits.cuh"

constexpr int BIAS = 1023, FRACTION = 52;

struct Digits {
  int first, second, third;
};

// The addends that round numbers of a bin to each digit.
struct Cut {
  double at[3];
  __device__ __forceinline__ explicit Cut(int bin) {
    for (int k = 0; k < 3; k++) at[k] = 1.5 * power_of_two(FRACTION + DIGIT_WIDTH * (bin - k) - (BIAS - 1) - DIGIT_ORIGIN);
  }
  __device__ __forceinline__ Digits operator()(double x) const {
    double first = x + at[0], rest = x - (first - at[0]), second = rest + at[1], third = (rest - (second - at[1])) + at[2];
    return {__double2loint(first), __double2loint(second), __double2loint(third)};
  }
  static __device__ __forceinline__ double power_of_two(int power) { return __longlong_as_double(i64(BIAS + power) << FRACTION); }
};

// Functions of the bits of a float64 or float32: the number as float64; the upper bits without the sign, which are in
// the order of magnitudes; the exponent as in a float64, from such upper bits; and whether the number is infinite or
// NaN.
template <class B>
__device__ __forceinline__ double number_of(B bits) {
  return as_number(bits);
}
template <class B>
__device__ __forceinline__ u32 magnitude(B bits) {
  return upper(bits) & 0x7FFFFFFF;
}
__device__ __forceinline__ int exponent_of(u64, u32 most) { return int(most >> 20); }
__device__ __forceinline__ int exponent_of(u32, u32 most) { return __double2hiint(__uint_as_float(most)) >> 20; }
__device__ __forceinline__ bool is_endless(u64 bits) { return magnitude(bits) >= 0x7FF00000; }
__device__ __forceinline__ bool is_endless(u32 bits) { return magnitude(bits) >= 0x7F800000; }
__device__ __forceinline__ void put_number(u64& bits, double x) { bits = as_bits(x); }
__device__ __forceinline__ void put_number(u32& bits, double x) { bits = as_bits(float(x)); }

// A lane's items of a row; an item that is not added has the bits of zero.
template <class E>
struct LaneNumbers {
  decltype(E::f0) bits[VN];
  u32 missing = 0, added = 0;  // one bit for each item

  template <class Each>
  __device__ __forceinline__ explicit LaneNumbers(Each each) {
    each([&](int j, const E& e, bool gone) {
      bool kept = !gone && !(DIGITS_OF_FINITE && is_endless(e.f0));
      bits[j] = kept ? e.f0 : 0;
      missing |= u32(gone) << j;
      added |= u32(kept) << j;
    });
  }
  // The bin of the largest number of all lanes: at least 76 if one is infinite or NaN; -1 if all are zero or subnormal.
  __device__ __forceinline__ int largest_bin() const {
    u32 most = 0;
#pragma unroll
    for (int j = 0; j < VN; j++) most = max(most, magnitude(bits[j]));
    int exponent = exponent_of(bits[0], most_of_lanes(most));
    return exponent ? ((exponent + DIGIT_ORIGIN) * 2428) >> 16 : -1;  // as `bin_of`
  }
};
__device__ __forceinline__ bool is_usual(int bin) { return LOWEST_BIN <= bin && bin <= HIGHEST_BIN; }

template <class S>
__device__ __forceinline__ void add_digits(S& s, u32 count, Digits digits) {
  if constexpr (FIRST_DIGIT<S> > 0) s.f0 += count;
  digit_of<0>(s) += i64(digits.first), digit_of<1>(s) += i64(digits.second), digit_of<2>(s) += i64(digits.third);
}

// Adds items to a state without items; false if the largest number of the lanes is in a bin that needs `lift`.
template <class E, class S>
__device__ __forceinline__ bool sum_digits(const LaneNumbers<E>& numbers, S& sum) {
  int bin = numbers.largest_bin();
  if (!is_usual(bin)) return false;
  constexpr int TERMS = 16;  // so many digits of up to 2^26 have a sum of 32 bits
  constexpr int PARTS = (VN + TERMS - 1) / TERMS;
  Cut cut(bin);
  Digits sums[PARTS] = {};
#pragma unroll
  for (int j = 0; j < VN; j++) {
    Digits digits = cut(number_of(numbers.bits[j]));
    sums[j / TERMS].first += digits.first;
    sums[j / TERMS].second += digits.second;
    sums[j / TERMS].third += digits.third;
  }
  bin_in(sum) = bin;
#pragma unroll
  for (int k = 0; k < PARTS; k++) add_digits(sum, k ? 0 : __popc(numbers.added), sums[k]);
  return true;
}

// A sum of digits as two integers: in units of the first digit, and in units of the third, at first from -2^53 to below
// 2^53.
struct WholeSum {
  i64 high, low;
  double unit;  // of the third digit
  Cut cut;
  template <class S>
  __device__ __forceinline__ explicit WholeSum(S s)
      : unit(Cut::power_of_two(DIGIT_WIDTH * (int(bin_in(s)) - 2) - (BIAS - 1) - DIGIT_ORIGIN)), cut(int(bin_in(s))) {
    i64 third = i64(digit_of<2>(s)), up = third >> DIGIT_WIDTH, second = i64(digit_of<1>(s)) + up;
    i64 over = (second + (1 << (DIGIT_WIDTH - 1))) >> DIGIT_WIDTH;
    high = i64(digit_of<0>(s)) + over;
    low = ((second - (over << DIGIT_WIDTH)) << DIGIT_WIDTH) + (third - (up << DIGIT_WIDTH));
  }
  __device__ __forceinline__ void add(double x) {
    Digits digits = cut(x);
    high += digits.first;
    low += i64(digits.second) * (1 << DIGIT_WIDTH) + digits.third;
  }
  __device__ __forceinline__ double value() const {
    i64 over = (low + (i64(1) << (2 * DIGIT_WIDTH - 1))) >> (2 * DIGIT_WIDTH);
    double units = fma(double(high + over), double(i64(1) << (2 * DIGIT_WIDTH)), double(low - (over << (2 * DIGIT_WIDTH))));
    return units * unit;
  }
};

// The same as two float64, which takes a third of the steps: a multiple of 2^SPLIT units of the third digit, and a
// multiple of one unit. Both are exact for a sum that `fits` and 32 more numbers: the sum of their lower parts is at
// most 2^52 units.
struct FloatSum {
  static constexpr int SPLIT = 48;
  double high, low, cut_high, cut_low;
  static __device__ __forceinline__ bool fits(const WholeSum& sum) {
    constexpr i64 limit = i64(1) << (FRACTION - 1 - (2 * DIGIT_WIDTH - SPLIT));  // half of the exact range
    return -limit < sum.high && sum.high < limit;
  }
  __device__ __forceinline__ explicit FloatSum(const WholeSum& sum) {
    double units = double(i64(1) << SPLIT) * sum.unit;
    cut_high = 1.5 * double(i64(1) << FRACTION) * units, cut_low = 1.5 * double(i64(1) << FRACTION) * sum.unit;
    i64 upper = (sum.low + (i64(1) << (SPLIT - 1))) >> SPLIT;
    high = double((sum.high << (2 * DIGIT_WIDTH - SPLIT)) + upper) * units;
    low = double(sum.low - (upper << SPLIT)) * sum.unit;
  }
  __device__ __forceinline__ void add(double x) {
    double upper = (x + cut_high) - cut_high;
    high += upper;
    low += ((x - upper) + cut_low) - cut_low;
  }
  __device__ __forceinline__ double value() const { return high + low; }
};

// Scans items after the sum of `count` numbers; called by all lanes of a warp.
template <bool COUNTED, class Sum, class E, class Answer>
__device__ __forceinline__ void scan_onto(Sum sum, i64 count, const LaneNumbers<E>& numbers, Answer (&answers)[VN]) {
  auto value = [&] { return COUNTED ? __ddiv_rn(sum.value(), double(count)) : sum.value(); };
#pragma unroll
  for (int j = 0; j < VN; j++) {
    double answer = EXCLUSIVE ? value() : 0;
    sum.add(number_of(numbers.bits[j]));
    if (COUNTED) count += (numbers.added >> j) & 1;
    put_number(answers[j].f0, EXCLUSIVE ? answer : value());
    if (j % 4 == 3) __syncwarp();  // otherwise the compiler cuts all numbers first, and runs out of registers
  }
}
// Scans items after a state in a usual bin, which no item is above.
template <class E, class S, class Answer>
__device__ __forceinline__ void scan_digits(const LaneNumbers<E>& numbers, S state, Answer (&answers)[VN]) {
  static_assert(VN <= 32);
  constexpr bool COUNTED = FIRST_DIGIT<S> > 0;
  i64 count = COUNTED ? i64(sum_of<0>(state)) : 0;
  WholeSum sum(state);
  if (__all_sync(ALL, FloatSum::fits(sum)))
    scan_onto<COUNTED>(FloatSum(sum), count, numbers, answers);
  else
    scan_onto<COUNTED>(sum, count, numbers, answers);
#pragma unroll
  for (int j = 0; j < VN; j++)
    if (MARK_NULLS && (numbers.missing >> j) & 1) answers[j] = null_output();
}
