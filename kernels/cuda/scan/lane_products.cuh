// Products of a lane's items (sequential_product.py) without a state for each. Fractions from 1 to below 2 are
// multiplied (32 of them have a product below 2^32), and exponents are added. Nothing is normalised in between, and the
// number and its power have the same bits as if it were. The logarithm of a product is the sum of the exponents and of
// the logarithm that is read from the bits of the product of fractions (Mitchell, 1962).
#pragma once

#include "float_bits.cuh"
#include "tile_items.cuh"

// The upper bits of a number: how many are below the exponent, all except the sign, and those of 1 and of infinity.
template <class B>
struct FloatForm {
  static constexpr int POINT = sizeof(B) == 8 ? 20 : 23, BIAS = sizeof(B) == 8 ? 1023 : 127;
  static constexpr u32 SIZE = 0x7FFFFFFF, ENDLESS = u32(2 * BIAS + 1) << POINT, ONE = u32(BIAS) << POINT;
  // Logarithms are integers: the upper bits without the lowest ones. The logarithms of zero and infinity are -FAR and
  // FAR, which no sum of others reaches.
  static constexpr int DROPPED = 8, UNIT = POINT - DROPPED, FAR = 1 << 29;
  static constexpr int APART = PRODUCT_APART << UNIT, STEP = PRODUCT_STEP;
  static constexpr int UP = 60;  // subnormal numbers times 2^UP are normal
};

// The product of items, one after another. Only with CAREFUL may items be zero, subnormal, infinite or NaN, or have
// partial products that are so far apart that they pass both limits.
template <class B, bool CAREFUL>
struct LaneProduct : FloatForm<B> {
  using F = FloatForm<B>;
  decltype(as_number(B())) fractions = 1;
  int power = -int(F::ONE >> F::DROPPED), most = 0, least = 0;  // the logarithm is `power` plus the bits of `fractions`
  u32 farthest = 0;                                          // the farthest exponent of an item

  static __device__ __forceinline__ int kept_near(int far) { return max(min(far, F::FAR), -F::FAR); }
  __device__ __forceinline__ int logarithm() const { return power + int((upper(as_bits(fractions)) & F::SIZE) >> F::DROPPED); }
  __device__ __forceinline__ void reaches(int highest, int lowest) {
    int before = most;
    most = max(most, highest);
    if (CAREFUL) most = min(most, least + F::APART);
    least = min(least, lowest);
    if (CAREFUL) least = max(least, before - F::APART);
  }
  __device__ __forceinline__ void times(B bits) {
    int more = 0;
    bool ends = false;
    if (CAREFUL && (upper(bits) & F::SIZE) < (1u << F::POINT)) {  // zero or subnormal
      bits = as_bits(as_number(bits) * (1ull << F::UP));
      ends = as_number(bits) == 0;
      more = ends ? -F::FAR : -(F::UP << F::UNIT);
    }
    if (CAREFUL && (upper(bits) & F::SIZE) >= F::ENDLESS) ends = true, more = F::FAR;
    u32 fraction = ends ? upper(bits) : (upper(bits) & ~F::ENDLESS) | F::ONE;
    int exponent = int(upper(bits) - fraction);
    if (!CAREFUL) farthest = max(farthest, u32(exponent) + (F::ONE - (1u << F::POINT)));
    fractions *= as_number(with_upper(bits, fraction));
    power += (exponent >> F::DROPPED) + more;
    if (CAREFUL) power = kept_near(power);
    int after = logarithm();
    reaches(after, after);
  }
  __device__ __forceinline__ void times(const LaneProduct& later) {
    int before = logarithm();
    reaches(before + later.most, before + later.least);
    fractions *= later.fractions;
    power += later.power + int(F::ONE >> F::DROPPED);
    if (CAREFUL) power = kept_near(power);
    farthest = max(farthest, later.farthest);
  }
  __device__ __forceinline__ bool is_usual() const { return farthest <= F::ENDLESS - (2u << F::POINT) && most - least <= F::APART; }

  // The state: its number and power are those of single items combined, and the limits of its partial products are at
  // least as close to those of the sequential product.
  template <class S>
  __device__ __forceinline__ S state() const {
    B bits = as_bits(fractions);
    int exponent = (power + int(F::ONE >> F::DROPPED)) >> F::UNIT, moved = 0;
    u32 size = upper(bits) & F::SIZE;
    float by = power < -F::FAR / 2 ? -1e30f : power > F::FAR / 2 ? 1e30f : 0;  // as FAR in sequential_product.py
    if (by == 0 && size - 1 < F::ENDLESS - 1) {
      constexpr int MANY = F::STEP << 10;
      moved = int(u32(exponent + int(size >> F::POINT) - F::BIAS + F::STEP / 2 + MANY) / F::STEP) * F::STEP - MANY;
      bits = with_upper(bits, upper(bits) + u32(exponent - moved) * (1u << F::POINT));
      by = moved;
    }
    constexpr float unit = 1.f / (1 << F::UNIT);
    return {bits, as_bits(by), as_bits(most * unit), as_bits(least * unit)};
  }
};

// The product of a lane's items of a row of a whole tile.
template <bool CAREFUL, class B, int CHAINS>
__device__ __forceinline__ LaneProduct<B, CAREFUL> product_of(const B (&items)[VN]) {
  LaneProduct<B, CAREFUL> parts[CHAINS];
#pragma unroll
  for (int turn = 0; turn < VN; turn++) parts[turn % CHAINS].times(items[turn % CHAINS * (VN / CHAINS) + turn / CHAINS]);
#pragma unroll
  for (int c = 1; c < CHAINS; c++) parts[0].times(parts[c]);
  return parts[0];
}
template <class E = Element, class S = State>
__device__ __forceinline__ S lane_product(const View& view, int i) {
  using B = decltype(E::f0);
  constexpr int CHAINS = VN % RAKE_CHAINS ? 1 : RAKE_CHAINS;
  B items[VN];
  each_element(view, i, [&](int j, const E& e, bool gone) { items[j] = gone ? as_bits(decltype(as_number(B()))(1)) : e.f0; });
  auto usual = product_of<false, B, CHAINS>(items);
  return usual.is_usual() ? usual.template state<S>() : product_of<true, B, CHAINS>(items).template state<S>();
}
