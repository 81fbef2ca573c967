/* In place of a GPU and its driver: memory that the processor cannot touch, and the functions by which CUDA's driver
 * (libcuda.so.1) or, with FAKE_HIP, AMD's runtime (libamdhip64.so.6) tells of it and copies it, which answer as theirs
 * do by their documentation. What real ones do beyond that, no test with these can show. */
#define _GNU_SOURCE
#include "fake_gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kSuccess = 0, kInvalidValue = 1, kNotInitialized = 3, kInvalidContext = 201, kMost = 256 };

typedef struct {
  char *device, *host; /* the same bytes */
  size_t bytes;
  int kind;
} Allocation;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Allocation allocations[kMost];
static int initialized, copies;

/* That of which the `bytes` from `address` on are part; none of the others is touched by them. */
static Allocation* find(const char* address, size_t bytes) {
  for (Allocation* each = allocations; each < allocations + kMost; each++) {
    if (each->bytes > 0 && address >= each->device && address + bytes <= each->device + each->bytes) return each;
  }
  return NULL;
}

void* fake_gpu_allocate(size_t bytes, int kind) {
  pthread_mutex_lock(&mutex);
  initialized = 1;
  Allocation* free = allocations;
  while (free->bytes > 0) free++;
  const int file = memfd_create("fake_gpu", 0);
  if (free == allocations + kMost || file < 0 || ftruncate(file, (off_t)bytes) != 0) abort();
  const int reachable = kind == kManaged ? PROT_READ | PROT_WRITE : PROT_NONE;
  *free = (Allocation){.device = mmap(NULL, bytes, reachable, MAP_SHARED, file, 0),
                       .host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
                       .bytes = bytes,
                       .kind = kind};
  if (free->device == MAP_FAILED || free->host == MAP_FAILED) abort();
  close(file);
  pthread_mutex_unlock(&mutex);
  return free->device;
}

void fake_gpu_free(void* device) {
  pthread_mutex_lock(&mutex);
  Allocation* freed = find(device, 0);
  munmap(freed->device, freed->bytes);
  munmap(freed->host, freed->bytes);
  freed->bytes = 0;
  pthread_mutex_unlock(&mutex);
}

void fake_gpu_write(void* device, const void* from, size_t bytes) { memcpy(find(device, bytes)->host, from, bytes); }
void fake_gpu_read(const void* device, void* to, size_t bytes) { memcpy(to, find(device, bytes)->host, bytes); }

int fake_gpu_copies(void) { return copies; }

static int copy(char* to, const char* from, size_t bytes) {
  pthread_mutex_lock(&mutex);
  Allocation *target = find(to, 1), *source = find(from, 1);
  const int right = (target != NULL || source != NULL) && (target == NULL || find(to, bytes) == target) &&
                    (source == NULL || find(from, bytes) == source);
  if (target != NULL) to += target->host - target->device;
  if (source != NULL) from += source->host - source->device;
  if (right) memcpy(to, from, bytes);
  copies += right;
  pthread_mutex_unlock(&mutex);
  return right ? kSuccess : kInvalidValue;
}

#ifdef FAKE_HIP

int hipRuntimeGetVersion(int* version) {
  *version = 60342131;
  return kSuccess;
}

int hipPointerGetAttribute(void* value, int attribute, void* address) {
  pthread_mutex_lock(&mutex);
  const Allocation* owner = find(address, 1);
  pthread_mutex_unlock(&mutex);
  if (attribute != 2 || owner == NULL) return kInvalidValue;
  *(int*)value = owner->kind == kManaged ? 3 : 2;
  return kSuccess;
}

int hipMemcpy(void* to, const void* from, size_t bytes, int direction) {
  return direction == 4 ? copy(to, from, bytes) : kInvalidValue;
}

#else

static int of_program, primary; /* contexts */
static _Thread_local void* current[8];
static _Thread_local int depth;

int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, unsigned long long address) {
  if (!initialized) return kNotInitialized;
  pthread_mutex_lock(&mutex);
  const Allocation* owner = find((const char*)address, 1);
  pthread_mutex_unlock(&mutex);
  for (unsigned i = 0; i < count; i++) {
    if (attributes[i] == 1) *(void**)values[i] = owner != NULL && owner->kind != kOfNoContext ? &of_program : NULL;
    if (attributes[i] == 2) *(unsigned*)values[i] = owner != NULL ? 2 : 0;
    if (attributes[i] == 8) *(unsigned*)values[i] = owner != NULL && owner->kind == kManaged;
    if (attributes[i] == 9) *(int*)values[i] = owner != NULL ? 0 : -2;
  }
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &primary;
  return device == 0 ? kSuccess : kInvalidValue;
}

int cuCtxPushCurrent_v2(void* context) {
  if (context != &of_program && context != &primary) return kInvalidContext;
  current[depth++] = context;
  return kSuccess;
}

int cuCtxPopCurrent_v2(void** context) {
  if (depth == 0) return kInvalidContext;
  *context = current[--depth];
  return kSuccess;
}

int cuMemcpy(unsigned long long to, unsigned long long from, size_t bytes) {
  return depth == 0 ? kInvalidContext : copy((char*)to, (const char*)from, bytes);
}

#endif
