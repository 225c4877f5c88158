/* What happens to a finished sum; finish.h says more. */
#ifndef PTE_FINISH_F32_H
#define PTE_FINISH_F32_H

#include <stdbool.h>
#include <stddef.h>

enum { PTE_ADDENDS = 2 }; /* of a finish */

/* What happens to a finished sum, in this order. */
typedef struct pte_finish_f32 {
  const float *add[PTE_ADDENDS];  /* NULL: none; else the element for row 0, column 0 */
  size_t add_stride[PTE_ADDENDS]; /* between rows; 0: one row for all */
  float low, high;
  bool at_least, at_most; /* low, high count */
} pte_finish_f32;

#endif
