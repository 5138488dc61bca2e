// The visitor of compaction: selected items, or their positions, are written one after another to the output, and the
// other items, if they are wanted, to a second output. The count of earlier items gives the place of an item.
//
// A warp first lists the places of its selected items in shared memory, and then gathers the items in the list, with
// neighbours in neighbouring lanes, so that whole words of memory are written even if few items are selected. After
// Merrill and Garland, NVR-2016-002, 5.2.
#pragma once

__device__ __forceinline__ State identity() { return State{}; }
template <class Earlier>
__device__ __forceinline__ Earlier combine(const Earlier& a, const State& b) {
  return Earlier{a.selected + b.selected};
}

template <int N>
__device__ __forceinline__ typename Gathered<N>::type gathered(const Params& p, const View& view, int at) {
  using T = typename Gathered<N>::type;
  if constexpr (Gathered<N>::COLUMN >= 0)
    return read_one<Gathered<N>::COLUMN>(view, at);
  else if constexpr (Gathered<N>::POSITION)
    return T(view.first + at);
  else
    return reinterpret_cast<const T*>(p.payload[N])[view.first + at];
}

// Prefetches items that will be gathered later.
template <int N>
__device__ __forceinline__ void fetch(const Params& p, const View& view, int at) {
  using T = typename Gathered<N>::type;
  if constexpr (!Gathered<N>::POSITION)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(reinterpret_cast<const T*>(p.payload[N]) + view.first + at));
}

// Gathers outputs FIRST to FIRST + N - 1 of some items. All are read before any is written: otherwise the compiler
// would assume that a write may change the next read, and each read would wait.
template <int FIRST, int N, int ITEMS>
struct Batch : Batch<FIRST, N - 1, ITEMS> {
  typename Gathered<FIRST + N - 1>::type value[ITEMS];
};
template <int FIRST, int ITEMS>
struct Batch<FIRST, 0, ITEMS> {};
template <int FIRST, int N, int ITEMS>
__device__ __forceinline__ auto& values_of(Batch<FIRST, N, ITEMS>& batch) {
  return batch.value;
}

constexpr int AT_ONCE = 4;                                   // items of a lane in registers
constexpr int BATCH_BYTES = __CUDA_ARCH__ >= 900 ? 32 : 16;  // of one item, over the outputs of a batch

// The number of outputs of a batch that has N so far, and `left` bytes left.
template <int FIRST, int N = 0>
constexpr int batch_size(int left = BATCH_BYTES) {
  if constexpr (FIRST + N < OUTPUTS) {
    constexpr int size = sizeof(typename Gathered<FIRST + N>::type);
    return N && size > left ? N : batch_size<FIRST, N + 1>(left - size);
  } else {
    return N;
  }
}
// Calls f(first output, number of outputs) for each batch, with constants.
template <int FIRST = 0, class F>
__device__ __forceinline__ void each_batch(F f) {
  if constexpr (FIRST < OUTPUTS) {
    constexpr int N = batch_size<FIRST>();
    f(Int<FIRST>{}, Int<N>{});
    each_batch<FIRST + N>(f);
  }
}

__device__ __forceinline__ void gather_listed(const Params& p, const View& view, u8* const (&out)[OUTPUTS], i64 base,
                                            const u16* list, int total, int warp, int lane) {
  for (int begin = lane; begin < total; begin += 32 * AT_ONCE) {
    int at[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) at[i] = warp * SEGMENT + list[min(begin + 32 * i, total - 1)];
    each_batch([&](auto first, auto count) {
      constexpr int FIRST = first.value;
      Batch<FIRST, count.value, AT_ONCE> batch;
      unroll<count.value>([&](auto n) {
        auto& values = values_of<FIRST, n.value + 1, AT_ONCE>(batch);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) values[i] = gathered<FIRST + n.value>(p, view, at[i]);
      });
      unroll<count.value>([&](auto n) {
        using T = typename Gathered<FIRST + n.value>::type;
        T* to = reinterpret_cast<T*>(out[FIRST + n.value]) + base;
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
          if (begin + 32 * i < total) to[begin + 32 * i] = values_of<FIRST, n.value + 1, AT_ONCE>(batch)[i];
      });
    });
  }
}

// Selects a warp's items. If they are few, they are copied to `kept`, one for each lane, and the tile is not `held`.
__device__ __forceinline__ State segment_reduce(const Params& p, const View& view, Kept* kept, bool& held, int warp, int lane) {
  u32 selection = segment_selection(p, view, warp, lane);
  int total = int(warp_sum(__popc(selection)));
  held = SPLIT || total > 32;
  if (held) {
    kept[lane].selection = selection;
  } else if (total) {
    each_of_few(selection, lane, [&](int k, int place) {
      kept[k].selection = place;
      unroll<OUTPUTS>([&](auto n) {
        constexpr int N = n.value;
        if constexpr (Gathered<N>::COLUMN >= 0)
          Gathered<N>::saved(kept[k]) = gathered<N>(p, view, warp * SEGMENT + place);
        else
          fetch<N>(p, view, warp * SEGMENT + place);
      });
    });
  }
  return State{Count(total)};
}

__device__ __forceinline__ void segment_write(const Params& p, const View& view, Kept* kept, const State&,
                                              const Prefix& before, u16* list, int warp, int lane) {
  u32 selection = kept[lane].selection;
  each_list(selection, list, lane, [&](int earlier, int total) {
    gather_listed(p, view, p.out, before.selected + earlier, list, total, warp, lane);
  });
  if constexpr (SPLIT) {
    u32 others = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      others |= (present_four(view, warp * SEGMENT + r * ROW + lane * VN) & ~(selection >> (VN * r))) << (VN * r);
    i64 rest = view.first + warp * SEGMENT - before.selected;
    each_list(others, list, lane,
              [&](int earlier, int total) { gather_listed(p, view, p.rest, rest + earlier, list, total, warp, lane); });
  }
}
// The same for a segment of a tile that has left its stage.
__device__ __forceinline__ void kept_write(const Params& p, const View& view, const Kept* kept, const State& sum,
                                           const Prefix& before, u16*, int warp, int lane) {
  if (lane >= int(sum.selected)) return;
  each_batch([&](auto first, auto count) {
    constexpr int FIRST = first.value;
    Batch<FIRST, count.value, 1> batch;
    unroll<count.value>([&](auto n) {
      constexpr int N = FIRST + n.value;
      auto& value = values_of<FIRST, n.value + 1, 1>(batch)[0];
      if constexpr (Gathered<N>::COLUMN >= 0)
        value = Gathered<N>::saved(kept[lane]);
      else
        value = gathered<N>(p, view, warp * SEGMENT + int(kept[lane].selection));
    });
    unroll<count.value>([&](auto n) {
      using T = typename Gathered<FIRST + n.value>::type;
      reinterpret_cast<T*>(p.out[FIRST + n.value])[before.selected + lane] = values_of<FIRST, n.value + 1, 1>(batch)[0];
    });
  });
}

// Writes the results that depend on the last item; called once, by one thread.
__device__ __forceinline__ void finish(const Params& p, const Prefix& all) { *p.carry_out = all; }
