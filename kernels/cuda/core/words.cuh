// Words: integer types for any data of their size, compile-time loops, and moves of whole values.
//
// The engine never does arithmetic on data. It moves bits; only the functions of an operator know their meaning.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;
struct c64 {  // complex numbers, the only data that are aligned to half their size
  u32 part[2];
};
struct c128 {
  u64 part[2];
};

// 1 / sqrt(x), to some 20 bits, for operators (link.py).
extern "C" __device__ double inverse_root(double x) {
  double found;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(found) : "d"(x));
  return found;
}

// Whether a state is one count of four bytes, and states are combined by addition: then any order gives the same bits.
template <class State>
constexpr bool ADDS = false;
// The first field of a state that is a sum of digits (digit_states.cuh), or -1.
template <class State>
constexpr int FIRST_DIGIT = -1;

template <int N>
struct Int {
  static constexpr int value = N;
};

// f(Int<0>{}), ..., f(Int<N - 1>{})
template <int N, class F>
__device__ __forceinline__ void unroll(F f) {
  if constexpr (N > 0) {
    unroll<N - 1>(f);
    f(Int<N - 1>{});
  }
}

template <int BYTES>
struct Chunk;
template <>
struct Chunk<1> {
  using type = u8;
};
template <>
struct Chunk<2> {
  using type = u16;
};
template <>
struct Chunk<4> {
  using type = u32;
};
template <>
struct Chunk<8> {
  using type = uint2;
};
template <>
struct Chunk<16> {
  using type = uint4;
};

// The largest power of two, 16 at most, that divides a number of bytes.
constexpr int largest_power(int bytes) { return bytes % 16 ? bytes & -bytes : 16; }
// Reads or writes N neighbouring values in as few accesses as possible; the address is aligned to PIECE<N, T> bytes.
template <int N, class T>
constexpr int PIECE = largest_power(N * sizeof(T));

template <int N, class T>
__device__ __forceinline__ void read_vector(const u8* from, T (&values)[N]) {
  constexpr int pieces = N * sizeof(T) / PIECE<N, T>;
  typename Chunk<PIECE<N, T>>::type chunks[pieces];
#pragma unroll
  for (int i = 0; i < pieces; i++) chunks[i] = reinterpret_cast<const typename Chunk<PIECE<N, T>>::type*>(from)[i];
  memcpy(values, chunks, sizeof(chunks));
}
template <int N, class T>
__device__ __forceinline__ void write_vector(u8* to, const T (&values)[N]) {
  constexpr int pieces = N * sizeof(T) / PIECE<N, T>;
  typename Chunk<PIECE<N, T>>::type chunks[pieces];
  memcpy(chunks, values, sizeof(chunks));
#pragma unroll
  for (int i = 0; i < pieces; i++) reinterpret_cast<typename Chunk<PIECE<N, T>>::type*>(to)[i] = chunks[i];
}
// As write_vector, for values that are not read again soon.
template <int N, class T>
__device__ __forceinline__ void write_streaming(u8* to, const T (&values)[N]) {
  constexpr int pieces = N * sizeof(T) / PIECE<N, T>;
  using C = typename Chunk<PIECE<N, T>>::type;
  C chunks[pieces];
  memcpy(chunks, values, sizeof(chunks));
#pragma unroll
  for (int i = 0; i < pieces; i++) __stcs(reinterpret_cast<C*>(to) + i, chunks[i]);
}

__device__ __forceinline__ bool aligned(const void* pointer, u32 bytes) {
  return (reinterpret_cast<u64>(pointer) & (bytes - 1)) == 0;
}

// A field of a state in words of four bytes, and back; small fields have one word each.
template <class T>
constexpr int WORDS = sizeof(T) < 4 ? 1 : sizeof(T) / 4;

template <class T>
__device__ __forceinline__ void to_words(const T& field, u32* words) {
  if constexpr (sizeof(T) < 4)
    words[0] = field;
  else
    memcpy(words, &field, sizeof(T));
}
template <class T>
__device__ __forceinline__ void from_words(const u32* words, T& field) {
  if constexpr (sizeof(T) < 4)
    field = T(words[0]);
  else
    memcpy(&field, words, sizeof(T));
}
