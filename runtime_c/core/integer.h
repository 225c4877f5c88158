/* The lesser and the greater of two integers, and quotients rounded up. */
#ifndef PTE_INTEGER_H
#define PTE_INTEGER_H

#include <stddef.h>
#include <stdint.h>

static inline size_t pte_least(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t pte_most(size_t a, size_t b) { return a > b ? a : b; }
static inline uint64_t pte_most_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* a / b rounded up; b > 0. */
static inline size_t pte_ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

static inline int64_t pte_least_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t pte_most_i64(int64_t a, int64_t b) { return a > b ? a : b; }

/* a / b rounded up, towards positive infinity; b > 0. */
static inline int64_t pte_ceil_div_i64(int64_t a, int64_t b) { return a / b + (a % b > 0); }

#endif
