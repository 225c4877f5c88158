/* Of the variant for AVX-512 with VNNI, what that for AMX does likewise. */
#ifndef PTE_GEMM_STATIC_AVX512VNNI_H
#define PTE_GEMM_STATIC_AVX512VNNI_H

#include "kernels/gemm_int8/gemm_static.h"

void pte_columns__avx512vnni(pte_rescale_columns *columns, const int8_t *shifts);
void pte_wide__avx512vnni(const int32_t *sum, const pte_rescale_columns *columns, size_t lanes,
                          int8_t *y);

#endif
