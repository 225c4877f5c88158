/* Memory of the system or of the caller, and files in it. */
#include "core/error.h"
#include "host/file.h"
#include "host/system.h"

const pte_host_memory pte_host_system = {
    {.size = sizeof(pte_host_allocator),
     .allocate = pte_system_allocate,
     .release = pte_system_release}
};

pte_status pte_memory_take(const pte_host_memory *from, uint64_t bytes, const char *what,
                           pte_memory *out, pte_error *error) {
  const pte_host_allocator *a = &from->allocator;
  void *data = NULL;
  if (bytes <= SIZE_MAX / 2 && bytes != 0)
    data = a->allocate(a->self, (size_t)bytes, PTE_HOST_ALIGN);
  if (data == NULL && bytes != 0)
    return pte_fail(error, PTE_NO_MEMORY, "%s: there are no %llu bytes", what, bytes);
  if ((uintptr_t)data % PTE_HOST_ALIGN != 0) {
    a->release(a->self, data, (size_t)bytes);
    return pte_fail(error, PTE_BAD_ARGUMENT, "allocator: expected memory aligned to %u",
                    PTE_HOST_ALIGN);
  }
  *out = (pte_memory){data, (size_t)bytes};
  return PTE_OK;
}

void pte_memory_give(const pte_host_memory *from, pte_memory memory) {
  if (memory.data != NULL)
    from->allocator.release(from->allocator.self, memory.data, memory.size_bytes);
}

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
  if (mapped.data != NULL) pte_system_unmap(mapped.data, mapped.size_bytes);
}

pte_status pte_host_alloc(uint64_t size_bytes, pte_memory *out) {
  return pte_memory_take(&pte_host_system, size_bytes, "memory", out, NULL);
}

void pte_host_free(pte_memory memory) { pte_memory_give(&pte_host_system, memory); }
