/* Files and memory on POSIX systems. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "pteron/host.h"

static pte_status fail(pte_error *error, const char *path, const char *what) {
  return pte_fail(error, PTE_IO, "%s: %s: %s", path, what, strerror(errno));
}

static pte_status map_open_file(int file, const char *path, pte_memory *out, pte_error *error) {
  struct stat about;
  if (fstat(file, &about) != 0) return fail(error, path, "cannot be asked for its size");
  if (!S_ISREG(about.st_mode)) return pte_fail(error, PTE_IO, "%s: is not a file", path);
  if (about.st_size == 0) return pte_fail(error, PTE_BAD_PROGRAM, "%s: is empty", path);
  if ((uint64_t)about.st_size > SIZE_MAX)
    return pte_fail(error, PTE_IO, "%s: larger than the address space", path);
  size_t size = (size_t)about.st_size;
  void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return fail(error, path, "cannot be mapped");
  *out = (pte_memory){data, size};
  return PTE_OK;
}

pte_status pte_host_map(const char *path, pte_memory *out, pte_error *error) {
  if (path == NULL || out == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "map: path or out is NULL");
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(error, path, "cannot be opened");
  pte_status status = map_open_file(file, path, out, error);
  close(file); /* the mapping stays */
  return status;
}

void pte_host_unmap(pte_memory mapped) {
  if (mapped.data != NULL) munmap(mapped.data, mapped.size_bytes);
}

pte_status pte_host_alloc(uint64_t size_bytes, pte_memory *out) {
  if (size_bytes > SIZE_MAX / 2) return PTE_NO_MEMORY;
  void *data = NULL;
  if (size_bytes != 0 && posix_memalign(&data, 64, (size_t)size_bytes) != 0) return PTE_NO_MEMORY;
  *out = (pte_memory){data, (size_t)size_bytes};
  return PTE_OK;
}

void pte_host_free(pte_memory memory) { free(memory.data); }
