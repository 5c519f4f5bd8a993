// Counts calls of the allocating functions, and says so at the end: preloaded into a process.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static atomic_long calls;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) { ++calls; return __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { ++calls; return __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes) { ++calls; return __libc_realloc(old, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++calls;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  ++calls;
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : 12;
}
void *mmap(void *at, size_t bytes, int protection, int flags, int file, long offset) {
  static void *(*real)(void *, size_t, int, int, int, long);
  if (!real)
    real = (void *(*)(void *, size_t, int, int, int, long))dlsym(RTLD_NEXT, "mmap");
  ++calls;
  return real(at, bytes, protection, flags, file, offset);
}

__attribute__((destructor)) static void say(void) {
  long seen = calls;
  dprintf(2, "%ld allocations\n", seen);
}
