/* Of the variant for AVX-512, what that with VNNI does likewise. */
#ifndef PTE_CODES_I8_AVX512_H
#define PTE_CODES_I8_AVX512_H

#include "kernels/variants.h"

void pte_codes_add__avx512(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k,
                           int8_t *y);
/* `count`: of whole vectors of 16. */
void pte_codes_exact__avx512(size_t count, const int8_t *a, const int8_t *b,
                             const pte_add_codes *factors, int8_t *y);
void pte_codes_larger__avx512(const pte_larger_i8 *windows);

#endif
