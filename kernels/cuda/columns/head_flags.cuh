// The visitor that writes whether each item is selected, as one byte. Nothing is counted, and no tile depends on
// earlier ones.
#pragma once

__device__ __forceinline__ State identity() { return State{}; }
template <class Earlier>
__device__ __forceinline__ Earlier combine(const Earlier& a, const State&) {
  return a;
}

__device__ __forceinline__ State segment_reduce(const Params& p, const View& view, Kept*, bool& held, int warp, int lane) {
  held = false;
  u32 selection = segment_selection(p, view, warp, lane);
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    int i = warp * SEGMENT + r * ROW + lane * VN;
    u32 mine = (selection >> (VN * r)) & 15;
    u8 *to = p.out[0] + view.first + i, flags[VN] = {u8(mine & 1), u8((mine >> 1) & 1), u8((mine >> 2) & 1), u8(mine >> 3)};
    if (i + VN <= view.count && aligned(to, VN)) {
      write_vector<VN>(to, flags);
    } else {
#pragma unroll
      for (int j = 0; j < VN; j++)
        if (i + j < view.count) to[j] = flags[j];
    }
  }
  return State{};
}
__device__ __forceinline__ void segment_write(const Params&, const View&, Kept*, const State&, const Prefix&, u16*, int,
                                              int) {}
__device__ __forceinline__ void kept_write(const Params&, const View&, const Kept*, const State&, const Prefix&, u16*, int, int) {}
__device__ __forceinline__ void finish(const Params&, const Prefix&) {}
