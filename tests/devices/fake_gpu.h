/* What a test does with the memory of fake_gpu.c. */
#ifndef STRETTO_TESTS_FAKE_GPU_H
#define STRETTO_TESTS_FAKE_GPU_H

#include <stddef.h>

/* Managed memory may be touched by the processor, too. */
enum { kOfContext, kOfNoContext, kManaged, kGpuMemories };

void* fake_gpu_allocate(size_t bytes, int kind);
void fake_gpu_free(void* device);
void fake_gpu_write(void* device, const void* from, size_t bytes);
void fake_gpu_read(const void* device, void* to, size_t bytes);
/* So many have been made by the driver. */
int fake_gpu_copies(void);

#endif
