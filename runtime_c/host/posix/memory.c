/* Files and memory on POSIX systems. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/mman.h>

#include "core/error.h"
#include "host/posix/file.h"

static void *system_allocate(void *self, size_t size_bytes, size_t align) {
  void *data = NULL;
  (void)self;
  return posix_memalign(&data, align, size_bytes) == 0 ? data : NULL;
}

static void system_release(void *self, void *data, size_t size_bytes) {
  (void)self, (void)size_bytes;
  free(data);
}

const pte_host_memory pte_host_system = {
    {.size = sizeof(pte_host_allocator), .allocate = system_allocate, .release = system_release}
};

static pte_status take_file(const char *path, bool copy, pte_memory *out, pte_error *error) {
  pte_host_file file = {0};
  if (path == NULL || out == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "file: path or out is NULL");
  PTE_TRY(pte_host_file_path(path, copy, &pte_host_system, &file, error));
  *out = file.bytes;
  return PTE_OK;
}

pte_status pte_host_map(const char *path, pte_memory *out, pte_error *error) {
  return take_file(path, false, out, error);
}

pte_status pte_host_read(const char *path, pte_memory *out, pte_error *error) {
  return take_file(path, true, out, error);
}

void pte_host_unmap(pte_memory mapped) {
  if (mapped.data != NULL) munmap(mapped.data, mapped.size_bytes);
}

pte_status pte_host_alloc(uint64_t size_bytes, pte_memory *out) {
  return pte_memory_take(&pte_host_system, size_bytes, "memory", out, NULL);
}

void pte_host_free(pte_memory memory) { free(memory.data); }
