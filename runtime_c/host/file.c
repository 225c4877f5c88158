/* Parts of files, mapped or read; bytes of callers, in place or copied. */
#include "host/file.h"

#include <string.h>

#include "core/error.h"
#include "host/system.h"

static pte_status fail(pte_error *error, const char *name, const char *what) {
  char room[PTE_SYSTEM_ROOM];
  const char *why = pte_system_text(pte_system_error(), room);
  return pte_fail(error, PTE_IO, "%s: %s: %s", name, what, why);
}

/* The part's length, all of it inside the file. */
static pte_status measure(pte_system_file file, const char *name, uint64_t offset, uint64_t length,
                          size_t *out, pte_error *error) {
  uint64_t size = 0;
  bool plain = false;
  if (!pte_system_measure(file, &size, &plain))
    return fail(error, name, "cannot be asked for its size");
  if (!plain) return pte_fail(error, PTE_IO, "%s: is not a file", name);
  if (size == 0) return pte_fail(error, PTE_BAD_PROGRAM, "%s: is empty", name);
  if (offset >= size || length > size - offset)
    return pte_fail(error, PTE_BAD_ARGUMENT, "%s: %llu bytes from %llu, the file has %llu", name,
                    length, offset, size);
  if (length == 0) length = size - offset;
  if (length > SIZE_MAX / 2)
    return pte_fail(error, PTE_IO, "%s: larger than the address space", name);
  *out = (size_t)length;
  return PTE_OK;
}

/* A mapping begins where a page does. */
static pte_status map_part(pte_system_file file, const char *name, uint64_t offset, size_t length,
                           pte_host_file *out, pte_error *error) {
  size_t before = (size_t)(offset % pte_system_page());
  void *data = pte_system_map(file, offset - before, before + length);
  if (data == NULL) return fail(error, name, "cannot be mapped");
  out->mapped = (pte_memory){data, before + length};
  out->bytes = (pte_memory){(char *)data + before, length};
  return PTE_OK;
}

static pte_status read_part(pte_system_file file, const char *name, uint64_t offset, size_t length,
                            const pte_host_memory *memory, pte_host_file *out, pte_error *error) {
  pte_memory whole = {NULL, 0};
  PTE_TRY(pte_memory_take(memory, length, name, &whole, error));
  for (size_t at = 0; at < length;) {
    int64_t got = pte_system_read(file, (char *)whole.data + at, length - at, offset + at);
    if (got <= 0) {
      pte_status status =
          got < 0 ? fail(error, name, "cannot be read")
                  : pte_fail(error, PTE_IO, "%s: became shorter while it was read", name);
      pte_memory_give(memory, whole);
      return status;
    }
    at += (size_t)got;
  }
  out->copy = out->bytes = whole;
  return PTE_OK;
}

static pte_status open_part(pte_system_file file, const char *name, uint64_t offset,
                            uint64_t length, bool copy, const pte_host_memory *memory,
                            pte_host_file *out, pte_error *error) {
  size_t size = 0;
  PTE_TRY(measure(file, name, offset, length, &size, error));
  return copy || offset % PTE_HOST_ALIGN != 0
             ? read_part(file, name, offset, size, memory, out, error)
             : map_part(file, name, offset, size, out, error);
}

pte_status pte_host_file_part(int descriptor, const char *name, uint64_t offset, uint64_t length,
                              bool copy, const pte_host_memory *memory, pte_host_file *out,
                              pte_error *error) {
  return open_part(pte_system_of_descriptor(descriptor), name, offset, length, copy, memory, out,
                   error);
}

pte_status pte_host_file_path(const char *path, bool copy, const pte_host_memory *memory,
                              pte_host_file *out, pte_error *error) {
  pte_system_file file;
  if (!pte_system_open(path, &file)) return fail(error, path, "cannot be opened");
  pte_status status = open_part(file, path, 0, 0, copy, memory, out, error);
  pte_system_close(file); /* a mapping stays */
  return status;
}

pte_status pte_host_file_bytes(const void *bytes, size_t size_bytes, bool copy,
                               const pte_host_memory *memory, pte_host_file *out,
                               pte_error *error) {
  if (bytes == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "bytes: NULL");
  if (!copy && (uintptr_t)bytes % PTE_HOST_ALIGN == 0) {
    out->bytes = (pte_memory){(void *)(uintptr_t)bytes, size_bytes};
    return PTE_OK;
  }
  PTE_TRY(pte_memory_take(memory, size_bytes, "bytes", &out->copy, error));
  if (size_bytes != 0) memcpy(out->copy.data, bytes, size_bytes);
  out->bytes = out->copy;
  return PTE_OK;
}

void pte_host_file_close(pte_host_file *file, const pte_host_memory *memory) {
  pte_host_unmap(file->mapped);
  pte_memory_give(memory, file->copy);
  *file = (pte_host_file){0};
}
