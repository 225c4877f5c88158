/* Memory that nobody may write, between two pages that nobody may touch: a caller's inputs and a
 * file as the library must take them. */
#ifndef PTE_TEST_FENCE_H
#define PTE_TEST_FENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FENCE_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FENCE_POISON 1
#endif
#endif
#if defined(FENCE_POISON)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

typedef struct fence {
  void *data; /* 64-byte aligned; it ends less than 64 bytes before the page behind */
  size_t size;
  char *pages;
  size_t pages_bytes;
} fence;

/* The caller fills `data`, shuts the fence, and takes it down. Ends the process where there is no
 * memory: the caller has its own bound. */
static inline fence fence_take(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + 63) / 64 * 64;
  size_t inside = (room + page - 1) / page * page;
  fence f = {.size = size, .pages_bytes = inside + 2 * page};
  f.pages =
      mmap(NULL, f.pages_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (f.pages == MAP_FAILED) abort();
  if (inside != 0 && mprotect(f.pages + page, inside, PROT_READ | PROT_WRITE) != 0) abort();
  f.data = f.pages + page + inside - room;
  return f;
}

/* What lies beside the bytes in their pages is no less shut: the sanitizer sees to that. */
static inline void fence_shut(const fence *f) {
  char *begin = f->pages, *data = f->data, *end = f->pages + f->pages_bytes;
  size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = f->pages_bytes - 2 * page;
  if (inside != 0 && mprotect(begin + page, inside, PROT_READ) != 0) abort();
  ASAN_POISON_MEMORY_REGION(begin, (size_t)(data - begin));
  ASAN_POISON_MEMORY_REGION(data + f->size, (size_t)(end - data) - f->size);
}

/* Of a shut one: its bytes may be written again. */
static inline void fence_open(const fence *f) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = f->pages_bytes - 2 * page;
  if (inside != 0 && mprotect(f->pages + page, inside, PROT_READ | PROT_WRITE) != 0) abort();
}

/* Of an empty fence: nothing. */
static inline void fence_drop(fence *f) {
  if (f->pages == NULL) return;
  ASAN_UNPOISON_MEMORY_REGION(f->pages, f->pages_bytes);
  munmap(f->pages, f->pages_bytes);
  *f = (fence){0};
}

#endif
