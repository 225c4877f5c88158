/* What becomes rows of integer products. */
#ifndef PTE_GATHER_H
#define PTE_GATHER_H

#include <stddef.h>

/* Windows of an image as rows of a product: window i, from x + i * step on, is `lines` pieces of
 * `bytes`, `pitch` apart, and becomes one row. */
typedef struct pte_gather {
  const void *x;
  size_t windows, step, lines, bytes, pitch;
  void *to; /* rows, row_bytes apart, which are a multiple of 64 */
  size_t row_bytes;
} pte_gather;

#endif
