// The wavelet matrix of the places of values (Claude, Navarro and Ordonez, Information Systems 47, 2015), one level at
// a time, and queries for windows of rows. A word has the bits of 32 rows and, in its upper half, the number of rows
// before it that have a 0. On the next level, rows with a 0 come first, in their order, and then those with a 1.

template <class Row> struct Matrix {
  const Word* words;  // `stride` of them for each level
  const Row* zeros;  // of each level
  Row stride;
  int levels;

  // The number of rows before `row` that have a 0 on a level.
  __device__ Row zeros_before(int level, Row row) const {
    const Word word = words[level * stride + row / 32];
    const unsigned clear = ~unsigned(word) & ((1u << row % 32) - 1);
    return Row(word >> 32) + __popc(clear);
  }

  // The code at a place in the sorted codes of rows `low` to `high` - 1.
  __device__ unsigned select(Row low, Row high, Row place) const {
    unsigned code = 0;
    for (int level = 0; level < levels; ++level) {
      const Row first = zeros_before(level, low), last = zeros_before(level, high);
      const bool is_one = place >= last - first;
      low = is_one ? zeros[level] + low - first : first;
      high = is_one ? zeros[level] + high - last : last;
      place -= is_one ? last - first : 0;
      code = code << 1 | unsigned(is_one);
    }
    return code;
  }

  // The numbers of codes of rows `low` to `high` - 1 that are less than `code`, which is one of them, and equal to it.
  __device__ void count(Row low, Row high, unsigned code, Row& less, Row& equal) const {
    less = 0;
    for (int level = 0; level < levels && high - low > 1; ++level) {  // a single row is the row itself
      const Row first = zeros_before(level, low), last = zeros_before(level, high);
      const bool is_one = code >> (levels - 1 - level) & 1;
      less += is_one ? last - first : 0;
      low = is_one ? zeros[level] + low - first : first;
      high = is_one ? zeros[level] + high - last : last;
    }
    equal = high - low;
  }
};
