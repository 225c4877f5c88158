/* Of the variant for AVX-512 with VNNI, what that for AMX needs. */
#ifndef PTE_GEMM_BLOCKS_AVX512VNNI_H
#define PTE_GEMM_BLOCKS_AVX512VNNI_H

#include "kernels/matrix/gemm_blocks.h"

/* Blocks first .. first + count of a panel: t as [count][8][16][4], 64-byte aligned, anything
 * behind K, and scales as [count][16]. */
void pte_blocks_read__avx512vnni(const pte_stored *w, size_t panel, size_t first, size_t count,
                                 int8_t *codes, float *scales);

/* pte_i8_quantize. */
void pte_i8_quantize__avx512vnni(size_t depth, const float *x, float factor, int8_t *code,
                                 float *step, int32_t *sum);

#endif
