/* What kernels that make arrays ask of Numba's runtime, memory that counts its users, and of others than POSIX. */
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
