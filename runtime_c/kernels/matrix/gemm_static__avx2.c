/* int8 products on AVX2: everything is widened to 16 bits, where vpmaddwd is exact for all codes
 * (vpmaddubsw saturates). Four elements of a row of x are stored as x0 x2 x1 x3, so that 32 bits
 * broadcast meet the even and the odd bytes of the panel, which shifts bring apart. */
#if PTE_HAVE_AVX2
#include <immintrin.h>
#include <string.h>

#include "kernels/matrix/rescale.h"
#include "kernels/variants.h"

#define INLINE static inline __attribute__((always_inline))

static void widen_four(const int8_t *x, int16_t *to) {
  to[0] = x[0], to[1] = x[2], to[2] = x[1], to[3] = x[3];
}

static void widen_avx2(size_t count, const int8_t *x, void *row) {
  const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
  int16_t *to = row;
  size_t at = 0;
  for (; at + 16 <= count; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(x + at));
    __m256i wide = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(bytes, order));
    _mm256_storeu_si256((__m256i *)(void *)(to + at), wide);
  }
  for (; at < count; at += 4) {
    int8_t four[4] = {0};
    memcpy(four, x + at, count - at < 4 ? count - at : 4);
    widen_four(four, to + at);
  }
}

INLINE __m256i pair(const char *x) {
  int32_t both;
  memcpy(&both, x, sizeof both);
  return _mm256_set1_epi32(both);
}

INLINE void rows_run(const size_t rows, size_t quads, const char *x, size_t row_bytes,
                     const int8_t *panel, int32_t (*sum)[PTE_PANEL]) {
  __m256i acc[PTE_STRIP][2];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) acc[m][0] = acc[m][1] = _mm256_setzero_si256();
  for (size_t q = 0; q < quads; q++, panel += 64, x += 8)
#pragma GCC unroll 2
    for (size_t h = 0; h < 2; h++) {
      __m256i w = _mm256_load_si256((const __m256i *)(const void *)(panel + 32 * h));
      __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8), odd = _mm256_srai_epi16(w, 8);
#pragma GCC unroll 6
      for (size_t m = 0; m < rows; m++) {
        const char *at = x + m * row_bytes;
        acc[m][h] = _mm256_add_epi32(acc[m][h], _mm256_madd_epi16(even, pair(at)));
        acc[m][h] = _mm256_add_epi32(acc[m][h], _mm256_madd_epi16(odd, pair(at + 4)));
      }
    }
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 2
    for (size_t h = 0; h < 2; h++)
      _mm256_storeu_si256((__m256i *)(void *)(sum[m] + 8 * h), acc[m][h]);
}

/* Four 64-bit lanes; v and multiplier are the low halves. There is no arithmetic shift: 2^63 is
 * added before a logical one and what became of it taken away after. */
INLINE __m256i scaled(__m256i v, __m256i multiplier, __m256i shift) {
  const __m256i one = _mm256_set1_epi64x(1), top = _mm256_set1_epi64x(INT64_MIN);
  __m256i half = _mm256_sllv_epi64(one, _mm256_sub_epi64(shift, one));
  __m256i sum = _mm256_add_epi64(_mm256_mul_epi32(v, multiplier), _mm256_add_epi64(half, top));
  return _mm256_sub_epi64(_mm256_srlv_epi64(sum, shift), _mm256_srlv_epi64(top, shift));
}

INLINE __m256i clamped(__m256i y, const pte_rescale_columns *c) {
  const __m256i low = _mm256_set1_epi64x(c->low), high = _mm256_set1_epi64x(c->high);
  y = _mm256_add_epi64(y, _mm256_set1_epi64x(c->zero));
  y = _mm256_blendv_epi8(y, low, _mm256_cmpgt_epi64(low, y));
  return _mm256_blendv_epi8(y, high, _mm256_cmpgt_epi64(y, high));
}

INLINE __m256i load(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }

/* Lanes 0 2 4 6 and 1 3 5 7 of eight 64-bit numbers. */
INLINE void apart(const int64_t *from, __m256i *even, __m256i *odd) {
  __m256i a = load(from), b = load(from + 4);
  *even = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8);
  *odd = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8);
}

/* Eight columns as 32-bit numbers. */
INLINE __m256i eight_rescaled(const int32_t *sum, const pte_rescale_columns *c, size_t n) {
  __m256i even_shift, odd_shift, multiplier = load(c->multiplier + n);
  __m256i v = _mm256_add_epi32(load(sum + n), load(c->bias + n));
  apart(c->shift + n, &even_shift, &odd_shift);
  __m256i even = clamped(scaled(v, multiplier, even_shift), c);
  __m256i odd =
      clamped(scaled(_mm256_srli_epi64(v, 32), _mm256_srli_epi64(multiplier, 32), odd_shift), c);
  return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

static void rescale_avx2(size_t rows, int32_t (*sum)[PTE_PANEL], const pte_rescale_columns *c,
                         int8_t *y, size_t y_stride) {
  for (size_t m = 0; m < rows; m++) {
    __m256i words = _mm256_packs_epi32(eight_rescaled(sum[m], c, 0), eight_rescaled(sum[m], c, 8));
    words = _mm256_permute4x64_epi64(words, 0xd8);
    __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128((__m128i *)(void *)(y + m * y_stride), bytes);
  }
}

#define RESCALE rescale_avx2
#include "kernels/matrix/gemm_static_x86.inc"

const pte_gemm_static pte_gemm_static__avx2 = {widen_avx2, tile_x86, rescale_avx2, taps_x86, 2};
#endif
