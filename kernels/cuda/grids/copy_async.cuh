// Copies from global to shared memory that a thread does not wait for (from sm_80 on).
#pragma once

template <int BYTES>
__device__ __forceinline__ void copy_async(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  if constexpr (BYTES >= 4) {
    const u32 place = u32(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(BYTES) : "memory");
    return;
  }
#endif
  using Bytes = typename Chunk<BYTES>::type;
  *reinterpret_cast<Bytes*>(to) = *reinterpret_cast<const Bytes*>(from);
}
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all copies of this thread except those of the last COMMITS commits.
template <int COMMITS>
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(COMMITS) : "memory");
#endif
}
