// What the harnesses of CUB share: buffers, random data, medians of 15, and one JSON line for each measurement:
// {"name", "dtype", "n", "ms" (median of 15), "bytes" (the fewest that must move), "cccl" (CUB's version)}
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t status = (call);                                                           \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s at line %d\n", cudaGetErrorString(status), __LINE__);       \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

template <class T>
struct Buffer {
  T* data;
  explicit Buffer(size_t n) { CHECK(cudaMalloc(&data, n * sizeof(T))); }
  ~Buffer() { cudaFree(data); }
};

template <class T>
__global__ void fill_random(T* out, size_t n, uint32_t modulus) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    uint32_t h = uint32_t(i) * 2654435761u;
    h = (h ^ (h >> 15)) * 2246822519u;
    out[i] = T((h ^ (h >> 13)) % modulus);
  }
}

__global__ void read_all(const uint4* in, size_t n, unsigned* out) {
  unsigned x = 0;
  size_t step = size_t(gridDim.x) * blockDim.x, i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  for (; i + 3 * step < n; i += 4 * step) {
    uint4 a = in[i], b = in[i + step], c = in[i + 2 * step], d = in[i + 3 * step];
    x ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  for (; i < n; i += step) x ^= in[i].x;
  if (x == 0x12345678u) *out = x;
}

template <class Launch>
float median_ms(Launch launch, int repeats = 15) {
  cudaEvent_t start, stop;
  cudaEventCreate(&start), cudaEventCreate(&stop);
  launch(), launch();
  std::vector<float> times(repeats);
  for (float& ms : times) {
    cudaEventRecord(start), launch(), cudaEventRecord(stop);
    CHECK(cudaEventSynchronize(stop));
    cudaEventElapsedTime(&ms, start, stop);
  }
  std::sort(times.begin(), times.end());
  return times[repeats / 2];
}

void report(const char* name, const char* dtype, size_t n, float ms, double bytes) {
  CHECK(cudaGetLastError());
  std::printf("{\"name\": \"%s\", \"dtype\": \"%s\", \"n\": %zu, \"ms\": %.5f, \"bytes\": %.0f, \"cccl\": \"%d.%d.%d\"}\n", name, dtype, n, ms,
              bytes, CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
  std::fflush(stdout);
}

// CUB's two-call protocol: the first call sizes the scratch space, the second runs.
template <class Call>
float cub_ms(Call call) {
  void* scratch = nullptr;
  size_t scratch_bytes = 0;
  CHECK(call(scratch, scratch_bytes));
  CHECK(cudaMalloc(&scratch, scratch_bytes));
  float ms = median_ms([&] { call(scratch, scratch_bytes); });
  cudaFree(scratch);
  return ms;
}

// A copy of n elements, and a plain read of them.
template <class T>
void measure_memory(const char* dtype, const Buffer<T>& in, const Buffer<T>& out, size_t n) {
  double bytes = double(n) * sizeof(T);
  auto copy = [&] { cudaMemcpyAsync(out.data, in.data, n * sizeof(T), cudaMemcpyDeviceToDevice); };
  report("memcpy", dtype, n, median_ms(copy), 2 * bytes);
  auto read = [&] {
    read_all<<<132 * 8, 512>>>(reinterpret_cast<const uint4*>(in.data), n * sizeof(T) / 16, reinterpret_cast<unsigned*>(out.data));
  };
  report("read", dtype, n, median_ms(read), bytes);
}
