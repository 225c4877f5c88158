/* Sixteen f32 side by side: what a kernel's inner loops are written in where compilers do not find
 * the registers by themselves. The same bits on every target; a file that includes this may be
 * compiled again for AVX2 with FMA. */
#ifndef PTE_LANES_H
#define PTE_LANES_H

#include <stddef.h>

#include "core/math.h"

/* pte_lanes_all: x in every lane; pte_lanes_fma: x * b + c; pte_lanes_larger: x where it is larger
 * than best or a NaN, else best; pte_lanes_smaller likewise; pte_lanes_most: the larger, either
 * where one is a NaN; pte_lanes_transpose: to[i][j] = from[j][i] for a block of 8 x 8.
 * PTE_LANE_SUMS: how many may be kept in registers beside the operands of a product. */
#define PTE_LANE_COUNT 16
#if defined(__AVX512F__)
#define PTE_LANE_SUMS 24
#elif (defined(__AVX2__) && defined(__FMA__)) || (defined(__aarch64__) && !defined(PTE_FMA_EMULATE))
#define PTE_LANE_SUMS 6
#else
#define PTE_LANE_SUMS 1 /* plain arrays: more would only be more code */
#endif

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)

typedef struct pte_lanes {
  __m512 all;
} pte_lanes;
PTE_ALWAYS pte_lanes pte_lanes_load(const float *x) { return (pte_lanes){_mm512_loadu_ps(x)}; }
PTE_ALWAYS void pte_lanes_store(float *x, pte_lanes a) { _mm512_storeu_ps(x, a.all); }
PTE_ALWAYS pte_lanes pte_lanes_zero(void) { return (pte_lanes){_mm512_setzero_ps()}; }
PTE_ALWAYS pte_lanes pte_lanes_all(float x) { return (pte_lanes){_mm512_set1_ps(x)}; }
PTE_ALWAYS pte_lanes pte_lanes_fma(const float *x, pte_lanes b, pte_lanes c) {
  return (pte_lanes){_mm512_fmadd_ps(_mm512_set1_ps(*x), b.all, c.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_add(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm512_add_ps(a.all, b.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_larger(pte_lanes x, pte_lanes best) {
  __mmask16 nan = _mm512_cmp_ps_mask(x.all, x.all, _CMP_UNORD_Q);
  return (pte_lanes){_mm512_mask_mov_ps(_mm512_max_ps(x.all, best.all), nan, x.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_smaller(pte_lanes x, pte_lanes best) {
  __mmask16 nan = _mm512_cmp_ps_mask(x.all, x.all, _CMP_UNORD_Q);
  return (pte_lanes){_mm512_mask_mov_ps(_mm512_min_ps(x.all, best.all), nan, x.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_most(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm512_max_ps(a.all, b.all)};
}

#elif defined(__AVX2__) && defined(__FMA__)

typedef struct pte_lanes {
  __m256 lo, hi;
} pte_lanes;
PTE_ALWAYS pte_lanes pte_lanes_load(const float *x) {
  return (pte_lanes){_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8)};
}
PTE_ALWAYS void pte_lanes_store(float *x, pte_lanes a) {
  _mm256_storeu_ps(x, a.lo);
  _mm256_storeu_ps(x + 8, a.hi);
}
PTE_ALWAYS pte_lanes pte_lanes_zero(void) {
  return (pte_lanes){_mm256_setzero_ps(), _mm256_setzero_ps()};
}
PTE_ALWAYS pte_lanes pte_lanes_all(float x) {
  return (pte_lanes){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
PTE_ALWAYS pte_lanes pte_lanes_fma(const float *x, pte_lanes b, pte_lanes c) {
  __m256 a = _mm256_broadcast_ss(x);
  return (pte_lanes){_mm256_fmadd_ps(a, b.lo, c.lo), _mm256_fmadd_ps(a, b.hi, c.hi)};
}
PTE_ALWAYS pte_lanes pte_lanes_add(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
/* x where it is larger than `best` or a NaN, else `best`; the instruction keeps its second operand
 * where they are equal or one is a NaN. */
PTE_ALWAYS __m256 pte_larger_256(__m256 x, __m256 best) {
  return _mm256_blendv_ps(_mm256_max_ps(x, best), x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
PTE_ALWAYS pte_lanes pte_lanes_larger(pte_lanes x, pte_lanes best) {
  return (pte_lanes){pte_larger_256(x.lo, best.lo), pte_larger_256(x.hi, best.hi)};
}
PTE_ALWAYS __m256 pte_smaller_256(__m256 x, __m256 best) {
  return _mm256_blendv_ps(_mm256_min_ps(x, best), x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
PTE_ALWAYS pte_lanes pte_lanes_smaller(pte_lanes x, pte_lanes best) {
  return (pte_lanes){pte_smaller_256(x.lo, best.lo), pte_smaller_256(x.hi, best.hi)};
}
PTE_ALWAYS pte_lanes pte_lanes_most(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}

#elif defined(__aarch64__) && !defined(PTE_FMA_EMULATE)

#include <arm_neon.h>
typedef struct pte_lanes {
  float32x4_t q[4];
} pte_lanes;
PTE_ALWAYS pte_lanes pte_lanes_load(const float *x) {
  return (pte_lanes){
      {vld1q_f32(x), vld1q_f32(x + 4), vld1q_f32(x + 8), vld1q_f32(x + 12)}
  };
}
PTE_ALWAYS void pte_lanes_store(float *x, pte_lanes a) {
  for (int i = 0; i < 4; i++) vst1q_f32(x + 4 * i, a.q[i]);
}
PTE_ALWAYS pte_lanes pte_lanes_zero(void) {
  float32x4_t zero = vdupq_n_f32(0);
  return (pte_lanes){
      {zero, zero, zero, zero}
  };
}
PTE_ALWAYS pte_lanes pte_lanes_all(float x) {
  float32x4_t all = vdupq_n_f32(x);
  return (pte_lanes){
      {all, all, all, all}
  };
}
PTE_ALWAYS pte_lanes pte_lanes_fma(const float *x, pte_lanes b, pte_lanes c) {
  for (int i = 0; i < 4; i++) c.q[i] = vfmaq_n_f32(c.q[i], b.q[i], *x);
  return c;
}
PTE_ALWAYS pte_lanes pte_lanes_add(pte_lanes a, pte_lanes b) {
  for (int i = 0; i < 4; i++) a.q[i] = vaddq_f32(a.q[i], b.q[i]);
  return a;
}
PTE_ALWAYS pte_lanes pte_lanes_larger(pte_lanes x, pte_lanes best) {
  for (int i = 0; i < 4; i++) { /* not (best >= x), so that a NaN is taken; but one in best stays */
    uint32x4_t keep =
        vorrq_u32(vcgeq_f32(best.q[i], x.q[i]), vmvnq_u32(vceqq_f32(best.q[i], best.q[i])));
    best.q[i] = vbslq_f32(keep, best.q[i], x.q[i]);
  }
  return best;
}
PTE_ALWAYS pte_lanes pte_lanes_smaller(pte_lanes x, pte_lanes best) {
  for (int i = 0; i < 4; i++) {
    uint32x4_t keep =
        vorrq_u32(vcleq_f32(best.q[i], x.q[i]), vmvnq_u32(vceqq_f32(best.q[i], best.q[i])));
    best.q[i] = vbslq_f32(keep, best.q[i], x.q[i]);
  }
  return best;
}
PTE_ALWAYS pte_lanes pte_lanes_most(pte_lanes a, pte_lanes b) {
  for (int i = 0; i < 4; i++) a.q[i] = vmaxq_f32(a.q[i], b.q[i]);
  return a;
}
PTE_ALWAYS void pte_lanes_transpose_4(const float *from, int64_t from_row, float *to,
                                      int64_t to_row) {
  float32x4_t a = vld1q_f32(from), b = vld1q_f32(from + from_row);
  float32x4_t c = vld1q_f32(from + 2 * from_row), d = vld1q_f32(from + 3 * from_row);
  float32x4_t even = vtrn1q_f32(a, b), odd = vtrn2q_f32(a, b), even_2 = vtrn1q_f32(c, d),
              odd_2 = vtrn2q_f32(c, d);
  vst1q_f32(to, vcombine_f32(vget_low_f32(even), vget_low_f32(even_2)));
  vst1q_f32(to + to_row, vcombine_f32(vget_low_f32(odd), vget_low_f32(odd_2)));
  vst1q_f32(to + 2 * to_row, vcombine_f32(vget_high_f32(even), vget_high_f32(even_2)));
  vst1q_f32(to + 3 * to_row, vcombine_f32(vget_high_f32(odd), vget_high_f32(odd_2)));
}
PTE_ALWAYS void pte_lanes_transpose(const float *from, int64_t from_row, float *to,
                                    int64_t to_row) {
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 8; j += 4)
      pte_lanes_transpose_4(from + j * from_row + i, from_row, to + i * to_row + j, to_row);
}

#else

typedef struct pte_lanes {
  float at[PTE_LANE_COUNT];
} pte_lanes;
PTE_ALWAYS pte_lanes pte_lanes_load(const float *x) {
  pte_lanes a;
  memcpy(a.at, x, sizeof a.at);
  return a;
}
PTE_ALWAYS void pte_lanes_store(float *x, pte_lanes a) { memcpy(x, a.at, sizeof a.at); }
PTE_ALWAYS pte_lanes pte_lanes_zero(void) { return (pte_lanes){{0}}; }
PTE_ALWAYS pte_lanes pte_lanes_all(float x) {
  pte_lanes a;
  for (int i = 0; i < PTE_LANE_COUNT; i++) a.at[i] = x;
  return a;
}
PTE_ALWAYS pte_lanes pte_lanes_fma(const float *x, pte_lanes b, pte_lanes c) {
  for (int i = 0; i < PTE_LANE_COUNT; i++) c.at[i] = pte_fma(*x, b.at[i], c.at[i]);
  return c;
}
PTE_ALWAYS pte_lanes pte_lanes_add(pte_lanes a, pte_lanes b) {
  for (int i = 0; i < PTE_LANE_COUNT; i++) a.at[i] += b.at[i];
  return a;
}
PTE_ALWAYS pte_lanes pte_lanes_larger(pte_lanes x, pte_lanes best) {
  for (int i = 0; i < PTE_LANE_COUNT; i++) {
    uint32_t take = pte_mask((x.at[i] > best.at[i]) | (x.at[i] != x.at[i]));
    best.at[i] = pte_pick(take, x.at[i], best.at[i]);
  }
  return best;
}
PTE_ALWAYS pte_lanes pte_lanes_smaller(pte_lanes x, pte_lanes best) {
  for (int i = 0; i < PTE_LANE_COUNT; i++) {
    uint32_t take = pte_mask((x.at[i] < best.at[i]) | (x.at[i] != x.at[i]));
    best.at[i] = pte_pick(take, x.at[i], best.at[i]);
  }
  return best;
}
PTE_ALWAYS pte_lanes pte_lanes_most(pte_lanes a, pte_lanes b) {
  for (int i = 0; i < PTE_LANE_COUNT; i++)
    a.at[i] = pte_pick(pte_mask(a.at[i] > b.at[i]), a.at[i], b.at[i]);
  return a;
}
PTE_ALWAYS void pte_lanes_transpose(const float *from, int64_t from_row, float *to,
                                    int64_t to_row) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) to[i * to_row + j] = from[j * from_row + i];
}

#endif

#if defined(__AVX2__) && defined(__FMA__)
/* to[i][j] = from[j][i] for a block of 8 x 8. */
PTE_ALWAYS void pte_lanes_transpose(const float *from, int64_t from_row, float *to,
                                    int64_t to_row) {
  __m256 a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = _mm256_loadu_ps(from + i * from_row);
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
  }
}
#endif

#if defined(__AVX512F__)
/* The same for a block of 16 x 16. */
PTE_ALWAYS void pte_lanes_transpose_16(const float *from, int64_t from_row, float *to,
                                       int64_t to_row) {
  __m512 a[16], b[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_loadu_ps(from + i * from_row);
    a[i + 1] = _mm512_loadu_ps(from + (i + 1) * from_row);
    b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    a[i] = _mm512_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm512_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm512_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) { /* quarters of rows i, i + 4, i + 8, i + 12 */
    __m512 even = _mm512_shuffle_f32x4(a[i], a[i + 4], 0x88);
    __m512 odd = _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd);
    __m512 even_2 = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0x88);
    __m512 odd_2 = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0xdd);
    _mm512_storeu_ps(to + i * to_row, _mm512_shuffle_f32x4(even, even_2, 0x88));
    _mm512_storeu_ps(to + (i + 4) * to_row, _mm512_shuffle_f32x4(odd, odd_2, 0x88));
    _mm512_storeu_ps(to + (i + 8) * to_row, _mm512_shuffle_f32x4(even, even_2, 0xdd));
    _mm512_storeu_ps(to + (i + 12) * to_row, _mm512_shuffle_f32x4(odd, odd_2, 0xdd));
  }
}
#endif

#endif
