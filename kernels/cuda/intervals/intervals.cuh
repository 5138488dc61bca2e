// The items of intervals, copied from one array to another: repeated, gathered, scattered or moved.
//
// Intervals are cut into chunks. Chunks and items are merged into one path, in which a chunk takes as many steps as it
// has intervals, and comes before its items. The path is cut into parts of one length, which limits the items and the
// intervals of a part, however long intervals are. A block finds where its part begins, and goes from chunk to chunk.
// It lists the intervals of a chunk that have items, and sets a bit in shared memory at the first item of each. The
// number of bits set up to an item gives its interval. After Baxter, Modern GPU, "IntervalExpand and IntervalMove".
#pragma once

struct Params {
  const i64* counts;
  const i64* starts;  // items before each chunk
  const Key* source;
  const i64* gather;   // offsets of intervals in the source, if GATHERS
  const i64* scatter;  // offsets of intervals in the output, if SCATTERS
  Key* out;
  u8* scratch;
  u8* carry;
  i64 length, lines, tiles;  // steps of the path, and parts of it
  i64 intervals, items;
};

constexpr int WARPS = THREADS / 32, CHUNK = THREADS * ROWS;
constexpr int VECTOR = SCATTERS || VECTOR_BYTES < sizeof(Key) ? 1 : VECTOR_BYTES / sizeof(Key);  // items written at once
static_assert(32 % VECTOR == 0, "a vector lies in one word");
constexpr int EACH = (PART + VECTOR + 32 * THREADS - 1) / (32 * THREADS);  // words of 32 items of a thread

struct alignas(8) Heads {
  u32 bits;    // of 32 items: whether each begins an interval
  u32 before;  // the interval of the item before them
};
__shared__ Heads heads[EACH * THREADS];
// for each interval that has items: its value, and the difference between the place and the number of an item
__shared__ Key values[REPEATS ? CHUNK : 1];
__shared__ i64 gathered[GATHERS ? CHUNK : 1], scattered[SCATTERS ? CHUNK : 1];
__shared__ i64 warp_items[WARPS];
__shared__ int warp_listed[WARPS], warp_heads[WARPS], covering;

__device__ __forceinline__ u32 lanes_below(int lane) { return (1u << lane) - 1; }

// Lists the intervals of a chunk, which follows `before` items, and sets the bits of items `base` + 1 to `stop` - 1.
// Item `first` is in the chunk.
__device__ __forceinline__ void list_intervals(const Params& p, i64 chunk, i64 before, i64 base, i64 first, i64 stop) {
  const int thread = threadIdx.x, lane = thread & 31, warp = thread / 32;
  i64 counts[ROWS], gather[ROWS], scatter[ROWS], begins[ROWS];
  Key value[ROWS];
  int places[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const i64 interval = chunk * CHUNK + (warp * ROWS + r) * 32 + lane;
    const bool is_there = interval < p.intervals;
    counts[r] = is_there ? p.counts[interval] : 0;
    if (REPEATS && is_there) value[r] = p.source[interval];
    if (GATHERS && is_there) gather[r] = p.gather[interval];
    if (SCATTERS && is_there) scatter[r] = p.scatter[interval];
  }
  __syncthreads();  // the previous chunk has been read
#pragma unroll
  for (int i = 0; i < EACH; i++) heads[i * THREADS + thread].bits = 0;
  i64 sum = 0;
  int kept = 0;
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    i64 inclusive = counts[r];
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const i64 other = __shfl_up_sync(~0u, inclusive, apart);
      if (lane >= apart) inclusive += other;
    }
    const u32 votes = __ballot_sync(~0u, counts[r] > 0);
    begins[r] = sum + inclusive - counts[r];
    places[r] = kept + __popc(votes & lanes_below(lane));
    sum += __shfl_sync(~0u, inclusive, 31);
    kept += __popc(votes);
  }
  if (lane == 0) warp_items[warp] = sum, warp_listed[warp] = kept;
  __syncthreads();
  int listed_before = 0;
  for (int w = 0; w < warp; w++) before += warp_items[w], listed_before += warp_listed[w];
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    if (counts[r] == 0) continue;
    const i64 begin = before + begins[r];
    const int place = listed_before + places[r];
    if (REPEATS) values[place] = value[r];
    if (GATHERS) gathered[place] = gather[r] - begin;
    if (SCATTERS) scattered[place] = scatter[r] - begin;
    const u32 item = u32(begin - base);
    if (begin > first && begin < stop) atomicOr(&heads[item / 32].bits, 1u << item % 32);
    if (begin <= first && first - begin < counts[r]) covering = place;
  }
  __syncthreads();
  // bits set in the words before each
  u32 counted[EACH], all = 0;
#pragma unroll
  for (int i = 0; i < EACH; i++) counted[i] = all, all += __popc(heads[thread * EACH + i].bits);
  u32 inclusive = all;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const u32 other = __shfl_up_sync(~0u, inclusive, apart);
    if (lane >= apart) inclusive += other;
  }
  if (lane == 31) warp_heads[warp] = inclusive;
  __syncthreads();
  u32 earlier = covering + inclusive - all;
  for (int w = 0; w < warp; w++) earlier += warp_heads[w];
#pragma unroll
  for (int i = 0; i < EACH; i++) heads[thread * EACH + i].before = earlier + counted[i];
  __syncthreads();
}

// Copies items `first` to `stop` - 1, at most PART, of a chunk, which follows `before` items.
__device__ __forceinline__ void copy_items(const Params& p, i64 chunk, i64 before, i64 first, i64 stop) {
  const i64 base = first - first % VECTOR;  // where an aligned vector begins: outputs of vectors are new
  list_intervals(p, chunk, before, base, first, stop);
  const int skipped = int(first - base), end = int(stop - base);
  for (int at = threadIdx.x * VECTOR; at < end; at += BATCH * THREADS * VECTOR) {
    Key items[BATCH][VECTOR];
    i64 places[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int own = at + b * THREADS * VECTOR;
      Heads word = heads[u32(own) / 32];  // of the whole vector
#pragma unroll
      for (int v = 0; v < VECTOR; v++) {
        int i = own + v;
        if (!REPEATS) {  // reads one of the items in place of an item that is not written
          i = min(max(i, skipped), end - 1);
          word = heads[u32(i) / 32];
        }
        const int place = word.before + __popc(word.bits & ((2u << u32(i) % 32) - 1));
        if (SCATTERS) places[b] = base + i + scattered[place];
        items[b][v] = REPEATS ? values[place] : p.source[base + i + (GATHERS ? gathered[place] : 0)];
      }
    }
#pragma unroll
    for (int b = 0; b < BATCH; b++) {
      const int i = at + b * THREADS * VECTOR;
      if constexpr (SCATTERS) {
        if (i < end) p.out[places[b]] = items[b][0];
      } else if (i >= skipped && i + VECTOR <= end) {
        write_streaming(reinterpret_cast<u8*>(p.out + base + i), items[b]);
      } else {
#pragma unroll
        for (int v = 0; v < VECTOR; v++)
          if (i + v >= skipped && i + v < end) p.out[base + i + v] = items[b][v];
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) run_tiles(const __grid_constant__ Params p) {
  const i64 chunks = (p.intervals + CHUNK - 1) / CHUNK;
  for (i64 part = blockIdx.x; part < p.tiles; part += gridDim.x) {
    const i64 begin = part * PART, end = min(begin + PART, p.length);
    i64 chunk = count_true(chunks, [&](i64 c) { return c * CHUNK + p.starts[c] <= begin; }) - 1;
    for (; chunk < chunks; chunk++) {
      const i64 before = p.starts[chunk], path = (chunk + 1) * CHUNK + before;  // of its first item
      if (path >= end) break;
      const i64 after = chunk + 1 < chunks ? p.starts[chunk + 1] : p.items;
      const i64 first = before + max(begin - path, i64(0)), stop = min(after, before + end - path);
      if (first < stop) copy_items(p, chunk, before, first, stop);
    }
  }
}
