// What CUB, memcpy and a plain read of memory take on this GPU, one JSON line each:
// {"name", "dtype", "n", "ms" (median of 15), "bytes" (the fewest that must move)}
//
// nvcc -arch=native -O3 -std=c++17 cub_baseline.cu -o cub_baseline && ./cub_baseline [log2_n = 28]

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
  std::printf("{\"name\": \"%s\", \"dtype\": \"%s\", \"n\": %zu, \"ms\": %.5f, \"bytes\": %.0f}\n", name, dtype, n, ms, bytes);
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

template <class T>
void measure(const char* dtype, size_t n) {
  Buffer<T> in(n), out(n);
  fill_random<<<1024, 256>>>(in.data, n, 1000);
  double bytes = double(n) * sizeof(T);
  auto copy = [&] { cudaMemcpyAsync(out.data, in.data, n * sizeof(T), cudaMemcpyDeviceToDevice); };
  report("memcpy", dtype, n, median_ms(copy), 2 * bytes);
  auto read = [&] {
    read_all<<<132 * 8, 512>>>(reinterpret_cast<const uint4*>(in.data), n * sizeof(T) / 16, reinterpret_cast<unsigned*>(out.data));
  };
  report("read", dtype, n, median_ms(read), bytes);
  auto scan = [&](void* scratch, size_t& size) { return cub::DeviceScan::InclusiveSum(scratch, size, in.data, out.data, n); };
  report("scan_sum", dtype, n, cub_ms(scan), 2 * bytes);
  auto reduce = [&](void* scratch, size_t& size) { return cub::DeviceReduce::Sum(scratch, size, in.data, out.data, n); };
  report("reduce_sum", dtype, n, cub_ms(reduce), bytes);
}

int main(int argc, char** argv) {
  int log2_n = argc > 1 ? std::atoi(argv[1]) : 28;
  for (int k : {16, 18, 20, 22, log2_n}) {
    size_t n = size_t(1) << k;
    measure<int>("int32", n);
    measure<float>("float32", n);
    measure<long long>("int64", k == log2_n ? n / 2 : n);
    measure<double>("float64", k == log2_n ? n / 2 : n);
  }
  CHECK(cudaDeviceSynchronize());
}
