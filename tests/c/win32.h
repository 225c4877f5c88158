/* What the C tests take from POSIX and Windows has by other names. */
#ifndef PTE_TEST_WIN32_H
#define PTE_TEST_WIN32_H

#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define aligned_alloc(align, size) _aligned_malloc(size, align)

static inline int take_aligned(void **out, size_t align, size_t size) {
  *out = _aligned_malloc(size, align);
  return *out == NULL;
}
#define posix_memalign take_aligned

/* Each kind of memory has a free() of its own there: tests leave all of it. */
#define free(memory) ((void)(memory))

static inline ssize_t pread(int file, void *to, size_t size, int64_t at) {
  return _lseeki64(file, at, SEEK_SET) < 0 ? -1 : _read(file, to, (unsigned)size);
}

static inline ssize_t pwrite(int file, const void *from, size_t size, int64_t at) {
  return _lseeki64(file, at, SEEK_SET) < 0 ? -1 : _write(file, from, (unsigned)size);
}

/* Files hold bytes. */
__attribute__((constructor)) static void no_text(void) { _fmode = _O_BINARY; }

#endif
