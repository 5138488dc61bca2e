// The times of CUB, memcpy and a plain read of memory on this GPU, as lines of JSON (cub_harness.cuh).
//
// nvcc -arch=native -O3 -std=c++17 cub_baseline.cu -o cub_baseline && ./cub_baseline [log2_n = 28]

#include "cub_harness.cuh"

#if CUB_VERSION >= 300600
// Sums of floats with the same bits on every run, which older versions of CUB do not offer, and reductions with the
// same bits on every GPU. Each call takes its scratch space from the device's pool.
template <class T>
void measure_deterministic(const char* dtype, const Buffer<T>& in, const Buffer<T>& out, size_t n) {
  namespace determinism = ::cuda::execution::determinism;
  double bytes = double(n) * sizeof(T);
  auto same_run = ::cuda::execution::require(determinism::run_to_run);
  auto same_gpu = ::cuda::execution::require(determinism::gpu_to_gpu);
  auto scan = [&] { CHECK(cub::DeviceScan::InclusiveSum(in.data, out.data, n, same_run)); };
  report("scan_sum_run_to_run", dtype, n, median_ms(scan), 2 * bytes);
  auto reduce = [&] { CHECK(cub::DeviceReduce::Sum(in.data, out.data, n, same_run)); };
  report("reduce_sum_run_to_run", dtype, n, median_ms(reduce), bytes);
  auto reduce_anywhere = [&] { CHECK(cub::DeviceReduce::Sum(in.data, out.data, n, same_gpu)); };
  report("reduce_sum_gpu_to_gpu", dtype, n, median_ms(reduce_anywhere), bytes);
}
#endif

template <class T>
void measure(const char* dtype, size_t n) {
  Buffer<T> in(n), out(n);
  fill_random<<<1024, 256>>>(in.data, n, 1000);
  double bytes = double(n) * sizeof(T);
  measure_memory(dtype, in, out, n);
  auto scan = [&](void* scratch, size_t& size) { return cub::DeviceScan::InclusiveSum(scratch, size, in.data, out.data, n); };
  report("scan_sum", dtype, n, cub_ms(scan), 2 * bytes);
  auto reduce = [&](void* scratch, size_t& size) { return cub::DeviceReduce::Sum(scratch, size, in.data, out.data, n); };
  report("reduce_sum", dtype, n, cub_ms(reduce), bytes);
#if CUB_VERSION >= 300600
  if constexpr (::cuda::std::is_floating_point_v<T>) measure_deterministic(dtype, in, out, n);
#endif
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
