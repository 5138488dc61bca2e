// What CUB, memcpy and a plain read of memory take on this GPU: lines of JSON, as cub_harness.cuh has them.
//
// nvcc -arch=native -O3 -std=c++17 cub_baseline.cu -o cub_baseline && ./cub_baseline [log2_n = 28]

#include "cub_harness.cuh"

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
