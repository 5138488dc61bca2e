// Lines side by side (an axis that is not the last): panels of ACROSS * VN lines are cut into chunks, which pass states
// on down the lines. If lines are few, ACROSS lanes of a warp have a row of all of them, and the next lanes have rows
// further down.
//
// Chunks are taken by ticket, the first chunks of all panels first, so the predecessor of a chunk is done long before
// it is needed. The prefix of a chunk is its predecessor's prefix and aggregate, so every run gives the same bits. If
// there are few panels, the predecessor is not done in time: then chunks look back at the aggregates of their group of
// 32, and only groups pass prefixes on.
#pragma once

constexpr int FEW_PANELS = 32;

constexpr int BESIDE = 32 / ACROSS;             // patches of a warp, one below the other
constexpr int PANEL = ACROSS * VN;              // lines
constexpr int SEATS = PANEL < 32 ? 32 : PANEL;  // threads that pass prefixes on, in whole warps
constexpr int CHUNK = WARPS * BESIDE * DEPTH;   // items of each line
static_assert(SEATS <= WARPS * 32 && VN * DEPTH <= 64);

// The items of a lane: `rows` times `columns`, at most VN neighbours in each of DEPTH rows.
struct Patch {
  i64 first;  // the first item, in the arrays
  i64 step;   // to the next row
  int rows, columns;
  bool vectors;  // whether a row may be read and written in one access
  __device__ __forceinline__ bool has(int row, int column) const { return row < rows && column < columns; }
};

template <class T>
__device__ __forceinline__ bool rows_aligned(const Params& p, const u8* data) {
  return p.inner % VN == 0 && aligned(data, PIECE<VN, T>);
}

// Reads a complete row, which allows one access.
__device__ __forceinline__ void read_row(const Params& p, const Patch& patch, int i, Element (&e)[VN]) {
  unroll<INPUTS>([&](auto k) {
    using T = typename In<k.value>::type;
    T values[VN];
    read_vector<VN>(p.in[k.value] + (patch.first + i * patch.step) * i64(sizeof(T)), values);
#pragma unroll
    for (int j = 0; j < VN; j++) In<k.value>::of(e[j]) = values[j];
  });
}
__device__ __forceinline__ void write_row(const Params& p, const Patch& patch, int i, Output (&y)[VN]) {
  if (patch.vectors && patch.has(i, VN - 1)) {
    unroll<OUTPUTS>([&](auto k) {
      using T = typename Out<k.value>::type;
      T values[VN];
#pragma unroll
      for (int j = 0; j < VN; j++) values[j] = Out<k.value>::of(y[j]);
      write_vector<VN>(p.out[k.value] + (patch.first + i * patch.step) * i64(sizeof(T)), values);
    });
  } else {
#pragma unroll
    for (int j = 0; j < VN; j++)
      if (patch.has(i, j)) write_output(p.out, patch.first + i * patch.step + j, y[j]);
  }
}

// The combination of the `count` chunks before a chunk in its group; their descriptors are `step` words apart.
__device__ __forceinline__ State before_in_group(const u64* chain, i64 step, int count, bool wanted) {
  State earlier = identity();
#pragma unroll 1
  for (int left = count; left > 0; left -= 4) {
    Awaited a(chain - left * step, wanted), b(chain - (left - 1) * step, wanted && left > 1);
    Awaited c(chain - (left - 2) * step, wanted && left > 2), d(chain - (left - 3) * step, wanted && left > 3);
    State first = a.wait();
    earlier = left == count ? first : combine(earlier, first);
    if (left > 1) earlier = combine(earlier, b.wait());
    if (left > 2) earlier = combine(earlier, c.wait());
    if (left > 3) earlier = combine(earlier, d.wait());
  }
  return earlier;
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  __shared__ i64 next;
  __shared__ State sums[WARPS][SEATS];
  __shared__ State seeds[WARPS][SEATS];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, across = lane % ACROSS, beside = lane / ACROSS;
  i64 panels = (p.inner + PANEL - 1) / PANEL, side = p.lines / p.inner * panels;
  Patch patch;
  patch.step = REVERSE ? -p.inner : p.inner;
  patch.vectors = true;
  unroll<INPUTS>([&](auto k) {
    patch.vectors = patch.vectors && rows_aligned<typename In<k.value>::type>(p, p.in[k.value]);
  });
  if constexpr (WRITE)
    unroll<OUTPUTS>([&](auto k) {
      patch.vectors = patch.vectors && rows_aligned<typename Out<k.value>::type>(p, p.out[k.value]);
    });
  if (threadIdx.x == 0) next = take_ticket(p, true);
  __syncthreads();
  while (next < side * p.tiles) {
    i64 chunk = next / side, panel = next % side, group = panel / panels;
    i64 begin = chunk * CHUNK + (warp * BESIDE + beside) * DEPTH;
    i64 left = panel % panels * PANEL, column = left + across * VN;  // first column of the panel, and of this lane
    patch.rows = int(p.length - begin < DEPTH ? p.length - begin : DEPTH);
    patch.columns = int(p.inner - column < VN ? p.inner - column : VN);
    patch.first = (group * p.length + (REVERSE ? p.length - 1 - begin : begin)) * p.inner + column;
    State x[DEPTH][VN];
    u64 missing = 0;
    auto take = [&](int i, int j, const Element& e) {
      bool gone = false;
      if constexpr (NULLS == IN_BAND) gone = is_missing(e);
      if constexpr (NULLS == BITS || NULLS == BYTES)
        gone = is_masked(p.mask, p.mask_offset + patch.first + i * patch.step + j, int(p.null));
      x[i][j] = lift(e);
      if constexpr (NULLS != NO_NULLS) x[i][j] = choose(gone, identity(), x[i][j]);
      missing |= u64(gone) << (i * VN + j);
    };
    if (patch.vectors && patch.has(DEPTH - 1, VN - 1)) {
      Element e[DEPTH][VN];
#pragma unroll
      for (int i = 0; i < DEPTH; i++) read_row(p, patch, i, e[i]);
#pragma unroll
      for (int i = 0; i < DEPTH; i++)
#pragma unroll
        for (int j = 0; j < VN; j++) take(i, j, e[i][j]);
    } else {
#pragma unroll
      for (int i = 0; i < DEPTH; i++)
#pragma unroll
        for (int j = 0; j < VN; j++) {
          x[i][j] = identity();
          if (patch.has(i, j)) take(i, j, read_element(p.in, patch.first + i * patch.step + j));
        }
    }
    State above[VN];  // of the warp's patches above this one
#pragma unroll
    for (int j = 0; j < VN; j++) {
      State sum = x[0][j];
#pragma unroll
      for (int i = 1; i < DEPTH; i++) sum = combine(sum, x[i][j]);
#pragma unroll
      for (int distance = ACROSS; distance < 32; distance *= 2) {
        State earlier = from_earlier(sum, distance);
        if (lane >= distance) sum = combine(earlier, sum);
      }
      if constexpr (WRITE && BESIDE > 1) above[j] = from_earlier(sum, ACROSS);
      if (beside == BESIDE - 1) sums[warp][across * VN + j] = sum;
    }
    __syncthreads();
    if (threadIdx.x < SEATS) {
      bool mine = threadIdx.x < PANEL && left + threadIdx.x < p.inner;
      i64 line = group * p.inner + left + threadIdx.x;
      State total = sums[0][threadIdx.x];
#pragma unroll
      for (int w = 1; w < WARPS; w++) total = combine(total, sums[w][threadIdx.x]);
      i64 step = p.lines * DESCRIPTOR;
      u64* chain = p.scratch + 2 + (chunk * p.lines + line) * DESCRIPTOR;
      State prefix = identity();
      if (side < FEW_PANELS) {
        if (mine && chunk < p.tiles - 1) publish(chain, total);
        u64* group = p.scratch + 2 + p.tiles * step + ((chunk >> 5) * p.lines + line) * DESCRIPTOR;
        State earlier = before_in_group(chain, step, int(chunk & 31), mine);
        prefix = Awaited(group - step, mine && chunk >= 32).wait();
        if (chunk < 32 && mine) prefix = carry_into(p, line);
        if (chunk & 31) prefix = combine(prefix, earlier);
        total = combine(prefix, total);
        if (mine && chunk < p.tiles - 1 && (chunk & 31) == 31) publish(group, total);
      } else {
        prefix = Awaited(chain - step, mine && chunk > 0).wait();
        if (chunk == 0 && mine) prefix = carry_into(p, line);
        total = combine(prefix, total);
        if (mine && chunk < p.tiles - 1) publish(chain, total);
      }
      if (mine && chunk == p.tiles - 1) p.carry_out[line] = total;
#pragma unroll
      for (int w = 0; w < WARPS; w++) {
        seeds[w][threadIdx.x] = prefix;
        prefix = combine(prefix, sums[w][threadIdx.x]);
      }
    }
    if (threadIdx.x == 0) next = take_ticket(p, false);  // the ticket is in flight while this chunk is written
    __syncthreads();
    if constexpr (WRITE) {
      State before[VN];
#pragma unroll
      for (int j = 0; j < VN; j++) {
        before[j] = seeds[warp][across * VN + j];
        if (beside > 0) before[j] = combine(before[j], above[j]);
      }
#pragma unroll
      for (int i = 0; i < DEPTH; i++) {
        Output y[VN];
#pragma unroll
        for (int j = 0; j < VN; j++) {
          State after = combine(before[j], x[i][j]);
          y[j] = finalize(before[j], after, (missing >> (i * VN + j)) & 1);
          before[j] = after;
        }
        write_row(p, patch, i, y);
      }
    }
  }
}
