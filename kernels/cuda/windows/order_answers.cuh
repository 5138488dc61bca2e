// The answers for a window, given its sorted values, with the same bits as on CPUs.

typedef unsigned long long Word;

enum Kind { QUANTILE, RANK, DISTINCT };

struct Asked {
  int kind;
  double first, second;  // of a quantile, q; of a rank, the addend and the factor
  int way;               // the interpolation of a quantile
  int ascending, pct;    // of a rank
  long long least;
};

__device__ double null() { return __longlong_as_double(0x7ff8000000000000); }

// The position of a quantile between two values, as a share, for an interpolation (`options.INTERPOLATIONS`).
__device__ double share_of(int way, double share, Word place) {
  if (way == 0 || share == 0.0) return share;
  if (way == 1) return 0.0;
  if (way == 2) return 1.0;
  if (way == 3) return 0.5;
  return share > 0.5 || (share == 0.5 && place % 2) ? 1.0 : 0.0;
}

// The quantile of `found` values; `at` gives the value at a place in their order.
template <class At> __device__ double quantile(double q, int way, Word found, At at) {
  const double exact = q * double(found - 1);
  const Word place = Word(exact);
  const double share = share_of(way, exact - double(place), place);
  const double value = at(place + (share == 1.0));
  if (!(share > 0.0 && share < 1.0)) return value;
  const double other = at(place + 1);
  return way == 3 ? (value + other) / 2.0 : value + (other - value) * share;
}

// The rank of a value among `found` values: `less` of them are less, and `equal` are equal, the value included.
__device__ double rank(double added, double share, int ascending, int pct, Word found, Word less, Word equal) {
  const Word before = ascending ? less : found - less - equal;
  const double place = double(before) + added + share * double(equal);
  return pct ? place / double(found) : place;
}
