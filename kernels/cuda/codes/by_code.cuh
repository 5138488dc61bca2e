// Scans and reductions within groups of rows in any order.
//
// If groups are few, no row is moved:
//
// A warp takes a chunk of rows, and keeps a state for each group in shared memory. First every chunk is reduced, which
// makes a table with a row of states for each chunk; then the columns of the table are scanned; then each chunk is
// scanned from its row of the table. Rows of a warp in the same group find each other, and combine their states along
// links to the previous row, which double in length at each step. The order of combinations depends on the numbers of
// rows and groups, and on the size of a state. To find each other, all lanes write their number to the seat of their
// group, where one number remains. Lanes that read the same number are in one group; five votes find them, however many
// groups there are. After Merrill and Grimshaw, Revisiting sorting for GPGPU stream architectures (UVA CS2010-03):
// multi-scan.
//
// If groups are many, rows have been partitioned by the leading bits of their codes (PARTED): by one digit of these if
// a warp has room for the groups of a part, else by two. A warp walks a whole part, with states of its groups only.
// Long parts are cut into pieces, which take the place of chunks.
#pragma once

enum Step { REDUCE_CHUNKS, SCAN_TABLE, SCAN_CHUNKS, WALK_PARTS };
constexpr bool WRITES = STEP == SCAN_CHUNKS || (STEP == WALK_PARTS && SCANS);

constexpr int THREADS = 32 * WARPS, PARTS = THREADS / COLUMNS;
constexpr u32 NO_GROUP = ~u32(0);
constexpr u8 NO_LANE = 255;

struct Params {
  const u8* in[INPUTS];
  u8* out[OUTPUTS];
  const Code* codes;
  const u8* mask;             // validity bits, or bytes
  State* table;               // a row for each chunk
  const u8* initial[FIELDS];  // an item for each group, or null
  u8* states[FIELDS];         // likewise, after the last row
  u64* wrong;                 // a code of no group, if there is one, never 0; or null
  bool* met;                  // whether each group has a row; or null
  const i64* bounds;          // PARTED: where each part or piece starts, and where the last one ends
  const int* owners;          // the part of each piece
  const int* pieces;          // the first piece of each part, and the number of pieces
  u64* scratch;
  u8* carry_out;
  i64 mask_offset;
  i64 length, lines, tiles;
  i64 chunk;  // rows of a chunk
  i64 chunks;
  i64 groups;
  i64 null;
  i64 low;  // PARTED: bits of a code that are left within a part
  Numbers numbers;
};

__device__ __forceinline__ State initial_state(const Params& p, i64 group) {
  State s = identity();
  if (p.initial[0])
    unroll<FIELDS>([&](auto k) {
      using T = typename Part<k.value>::type;
      Part<k.value>::of(s) = reinterpret_cast<const T*>(p.initial[k.value])[group];
    });
  return s;
}

__device__ __forceinline__ void write_state(const Params& p, i64 group, State state) {
  unroll<FIELDS>([&](auto k) {
    using T = typename Part<k.value>::type;
    reinterpret_cast<T*>(p.states[k.value])[group] = Part<k.value>::of(state);
  });
}

// A row that has been requested; nothing waits for it yet.
struct Unread {
  Code code;
  u8 mask;
  Element element;
};
__device__ __forceinline__ Unread read_row(const Params& p, i64 at) {
  Unread row;
  row.code = __ldcs(p.codes + at);
  unroll<INPUTS>([&](auto k) {
    using T = typename In<k.value>::type;
    In<k.value>::of(row.element) = __ldcs(reinterpret_cast<const T*>(p.in[k.value]) + at);
  });
  if constexpr (NULLS == BITS) row.mask = p.mask[(p.mask_offset + at) >> 3];
  if constexpr (NULLS == BYTES) row.mask = p.mask[p.mask_offset + at];
  return row;
}

struct Row {
  u32 group;  // NO_GROUP behind the last row
  bool missing;
  Element element;
};
__device__ __forceinline__ Row row_of(const Params& p, const Unread& read, i64 at, bool there, i64 base) {
  Row row = {u32(read.code - Code(base)), !there, read.element};
  if (u64(read.code) >= u64(p.groups)) {
    if (there && p.wrong) atomicMax(p.wrong, u64(read.code) > 1 ? u64(read.code) : 1);
    there = false;
  }
  if (!there) row.group = NO_GROUP;
  if constexpr (NULLS == BITS) row.missing |= ((read.mask >> ((p.mask_offset + at) & 7)) & 1) == p.null;
  if constexpr (NULLS == BYTES) row.missing |= read.mask == p.null;
  if constexpr (NULLS == IN_BAND) row.missing |= is_missing(row.element);
  return row;
}

__device__ __forceinline__ void write_row(const Params& p, i64 at, const Row& row, const State& before,
                                          const State& after) {
  Output result = MARK_NULLS && row.missing ? null_output() : answer<EXCLUSIVE>(before, after);
  unroll<OUTPUTS>([&](auto k) {
    using T = typename Out<k.value>::type;
    reinterpret_cast<T*>(p.out[k.value])[at] = Out<k.value>::of(result);
  });
}

// The rows of a batch. Each row finds the previous rows of its group among the 32 of its warp, and combines its state
// with theirs.
struct Batch {
  Row rows[BATCH];
  State states[BATCH];  // of the rows of the group up to each, among its 32
  int previous[BATCH];  // the lane of the previous row of the group, or -1
  bool is_last[BATCH];
};
__device__ __forceinline__ void combine_rows(Batch& batch, volatile u8* seats, u32 lower_lanes, int lane) {
  // lanes with a row of the same group, by votes on each bit of a common lane number: faster than __match_any_sync
  u32 lanes[BATCH], leaders[BATCH];
#pragma unroll
  for (int i = 0; i < BATCH; i++) {
    const u32 group = batch.rows[i].group;
    bool sits = group != NO_GROUP;
    if (EVERY_LANE) sits &= lane == __ffs(__match_any_sync(ALL, group)) - 1;  // one lane of each group, for racecheck
    if (sits) seats[group] = u8(lane);
    __syncwarp();
    leaders[i] = group != NO_GROUP ? u32(seats[group]) : u32(lane);
    __syncwarp();
    lanes[i] = ALL;
  }
#pragma unroll
  for (int b = 0; b < 5; b++)
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      u32 bit = (leaders[i] >> b) & 1, votes = __ballot_sync(ALL, bit);
      lanes[i] &= bit ? votes : ~votes;
    }
  int hops[BATCH];
  bool hopping = false;
#pragma unroll
  for (int i = 0; i < BATCH; i++) {
    u32 same = lanes[i], earlier = same & lower_lanes;
    batch.is_last[i] = same >> lane == 1;
    batch.previous[i] = hops[i] = earlier ? 31 - __clz(earlier) : -1;
    batch.states[i] = batch.rows[i].missing ? identity() : lift(batch.rows[i].element);
    hopping |= earlier != 0;
  }
  while (__any_sync(ALL, hopping)) {
    hopping = false;
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
      State other = from_lane(batch.states[i], hops[i] & 31);
      int further = __shfl_sync(ALL, hops[i], hops[i] & 31);
      if (hops[i] >= 0) {
        batch.states[i] = combine(other, batch.states[i]);
        hops[i] = further;
        hopping |= further >= 0;
      }
    }
  }
}

// Adds 32 rows, one of each lane, to the states of their groups.
template <class Write>
__device__ __forceinline__ void walk(State* table, const Batch& batch, int i, Write write) {
  const u32 group = batch.rows[i].group;
  const bool there = group != NO_GROUP;
  State before = identity();
  if (there) before = table[group];
  __syncwarp();
  State after = combine(before, batch.states[i]);
  if (there && batch.is_last[i]) table[group] = after;
  __syncwarp();
  if constexpr (WRITES) {
    if constexpr (EXCLUSIVE) {
      State within = from_lane(batch.states[i], batch.previous[i] & 31);
      if (batch.previous[i] >= 0) before = combine(before, within);
    }
    if (there) write(before, after);
  }
}

__device__ __forceinline__ void walk_chunks(const Params& p, State* states) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const i64 width = PARTED ? i64(1) << p.low : p.groups;  // states of a warp
  State* table = states + warp * width;
  u8* seats = reinterpret_cast<u8*>(states + WARPS * width) + warp * width;  // of groups: the number of a lane
  u32 lower_lanes;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower_lanes));
  for (i64 chunk = i64(blockIdx.x) * WARPS + warp; chunk < p.chunks; chunk += i64(gridDim.x) * WARPS) {
    State* row_of_chunk = p.table + chunk * width;
    const i64 begin = PARTED ? p.bounds[chunk] : chunk * p.chunk;
    const i64 end = PARTED ? p.bounds[chunk + 1] : begin + p.chunk < p.length ? begin + p.chunk : p.length;
    const i64 base = PARTED ? (STEP == WALK_PARTS ? chunk : i64(p.owners[chunk])) << p.low : 0;
    const i64 groups = !PARTED || p.groups - base > width ? width : p.groups - base;
    for (i64 g = lane; g < groups; g += 32) {
      table[g] = STEP == SCAN_CHUNKS ? row_of_chunk[g] : STEP == WALK_PARTS ? initial_state(p, base + g) : identity();
      seats[g] = NO_LANE;
    }
    __syncwarp();
    Unread ahead[BATCH];  // the rows of the next batch, requested while a batch is walked
    auto read_ahead = [&](i64 first) {
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        i64 at = first + 32 * i + lane;
        ahead[i] = read_row(p, at < end ? at : end - 1);
      }
    };
    if (begin < end) read_ahead(begin);
    for (i64 first = begin; first < end; first += 32 * BATCH) {
      Batch batch;
#pragma unroll
      for (int i = 0; i < BATCH; i++) {
        i64 at = first + 32 * i + lane;
        batch.rows[i] = row_of(p, ahead[i], at, at < end, base);
      }
      read_ahead(first + 32 * BATCH);
      combine_rows(batch, seats, lower_lanes, lane);
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        walk(table, batch, i, [&](const State& before, const State& after) {
          write_row(p, first + 32 * i + lane, batch.rows[i], before, after);
        });
    }
    if constexpr (STEP == REDUCE_CHUNKS)
      for (i64 g = lane; g < groups; g += 32) row_of_chunk[g] = table[g];
    if constexpr (STEP == WALK_PARTS)
      for (i64 g = lane; g < groups; g += 32) write_state(p, base + g, table[g]);
    if (p.met)
      for (i64 g = lane; g < groups; g += 32)
        if (seats[g] != NO_LANE && !p.met[base + g]) p.met[base + g] = true;
    __syncwarp();
  }
}

// A block scans COLUMNS columns of the table, and each thread takes some rows. A row becomes the exclusive prefix of
// its chunk.
__device__ __forceinline__ void scan_columns(const Params& p, State* sums) {
  const int column = threadIdx.x % COLUMNS, mine = threadIdx.x / COLUMNS;
  const i64 part = (p.chunks + PARTS - 1) / PARTS, first = mine * part;
  const i64 end = first + part < p.chunks ? first + part : p.chunks;
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 group = tile * COLUMNS + column;
    const bool there = group < p.groups;
    State* at = p.table + group;
    auto each_row = [&](auto visit) {  // all rows of a batch are read before the first is visited
      for (i64 c = first; c < end; c += BATCH) {
        State rows[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; i++)
          if (c + i < end) rows[i] = at[(c + i) * p.groups];
#pragma unroll
        for (int i = 0; i < BATCH; i++)
          if (c + i < end) visit(c + i, rows[i]);
      }
    };
    State sum = identity();
    if (there) each_row([&](i64, const State& row) { sum = combine(sum, row); });
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (there) {
      State before = initial_state(p, group);
      for (int i = 0; i < mine; i++) before = combine(before, sums[i * COLUMNS + column]);
      if (mine == PARTS - 1) {
        write_state(p, group, combine(before, sum));
      }
      if (SCANS)
        each_row([&](i64 c, const State& row) {
          at[c * p.groups] = before;
          before = combine(before, row);
        });
    }
    __syncthreads();
  }
}

// Each thread scans the states of one group over the pieces of its part.
__device__ __forceinline__ void scan_pieces(const Params& p) {
  const i64 threads = i64(gridDim.x) * THREADS;
  for (i64 group = i64(blockIdx.x) * THREADS + threadIdx.x; group < p.groups; group += threads) {
    const i64 part = group >> p.low, end = p.pieces[part + 1];
    State before = initial_state(p, group);
    for (i64 c = p.pieces[part]; c < end; c += BATCH) {
      State* at = p.table + (c << p.low) + (group - (part << p.low));
      State rows[BATCH];
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        if (c + i < end) rows[i] = at[i64(i) << p.low];
#pragma unroll
      for (int i = 0; i < BATCH; i++)
        if (c + i < end) {
          if (SCANS) at[i64(i) << p.low] = before;
          before = combine(before, rows[i]);
        }
    }
    write_state(p, group, before);
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) run_tiles(const __grid_constant__ Params p) {
  take_numbers(p);
  extern __shared__ __align__(16) u8 memory[];
  State* states = reinterpret_cast<State*>(memory);
  if constexpr (STEP == SCAN_TABLE && PARTED)
    scan_pieces(p);
  else if constexpr (STEP == SCAN_TABLE)
    scan_columns(p, states);
  else
    walk_chunks(p, states);
}
