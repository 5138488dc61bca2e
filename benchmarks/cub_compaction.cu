// The times of CUB's compaction and by-key primitives on the workloads of Merrill and Garland's paper, and the limit of
// memory, as lines of JSON (cub_harness.cuh).
//
// nvcc -arch=native -O3 -std=c++17 cub_compaction.cu -o cub_compaction && ./cub_compaction [log2_n = 28]

#include <string>

#include "cub_harness.cuh"

// Marks the starts of runs of random lengths with ones.
__global__ void fill_heads(int* out, size_t n, uint32_t mean) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    uint32_t h = uint32_t(i) * 2654435761u;
    h = (h ^ (h >> 15)) * 2246822519u;
    out[i] = (h ^ (h >> 13)) % mean == 0;
  }
}

struct LessThan {
  int bound;
  __host__ __device__ bool operator()(int x) const { return x < bound; }
};

int main(int argc, char** argv) {
  size_t n = size_t(1) << (argc > 1 ? std::atoi(argv[1]) : 28);
  Buffer<int> keys(n), keys_out(n), lengths(n), count(1);
  Buffer<float> values(n), values_out(n);
  fill_random<<<1024, 256>>>(values.data, n, 1000);
  fill_random<<<1024, 256>>>(keys.data, n, 1000);
  measure_memory("int32", keys, keys_out, n);
  {
    Buffer<double> in(n / 2), out(n / 2);
    measure_memory("float64", in, out, n / 2);
  }
  for (int percent : {50, 4, 1}) {
    LessThan keep{percent * 10};
    auto select = [&](void* scratch, size_t& size) {
      return cub::DeviceSelect::If(scratch, size, keys.data, keys_out.data, count.data, n, keep);
    };
    report(("select_" + std::to_string(percent)).c_str(), "int32", n, cub_ms(select), 4.0 * n * (1 + percent / 100.0));
  }
  auto partition = [&](void* scratch, size_t& size) {
    return cub::DevicePartition::If(scratch, size, keys.data, keys_out.data, count.data, n, LessThan{500});
  };
  report("partition_50", "int32", n, cub_ms(partition), 8.0 * n);
  for (int run : {2, 25, 500, 1000000}) {
    fill_heads<<<1024, 256>>>(lengths.data, n, run);
    auto number = [&](void* scratch, size_t& size) {
      return cub::DeviceScan::InclusiveSum(scratch, size, lengths.data, keys.data, n);
    };
    cub_ms(number);
    std::string suffix = "_" + std::to_string(run);
    double runs = double(n) / run;
    auto encode = [&](void* scratch, size_t& size) {
      return cub::DeviceRunLengthEncode::Encode(scratch, size, keys.data, keys_out.data, lengths.data, count.data, n);
    };
    report(("run_length_encode" + suffix).c_str(), "int32", n, cub_ms(encode), 4.0 * n + 8 * runs);
    auto unique = [&](void* scratch, size_t& size) {
      return cub::DeviceSelect::Unique(scratch, size, keys.data, keys_out.data, count.data, n);
    };
    report(("unique" + suffix).c_str(), "int32", n, cub_ms(unique), 4.0 * n + 4 * runs);
    auto reduce = [&](void* scratch, size_t& size) {
      return cub::DeviceReduce::ReduceByKey(scratch, size, keys.data, keys_out.data, values.data, values_out.data,
                                            count.data, ::cuda::std::plus<>{}, n);
    };
    report(("reduce_by_key" + suffix).c_str(), "int32,float32", n, cub_ms(reduce), 8.0 * n + 8 * runs);
    auto scan = [&](void* scratch, size_t& size) {
      return cub::DeviceScan::InclusiveSumByKey(scratch, size, keys.data, values.data, values_out.data, n);
    };
    report(("scan_by_key" + suffix).c_str(), "int32,float32", n, cub_ms(scan), 12.0 * n);
  }
  CHECK(cudaDeviceSynchronize());
}
