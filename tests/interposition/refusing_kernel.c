/* Preloaded: the kernel refuses what Stretto would like, on one rank only, so that the ranks must agree.
 *
 * REFUSE=memfd: no shared memory; REFUSE=pool: only its first piece; REFUSE=mmap: one rank cannot map it;
 * REFUSE=cma: one rank may not read another's memory; REFUSE=thread: no thread more after MPI_Init; REFUSE=hwloc: no
 * libhwloc can be loaded.
 * REFUSE_RANK: on which rank (default 0). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int refuses(const char* what) {
  const char* refused = getenv("REFUSE");
  const char* where = getenv("REFUSE_RANK");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMI_RANK");
  return refused && rank && strcmp(refused, what) == 0 && strcmp(rank, where ? where : "0") == 0;
}

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

int memfd_create(const char* name, unsigned int flags) {
  static int calls;
  if (refuses("memfd") || (refuses("pool") && calls++ > 0)) return errno = ENOSPC, -1;
  int (*function)(const char*, unsigned int);
  *(void**)&function = next("memfd_create");
  return function(name, flags);
}

void* dlopen(const char* name, int flags) {
  if (refuses("hwloc") && name && strstr(name, "libhwloc")) return NULL;
  void* (*function)(const char*, int);
  *(void**)&function = next("dlopen");
  return function(name, flags);
}

static int is_stretto_memory(int descriptor) {
  char path[64], target[256] = "";
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  if (descriptor < 0 || readlink(path, target, sizeof target - 1) < 0) return 0;
  return strstr(target, "memfd:stretto") != NULL;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  if (refuses("mmap") && is_stretto_memory(descriptor)) return errno = ENOMEM, MAP_FAILED;
  void* (*function)(void*, size_t, int, int, int, off_t);
  *(void**)&function = next("mmap");
  return function(address, bytes, protection, flags, descriptor, offset);
}

ssize_t process_vm_readv(pid_t process, const struct iovec* local, unsigned long locals, const struct iovec* remote,
                         unsigned long remotes, unsigned long flags) {
  if (refuses("cma")) return errno = EPERM, -1;
  ssize_t (*function)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long, unsigned long);
  *(void**)&function = next("process_vm_readv");
  return function(process, local, locals, remote, remotes, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  int begun = 0;
  int (*initialized)(int*);
  *(void**)&initialized = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
  if (refuses("thread") && initialized && initialized(&begun) == 0 && begun) return EAGAIN;
  int (*function)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  *(void**)&function = next("pthread_create");
  return function(thread, attributes, start, argument);
}
