/* Of the variant for AVX-512 with VNNI, what that for AMX needs. */
#ifndef PTE_GEMM_BLOCKS_AVX512VNNI_H
#define PTE_GEMM_BLOCKS_AVX512VNNI_H

#include "kernels/gemm_int8/gemm_blocks.h"
#include "kernels/prefetch.h"

/* Blocks first .. first + count of a panel: t as [count][8][16][4], 64-byte aligned, anything
 * behind K, and scales as [count][16]. */
void pte_blocks_read__avx512vnni(const pte_stored *w, size_t panel, size_t first, size_t count,
                                 int8_t *codes, float *scales);

/* pte_i8_quantize, and the variant's bias. */
void pte_i8_quantize__avx512vnni(size_t depth, const float *x, float factor, int32_t bias,
                                 int8_t *code, float *step, int32_t *start);
int32_t pte_i8_bias__avx512vnni(uint32_t format);

#endif
