#define _POSIX_C_SOURCE 200809L
#if !defined(__LP64__) /* parts of files above 2 GiB on 32-bit systems */
#define _FILE_OFFSET_BITS 64
#endif
#include "host/posix/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

#define ALIGN 64u

static pte_status fail(pte_error *error, const char *name, const char *what) {
  return pte_fail(error, PTE_IO, "%s: %s: %s", name, what, strerror(errno));
}

pte_status pte_memory_take(const pte_host_memory *from, uint64_t bytes, const char *what,
                           pte_memory *out, pte_error *error) {
  const pte_host_allocator *a = &from->allocator;
  void *data = NULL;
  if (bytes <= SIZE_MAX / 2 && bytes != 0) data = a->allocate(a->self, (size_t)bytes, ALIGN);
  if (data == NULL && bytes != 0)
    return pte_fail(error, PTE_NO_MEMORY, "%s: there are no %llu bytes", what, bytes);
  if ((uintptr_t)data % ALIGN != 0) {
    a->release(a->self, data, (size_t)bytes);
    return pte_fail(error, PTE_BAD_ARGUMENT, "allocator: expected memory aligned to %u", ALIGN);
  }
  *out = (pte_memory){data, (size_t)bytes};
  return PTE_OK;
}

void pte_memory_give(const pte_host_memory *from, pte_memory memory) {
  if (memory.data != NULL)
    from->allocator.release(from->allocator.self, memory.data, memory.size_bytes);
}

/* --- files ---------------------------------------------------------------------------------- */

/* The part's length, all of it inside the file. */
static pte_status measure(int descriptor, const char *name, uint64_t offset, uint64_t length,
                          size_t *out, pte_error *error) {
  struct stat about;
  if (fstat(descriptor, &about) != 0) return fail(error, name, "cannot be asked for its size");
  if (!S_ISREG(about.st_mode)) return pte_fail(error, PTE_IO, "%s: is not a file", name);
  uint64_t size = (uint64_t)about.st_size;
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
static pte_status map_part(int descriptor, const char *name, uint64_t offset, size_t length,
                           pte_host_file *out, pte_error *error) {
  size_t before = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));
  void *data =
      mmap(NULL, before + length, PROT_READ, MAP_PRIVATE, descriptor, (off_t)(offset - before));
  if (data == MAP_FAILED) return fail(error, name, "cannot be mapped");
  out->mapped = (pte_memory){data, before + length};
  out->bytes = (pte_memory){(char *)data + before, length};
  return PTE_OK;
}

static pte_status read_part(int descriptor, const char *name, uint64_t offset, size_t length,
                            const pte_host_memory *memory, pte_host_file *out, pte_error *error) {
  pte_memory whole = {NULL, 0};
  PTE_TRY(pte_memory_take(memory, length, name, &whole, error));
  for (size_t at = 0; at < length;) {
    ssize_t got = pread(descriptor, (char *)whole.data + at, length - at, (off_t)(offset + at));
    if (got < 0 && errno == EINTR) continue;
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

pte_status pte_host_file_part(int descriptor, const char *name, uint64_t offset, uint64_t length,
                              bool copy, const pte_host_memory *memory, pte_host_file *out,
                              pte_error *error) {
  size_t size = 0;
  PTE_TRY(measure(descriptor, name, offset, length, &size, error));
  return copy || offset % ALIGN != 0 ? read_part(descriptor, name, offset, size, memory, out, error)
                                     : map_part(descriptor, name, offset, size, out, error);
}

pte_status pte_host_file_path(const char *path, bool copy, const pte_host_memory *memory,
                              pte_host_file *out, pte_error *error) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(error, path, "cannot be opened");
  pte_status status = pte_host_file_part(descriptor, path, 0, 0, copy, memory, out, error);
  close(descriptor); /* a mapping stays */
  return status;
}

pte_status pte_host_file_bytes(const void *bytes, size_t size_bytes, bool copy,
                               const pte_host_memory *memory, pte_host_file *out,
                               pte_error *error) {
  if (bytes == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "bytes: NULL");
  if (!copy && (uintptr_t)bytes % ALIGN == 0) {
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
