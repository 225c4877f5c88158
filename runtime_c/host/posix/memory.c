/* Files and memory on POSIX systems. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

static pte_status file_size(int file, const char *path, size_t *out, pte_error *error) {
  struct stat about;
  if (fstat(file, &about) != 0) return fail(error, path, "cannot be asked for its size");
  if (!S_ISREG(about.st_mode)) return pte_fail(error, PTE_IO, "%s: is not a file", path);
  if (about.st_size == 0) return pte_fail(error, PTE_BAD_PROGRAM, "%s: is empty", path);
  if ((uint64_t)about.st_size > SIZE_MAX)
    return pte_fail(error, PTE_IO, "%s: larger than the address space", path);
  *out = (size_t)about.st_size;
  return PTE_OK;
}

static pte_status map_whole(int file, const char *path, size_t size, pte_memory *out,
                            pte_error *error) {
  void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED) return fail(error, path, "cannot be mapped");
  *out = (pte_memory){data, size};
  return PTE_OK;
}

static pte_status read_whole(int file, const char *path, size_t size, pte_memory *out,
                             pte_error *error) {
  pte_memory whole;
  if (pte_host_alloc(size, &whole) != PTE_OK)
    return pte_fail(error, PTE_NO_MEMORY, "%s: the system has no %llu bytes", path, (uint64_t)size);
  for (size_t at = 0; at < size;) {
    ssize_t got = read(file, (char *)whole.data + at, size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      pte_host_free(whole);
      if (got < 0) return fail(error, path, "cannot be read");
      return pte_fail(error, PTE_IO, "%s: became shorter while it was read", path);
    }
    at += (size_t)got;
  }
  *out = whole;
  return PTE_OK;
}

static pte_status take_file(const char *path, bool map, pte_memory *out, pte_error *error) {
  size_t size = 0;
  if (path == NULL || out == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "file: path or out is NULL");
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(error, path, "cannot be opened");
  pte_status status = file_size(file, path, &size, error);
  if (status == PTE_OK) status = (map ? map_whole : read_whole)(file, path, size, out, error);
  close(file); /* a mapping stays */
  return status;
}

pte_status pte_host_map(const char *path, pte_memory *out, pte_error *error) {
  return take_file(path, true, out, error);
}

pte_status pte_host_read(const char *path, pte_memory *out, pte_error *error) {
  return take_file(path, false, out, error);
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
