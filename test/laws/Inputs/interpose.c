/* Counts what a process asks of the allocator and the kernel, from outside: preloaded.
 *
 * At exit it appends to the file that INTERPOSE_LOG names:
 *   allocations N        calls of malloc, calloc, realloc and aligned forms, and anonymous mappings, all threads
 *   largest BYTES        the largest single allocation of malloc and kin
 *   map BYTES            one line for each anonymous mapping of 4 KiB or more that can be read, as asked for
 *   step N               one line for each line `{"step": ...` that was written: the allocations until then
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 4096 };
static atomic_long allocations;
static atomic_long largest;
static atomic_long mapped[MOST];
static atomic_long maps;
static long atStep[MOST];
static long steps;

static void count(size_t size) {
  long seen = largest;
  while ((long)size > seen && !atomic_compare_exchange_weak(&largest, &seen, (long)size))
    ;
  ++allocations;
}

/* dlsym itself allocates before the real functions are known. */
static char early[1 << 16];
static size_t earlyUsed;

static void *(*realMalloc)(size_t);
static void *(*realCalloc)(size_t, size_t);
static void *(*realRealloc)(void *, size_t);
static void (*realFree)(void *);
static int (*realMemalign)(void **, size_t, size_t);
static void *(*realAligned)(size_t, size_t);
static void *(*realMmap)(void *, size_t, int, int, int, off_t);
static ssize_t (*realWrite)(int, const void *, size_t);

static int resolving;
static void resolve(void) {
  if (realMalloc || resolving)
    return;
  resolving = 1;
  realCalloc = dlsym(RTLD_NEXT, "calloc");
  realRealloc = dlsym(RTLD_NEXT, "realloc");
  realFree = dlsym(RTLD_NEXT, "free");
  realMemalign = dlsym(RTLD_NEXT, "posix_memalign");
  realAligned = dlsym(RTLD_NEXT, "aligned_alloc");
  realMmap = dlsym(RTLD_NEXT, "mmap");
  realWrite = dlsym(RTLD_NEXT, "write");
  realMalloc = dlsym(RTLD_NEXT, "malloc");
  resolving = 0;
}

static int isEarly(void *p) { return (char *)p >= early && (char *)p < early + sizeof early; }
static void *takeEarly(size_t size) {
  void *p = early + earlyUsed;
  earlyUsed += (size + 15) / 16 * 16;
  return p;
}

void *malloc(size_t size) {
  resolve();
  if (!realMalloc)
    return takeEarly(size);
  count(size);
  return realMalloc(size);
}
void *calloc(size_t number, size_t size) {
  resolve();
  if (!realMalloc)
    return takeEarly(number * size); /* static memory is zero */
  count(number * size);
  return realCalloc(number, size);
}
void *realloc(void *p, size_t size) {
  resolve();
  count(size);
  if (isEarly(p)) {
    void *fresh = realMalloc(size);
    memcpy(fresh, p, size);
    return fresh;
  }
  return realRealloc(p, size);
}
void free(void *p) {
  resolve();
  if (!isEarly(p) && realFree)
    realFree(p);
}
int posix_memalign(void **out, size_t alignment, size_t size) {
  resolve();
  count(size);
  return realMemalign(out, alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  resolve();
  count(size);
  return realAligned(alignment, size);
}
static void *mapAndNote(void *at, size_t size, int protection, int flags, int file, off_t offset) {
  resolve();
  if (flags & MAP_ANONYMOUS) {
    ++allocations;
    /* What cannot be read is addresses, not memory. */
    if (size >= 4096 && protection != PROT_NONE && maps < MOST)
      mapped[maps++] = (long)size;
  }
  return realMmap(at, size, protection, flags, file, offset);
}
void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
  return mapAndNote(at, size, protection, flags, file, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset) {
  return mapAndNote(at, size, protection, flags, file, offset);
}

ssize_t write(int file, const void *data, size_t size) {
  static const char line[] = "{\"step\": ";
  resolve();
  if (size > sizeof line && !memcmp(data, line, sizeof line - 1) && steps < MOST)
    atStep[steps++] = allocations;
  return realWrite(file, data, size);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("INTERPOSE_LOG");
  long total = allocations;
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file)
    return;
  fprintf(file, "allocations %ld\nlargest %ld\n", total, (long)largest);
  for (long i = 0; i < maps; ++i)
    fprintf(file, "map %ld\n", (long)mapped[i]);
  for (long i = 0; i < steps; ++i)
    fprintf(file, "step %ld\n", atStep[i]);
  fclose(file);
}
