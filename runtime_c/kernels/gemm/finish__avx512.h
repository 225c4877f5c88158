/* kernels/gemm/finish.h for AVX-512: elements that do not exist are not read. */
#ifndef PTE_FINISH_AVX512_H
#define PTE_FINISH_AVX512_H

#include <immintrin.h>

#include "kernels/gemm/finish.h"

#define FINISH_VECTOR        __m512
#define FINISH_LANES         16
#define FINISH_PART          __mmask16
#define FINISH_WHOLE         0xffff
#define FINISH_LOAD(part, p) _mm512_maskz_loadu_ps(part, p)
#define FINISH_ALL           _mm512_set1_ps
#define FINISH_ADD           _mm512_add_ps
#define FINISH_MOST          _mm512_max_ps
#define FINISH_LEAST         _mm512_min_ps
#include "kernels/gemm/finish_tile.inc"

#endif
