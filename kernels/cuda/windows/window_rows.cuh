// The rows of windows, and their values in the form in which they are kept.

#define INFINITE __longlong_as_double(0x7ff0000000000000)

// A value in the form in which it is kept: zeros have one sign, so that their order does not matter.
__device__ double kept(double value) { return isfinite(value) ? value + 0.0 : INFINITE; }

__device__ long long clip(long long value, long long least, long long most) { return min(max(value, least), most); }

// The rows of window `j`: of the `width` rows from j + `shift` on, those within its bounds, or within all rows.
struct Bounds {
  const long long* starts;
  const long long* stops;
  long long rows, shift;
  int width;

  __device__ void of(long long j, long long& first, long long& last) const {
    const long long least = starts ? clip(starts[j], 0, rows) : 0, most = stops ? clip(stops[j], least, rows) : rows;
    first = clip(j + shift, least, most);
    last = clip(j + shift + width, first, most);
  }
};
