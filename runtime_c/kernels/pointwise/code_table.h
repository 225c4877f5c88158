/* The family of code_table: bytes through a table of 256. */
#ifndef PTE_CODE_TABLE_H
#define PTE_CODE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/variant.h"

typedef struct pte_code_table {
  /* y[i] = table[x[i]], i < n; y may be x */
  void (*recode)(const uint8_t *table, size_t n, const uint8_t *x, uint8_t *y);
} pte_code_table;

PTE_FAMILY(code_table)

#endif
