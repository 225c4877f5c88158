/* Taps of a depthwise convolution of int8 on AVX2: products of two codes fit in 16 bits, sums go on
 * in 32. A file names its RESCALE before it includes this. */
#ifndef PTE_TAPS_I8_X86_H
#define PTE_TAPS_I8_X86_H

#include <immintrin.h>
#include <string.h>

#include "kernels/variants.h"

static inline __m128i taps_load(const int8_t *x, size_t lanes) {
  int8_t some[PTE_PANEL] = {0};
  if (lanes == PTE_PANEL) return _mm_loadu_si128((const __m128i *)(const void *)x);
  memcpy(some, x, lanes);
  return _mm_loadu_si128((const __m128i *)(const void *)some);
}

static void taps_x86(const pte_taps_i8 *t, const int64_t *offset, const int8_t *x, int8_t *y) {
  for (size_t c = 0; c < t->channels; c += PTE_PANEL) {
    size_t lanes = t->channels - c < PTE_PANEL ? t->channels - c : PTE_PANEL;
    const int16_t *weight = t->weight + c * t->taps;
    __m256i low = _mm256_setzero_si256(), high = low;
    for (size_t k = 0; k < t->taps; k++, weight += PTE_PANEL) {
      __m256i wide = _mm256_cvtepi8_epi16(taps_load(x + offset[k] + c, lanes));
      __m256i w = _mm256_loadu_si256((const __m256i *)(const void *)weight);
      __m256i product = _mm256_mullo_epi16(wide, w);
      low = _mm256_add_epi32(low, _mm256_cvtepi16_epi32(_mm256_castsi256_si128(product)));
      high = _mm256_add_epi32(high, _mm256_cvtepi16_epi32(_mm256_extracti128_si256(product, 1)));
    }
    int32_t sum[1][PTE_PANEL];
    int8_t tile[PTE_PANEL];
    _mm256_storeu_si256((__m256i *)(void *)sum[0], low);
    _mm256_storeu_si256((__m256i *)(void *)(sum[0] + 8), high);
    RESCALE(1, sum, t->columns + c / PTE_PANEL, lanes == PTE_PANEL ? y + c : tile, PTE_PANEL);
    if (lanes < PTE_PANEL) memcpy(y + c, tile, lanes);
  }
}

#endif
