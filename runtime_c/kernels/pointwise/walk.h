/* How the elements of a tensor are met in the order of a pointwise program's shape. */
#ifndef PTE_WALK_H
#define PTE_WALK_H

#include <stdbool.h>

#include "kernels/rows/rows.h"

typedef struct pte_walk {
  unsigned char *data; /* NULL: an output that is not wanted */
  pte_rows rows;
  uint8_t dtype, element_bytes;
  bool even;   /* one row of step 1 whose elements are the register's */
  bool direct; /* it is, and may be read or written in place: no copy */
} pte_walk;

#endif
