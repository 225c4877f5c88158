/* An arena: takes pieces of one block of the caller's memory, front to back. There is no free. */
#ifndef PTE_ARENA_H
#define PTE_ARENA_H

#include "core/kernel.h"

/* With `data` NULL nothing is handed out and only `used` is counted: the same code measures and
 * takes. */
typedef struct pte_arena {
  unsigned char *data;
  uint64_t size, used;
} pte_arena;

/* An arena over the caller's `memory`, which it borrows until the last piece is out of use. */
pte_arena pte_arena_open(pte_memory memory);

/* An arena that counts only. */
pte_arena pte_arena_measure(void);

/* Takes `count` pieces of `size` bytes in a row, aligned to `align` (a power of two, at most 64),
 * and stores their address in `*out` (NULL when measuring). The bytes are undefined. PTE_NO_MEMORY:
 * fewer bytes are left, or the product does not fit; arena and `*out` are unchanged. */
PTE_CHECKED pte_status pte_arena_take(pte_arena *arena, uint64_t count, uint64_t size,
                                      uint64_t align, void **out);

#endif
