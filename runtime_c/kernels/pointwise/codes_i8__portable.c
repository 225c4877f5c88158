/* Codes of int8 in plain C. This file defines the bits. */
#include "kernels/pointwise/codes_i8.h"

static void add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k, int8_t *y) {
  pte_codes_add(count, a, b, k, y);
}

INLINE int8_t load_one(const void *x) { return *(const int8_t *)x; }
INLINE void store_one(void *y, int8_t code) { *(int8_t *)y = code; }
INLINE int8_t larger_one(int8_t a, int8_t b) { return a > b ? a : b; }
PTE_CODES_LARGER(larger, int8_t, load_one, store_one, larger_one)

const pte_codes_i8 pte_codes_i8__portable = {.add = PTE_WITH(ADD_I8, add), .larger = larger};
