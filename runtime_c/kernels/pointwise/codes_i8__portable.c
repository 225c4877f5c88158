/* Codes of int8 in plain C. This file defines the bits. */
#include "kernels/pointwise/codes_i8.h"

static void add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k, int8_t *y) {
  pte_codes_add(count, a, b, k, y);
}

static void larger(int64_t taps, const int64_t *offset, size_t count, const int8_t *x, int8_t *y) {
  pte_codes_larger(taps, offset, count, x, y);
}

const pte_codes_i8 pte_codes_i8__portable = {.add = add, .larger = larger};
