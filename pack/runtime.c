/* Functions of Numba that kernels call: reference-counted memory, for kernels that make arrays; mantissas of numbers;
   and a way to yield to other threads. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct { size_t users; void *destructor, *info, *data; size_t size; void *allocator; } Memory;

void *NRT_MemInfo_alloc_aligned(size_t size, uint32_t align) {
    Memory *made = malloc(sizeof(Memory) + size + align);
    if (!made) return NULL;
    uintptr_t first = (uintptr_t)(made + 1) + align - 1;
    *made = (Memory){1, NULL, NULL, (void *)(first - first % align), size, NULL};
    return made;
}

void NRT_MemInfo_call_dtor(Memory *memory) { free(memory); }

double numba_frexp(double x, int *exponent) {
    *exponent = 0;
    return isfinite(x) ? frexp(x, exponent) : x;
}

float numba_frexpf(float x, int *exponent) {
    *exponent = 0;
    return isfinite(x) ? frexpf(x, exponent) : x;
}

#ifdef _WIN32
int SwitchToThread(void);

int sched_yield(void) { return !SwitchToThread(); }
#endif
