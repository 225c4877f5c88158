/* Files and memory of POSIX systems. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* madvise */
#if !defined(__LP64__)  /* parts of files above 2 GiB on 32-bit systems */
#define _FILE_OFFSET_BITS 64
#endif
#include "host/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Asks for pages of this size, where the system has them: a walk over weights and tensors meets a
 * new small page with every 64 lines. It may refuse. */
#define LARGE_PAGE ((size_t)2 << 20)

static void ask_large(void *data, size_t length) {
#if defined(MADV_HUGEPAGE)
  if (length >= LARGE_PAGE) (void)madvise(data, length, MADV_HUGEPAGE);
#else
  (void)data, (void)length;
#endif
}

int pte_system_error(void) { return errno; }

const char *pte_system_text(int error, char room[PTE_SYSTEM_ROOM]) {
  (void)room;
  return strerror(error);
}

bool pte_system_open(const char *path, pte_system_file *out) {
  *out = open(path, O_RDONLY | O_CLOEXEC);
  return *out >= 0;
}

void pte_system_close(pte_system_file file) { close((int)file); }

pte_system_file pte_system_of_descriptor(int descriptor) { return descriptor; }

bool pte_system_measure(pte_system_file file, uint64_t *out_size, bool *out_plain) {
  struct stat about;
  if (fstat((int)file, &about) != 0) return false;
  *out_size = (uint64_t)about.st_size;
  *out_plain = S_ISREG(about.st_mode);
  return true;
}

void *pte_system_map(pte_system_file file, uint64_t offset, size_t length) {
  void *data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, (int)file, (off_t)offset);
  if (data == MAP_FAILED) return NULL;
  ask_large(data, length);
  return data;
}

void pte_system_unmap(void *data, size_t length) { munmap(data, length); }

uint64_t pte_system_page(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

int64_t pte_system_read(pte_system_file file, void *to, size_t size, uint64_t at) {
  for (;;) {
    ssize_t got = pread((int)file, to, size, (off_t)at);
    if (got >= 0 || errno != EINTR) return got;
  }
}

void *pte_system_allocate(void *self, size_t size_bytes, size_t align) {
  void *data = NULL;
  (void)self;
  if (size_bytes >= LARGE_PAGE && align < LARGE_PAGE) align = LARGE_PAGE;
  if (posix_memalign(&data, align, size_bytes) != 0) return NULL;
  ask_large(data, size_bytes);
  return data;
}

void pte_system_release(void *self, void *data, size_t size_bytes) {
  (void)self, (void)size_bytes;
  free(data);
}
