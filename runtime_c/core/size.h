/* Checked 64-bit size arithmetic: the only place where sizes are added and multiplied. */
#ifndef PTE_SIZE_H
#define PTE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* a + b, a * b, a rounded up to a multiple of `align` (a power of two), into `*out`. false: it does
 * not fit, and `*out` is not to be read. */
static inline bool pte_add(uint64_t a, uint64_t b, uint64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}

static inline bool pte_mul(uint64_t a, uint64_t b, uint64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

static inline bool pte_align(uint64_t a, uint64_t align, uint64_t *out) {
  if (!pte_add(a, align - 1, out)) return false;
  *out &= ~(align - 1);
  return true;
}

#endif
