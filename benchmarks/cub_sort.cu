// The times of CUB's radix sort on this GPU, as lines of JSON (cub_harness.cuh).
//
// nvcc -arch=native -O3 -std=c++17 cub_sort.cu -o cub_sort && ./cub_sort [log2_n = 28]

#include "cub_harness.cuh"

__global__ void fill_hashes(uint32_t* out, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    uint32_t h = uint32_t(i) * 2654435761u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h = (h ^ (h >> 13)) * 3266489917u;
    out[i] = h ^ (h >> 16);
  }
}

int main(int argc, char** argv) {
  size_t n = size_t(1) << (argc > 1 ? std::atoi(argv[1]) : 28);
  Buffer<uint32_t> keys(n), sorted(n);
  Buffer<float> values(n), moved(n);
  fill_hashes<<<1024, 256>>>(keys.data, n);
  fill_random<<<1024, 256>>>(values.data, n, 1000);
  measure_memory("float32", values, moved, n);
  auto sort_keys = [&](void* scratch, size_t& size) {
    return cub::DeviceRadixSort::SortKeys(scratch, size, keys.data, sorted.data, n);
  };
  report("sort_keys", "uint32", n, cub_ms(sort_keys), 36.0 * n);
  auto sort_pairs = [&](void* scratch, size_t& size) {
    return cub::DeviceRadixSort::SortPairs(scratch, size, keys.data, sorted.data, values.data, moved.data, n);
  };
  report("sort_pairs", "uint32,float32", n, cub_ms(sort_pairs), 68.0 * n);
  CHECK(cudaDeviceSynchronize());
}
