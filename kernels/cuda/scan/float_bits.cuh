// Conversions between floating-point numbers, float32 or float64, and the bits that the engine moves; their upper 32
// bits.
#pragma once

#include "words.cuh"

__device__ __forceinline__ float as_number(u32 bits) { return __uint_as_float(bits); }
__device__ __forceinline__ double as_number(u64 bits) { return __longlong_as_double(i64(bits)); }
__device__ __forceinline__ u32 as_bits(float x) { return __float_as_uint(x); }
__device__ __forceinline__ u64 as_bits(double x) { return u64(__double_as_longlong(x)); }
__device__ __forceinline__ u32 upper(u32 bits) { return bits; }
__device__ __forceinline__ u32 upper(u64 bits) { return u32(bits >> 32); }
__device__ __forceinline__ u32 with_upper(u32, u32 word) { return word; }
__device__ __forceinline__ u64 with_upper(u64 bits, u32 word) { return u64(word) << 32 | u32(bits); }
