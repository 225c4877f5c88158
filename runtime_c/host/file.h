/* Bytes of files and of callers, for as long as a model needs them. Internal to host. */
#ifndef PTE_HOST_FILE_H
#define PTE_HOST_FILE_H

#include <stdbool.h>

#include "core/kernel.h"
#include "pteron/host.h"

#define PTE_HOST_ALIGN 64u /* of all memory, and of bytes that are used in place */

/* All of a model's memory: the caller's allocator, or the system's. */
typedef struct pte_host_memory {
  pte_host_allocator allocator; /* complete */
} pte_host_memory;

extern const pte_host_memory pte_host_system;

/* 64-byte aligned. PTE_NO_MEMORY: there is no more; the text says for `what`. */
PTE_CHECKED pte_status pte_memory_take(const pte_host_memory *from, uint64_t bytes,
                                       const char *what, pte_memory *out, pte_error *error);
void pte_memory_give(const pte_host_memory *from, pte_memory memory);

/* `bytes` are borrowed, mapped, or a copy. */
typedef struct pte_host_file {
  pte_memory bytes;
  pte_memory mapped, copy; /* what pte_host_file_close gives back */
} pte_host_file;

/* Part of an open file: `length` bytes from `offset`, 0: all that follow. It is mapped, unless
 * `copy` or the offset asks for reading. `name` is for texts. PTE_IO, PTE_NO_MEMORY,
 * PTE_BAD_PROGRAM: it is empty. */
PTE_CHECKED pte_status pte_host_file_part(int descriptor, const char *name, uint64_t offset,
                                          uint64_t length, bool copy, const pte_host_memory *memory,
                                          pte_host_file *out, pte_error *error);
PTE_CHECKED pte_status pte_host_file_path(const char *path, bool copy,
                                          const pte_host_memory *memory, pte_host_file *out,
                                          pte_error *error);

/* The caller's bytes, or a copy where they are not aligned. */
PTE_CHECKED pte_status pte_host_file_bytes(const void *bytes, size_t size_bytes, bool copy,
                                           const pte_host_memory *memory, pte_host_file *out,
                                           pte_error *error);

void pte_host_file_close(pte_host_file *file, const pte_host_memory *memory);

#endif
