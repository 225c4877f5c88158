/* Of the variant for AVX-512 with VNNI, what that for AMX does likewise. */
#ifndef PTE_GEMM_STATIC_AVX512VNNI_H
#define PTE_GEMM_STATIC_AVX512VNNI_H

#include "kernels/gemm_int8/gemm_static.h"

void pte_columns__avx512vnni(pte_rescale_columns *columns, const int8_t *shifts);
void pte_wide__avx512vnni(const int32_t *sum, const pte_rescale_columns *columns, size_t lanes,
                          int8_t *y);
uint32_t pte_turn__avx512vnni(size_t depth, const float *x, float *to);
void pte_codes__avx512vnni(size_t count, const float *x, uint32_t largest, int8_t *code,
                           float *scale);
void pte_scaled__avx512vnni(const pte_scaled_i8 *s, size_t rows, size_t panels);

#endif
