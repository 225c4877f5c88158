/* Public structs that start with their size: read from and given to callers who were compiled with
 * an older or a newer header than this library. */
#ifndef PTE_SIZED_H
#define PTE_SIZED_H

#include "pteron/pteron.h"

/* Stores the caller's struct `given` (NULL: all zero) in `out`, a struct of `size` bytes. A shorter
 * one is extended by zeros; of a longer one, what this library does not know must be zero.
 * PTE_BAD_ARGUMENT: its size is none that a struct has; PTE_UNSUPPORTED: it asks for what a newer
 * library knows. The text names `what`. */
PTE_CHECKED pte_status pte_sized_read(const void *given, void *out, uint32_t size, const char *what,
                                      pte_error *err);

/* Stores `from`, a struct of `size` bytes, in the caller's struct `out`, as much of it as its size
 * says; what this library does not know becomes zero. PTE_BAD_ARGUMENT: NULL, or a size that no
 * struct has; nothing is stored. */
PTE_CHECKED pte_status pte_sized_write(void *out, const void *from, uint32_t size);

#endif
