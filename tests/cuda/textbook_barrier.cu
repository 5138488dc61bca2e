// What compute-sanitizer's racecheck says of correct programs: a ring of shared-memory stages, filled and read in turns.
//
// Four ways to tell that a stage is full and may be filled again: __syncthreads (every tool understands it), mbarriers with
// ordinary stores, mbarriers with bulk copies (cp.async.bulk, sm_90), as in the CUDA C++ Programming Guide; and bulk copies
// where one lane arrives for its warp after a __syncwarp, as in kernels/cuda/pipelined.cuh. README.md beside this says
// what racecheck reports of each.
//
// nvcc -arch=sm_90 -std=c++17 textbook_barrier.cu -o textbook_barrier && compute-sanitizer --tool racecheck ./textbook_barrier

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int ITEMS = 1024, STAGES = 2, CONSUMERS = 128;
enum Way { SYNC, BARRIER, BULK, ELECTED };

template <Way WAY>
__global__ void sums(const int* in, long long* out, int tiles) {
  __shared__ alignas(128) int stage[STAGES][ITEMS];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier full[STAGES], empty[STAGES];
  bool producer = threadIdx.x >= CONSUMERS;
  int lane = threadIdx.x - CONSUMERS;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      constexpr int consumers = WAY == ELECTED ? CONSUMERS / 32 : CONSUMERS, producers = WAY == BARRIER ? 32 : 1;
      init(&full[s], producers + CONSUMERS);
      init(&empty[s], producers + consumers);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  long long sum = 0;
  for (int t = 0; t < tiles; t++) {
    int s = t % STAGES;
    const int* from = in + t * ITEMS;
    if constexpr (WAY == SYNC) {
      if (producer)
        for (int i = lane; i < ITEMS; i += 32) stage[s][i] = from[i];
      __syncthreads();
      if (!producer)
        for (int i = threadIdx.x; i < ITEMS; i += CONSUMERS) sum += stage[s][i];
      __syncthreads();
    } else if (producer) {
      if (WAY >= BULK && lane > 0) continue;
      if (t >= STAGES) empty[s].arrive_and_wait();
      if constexpr (WAY >= BULK) {
        cuda::device::memcpy_async_tx(stage[s], from, cuda::aligned_size_t<16>(sizeof(stage[s])), full[s]);
        (void)cuda::device::barrier_arrive_tx(full[s], 1, sizeof(stage[s]));
      } else {
        for (int i = lane; i < ITEMS; i += 32) stage[s][i] = from[i];
        (void)full[s].arrive();
      }
    } else {
      full[s].arrive_and_wait();
      for (int i = threadIdx.x; i < ITEMS; i += CONSUMERS) {
        sum += stage[s][i];
        stage[s][i] = 0;  // written as well as read before the next copy, as results in place are
      }
      if (WAY >= BULK) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      bool arrives = WAY != ELECTED || threadIdx.x % 32 == 0;
      if (arrives && t + STAGES < tiles) (void)empty[s].arrive();
    }
  }
  if (!producer) out[threadIdx.x] = sum;
}

template <Way WAY>
void run(const char* name) {
  constexpr int tiles = 7;
  int *in, host[tiles * ITEMS];
  long long *out, sum = 0, expected = 0, found[CONSUMERS];
  for (int i = 0; i < tiles * ITEMS; i++) expected += host[i] = i * 7 % 1000;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(found));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  sums<WAY><<<1, CONSUMERS + 32>>>(in, out, tiles);
  cudaError_t status = cudaMemcpy(found, out, sizeof(found), cudaMemcpyDeviceToHost);
  for (long long f : found) sum += f;
  std::printf("%s: %s, %s\n", name, cudaGetErrorString(status), sum == expected ? "right" : "WRONG");
  cudaFree(in);
  cudaFree(out);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  if (!*way || !std::strcmp(way, "sync")) run<SYNC>("__syncthreads");
  if (!*way || !std::strcmp(way, "barrier")) run<BARRIER>("mbarrier, ordinary stores");
  if (!*way || !std::strcmp(way, "bulk")) run<BULK>("mbarrier, bulk copies");
  if (!*way || !std::strcmp(way, "elected")) run<ELECTED>("mbarrier, bulk copies, one arrival a warp");
}
