// Moves of vectors of neighbouring values that differ from those in words.cuh. In shared memory, lanes with vectors in
// the same banks access the pieces in different orders, so that there are no bank conflicts. Stores to global memory
// bypass the caches.
#pragma once

// Eight lanes access a bank at once. Without exchanges, lanes 0 and 4 would conflict if a vector has two pieces, and
// lanes 0, 2, 4 and 6 if it has four. More than eight pieces, or another number, are accessed in order.
constexpr bool exchanges(int pieces) { return pieces > 1 && pieces <= 8 && !(pieces & (pieces - 1)); }
template <int PIECES>
__device__ __forceinline__ int piece_to_begin_with() {
  return exchanges(PIECES) ? int(threadIdx.x % 32) * PIECES / 8 % PIECES : 0;
}
// Moves chunks[i] to chunks[i ^ by].
template <class C, int PIECES>
__device__ __forceinline__ void exchange(C (&chunks)[PIECES], int by) {
  constexpr int words = sizeof(C) / 4;
  if constexpr (exchanges(PIECES)) {
#pragma unroll
    for (int bit = 1; bit < PIECES; bit *= 2)
#pragma unroll
      for (int i = 0; i < PIECES; i++)
        if (!(i & bit)) {
          u32 a[words], b[words];
          memcpy(a, &chunks[i], sizeof(C));
          memcpy(b, &chunks[i | bit], sizeof(C));
#pragma unroll
          for (int w = 0; w < words; w++) {
            u32 first = by & bit ? b[w] : a[w], second = by & bit ? a[w] : b[w];
            a[w] = first, b[w] = second;
          }
          memcpy(&chunks[i], a, sizeof(C));
          memcpy(&chunks[i | bit], b, sizeof(C));
        }
  }
}

// As read_vector and write_vector; pieces stay in the order in which they were read unless ORDERED.
template <int N, class T, bool ORDERED = true>
__device__ __forceinline__ void read_swizzled(const u8* from, T (&values)[N]) {
  constexpr int pieces = N * sizeof(T) / PIECE<N, T>;
  using C = typename Chunk<PIECE<N, T>>::type;
  C chunks[pieces];
  int by = piece_to_begin_with<pieces>();
#pragma unroll
  for (int i = 0; i < pieces; i++) chunks[i] = reinterpret_cast<const C*>(from)[i ^ by];
  if constexpr (ORDERED) exchange(chunks, by);
  memcpy(values, chunks, sizeof(chunks));
}
template <int N, class T>
__device__ __forceinline__ void write_swizzled(u8* to, const T (&values)[N]) {
  constexpr int pieces = N * sizeof(T) / PIECE<N, T>;
  using C = typename Chunk<PIECE<N, T>>::type;
  C chunks[pieces];
  memcpy(chunks, values, sizeof(chunks));
  int by = piece_to_begin_with<pieces>();
  exchange(chunks, by);
#pragma unroll
  for (int i = 0; i < pieces; i++) reinterpret_cast<C*>(to)[i ^ by] = chunks[i];
}
