/* Taps of a depthwise convolution of int8 on AVX2: the bytes of two taps side by side, widened to
 * 16 bits, for vpmaddwd. A file names its RESCALE before it includes this. */
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
    const __m256i *weight = (const __m256i *)(const void *)(t->weight + 2 * c * t->pairs);
    __m256i low = _mm256_setzero_si256(), high = low;
    for (size_t p = 0; p < t->pairs; p++, weight += 2) {
      __m128i first = taps_load(x + offset[2 * p] + c, lanes);
      __m128i second = taps_load(x + offset[2 * p + 1] + c, lanes);
      __m256i a = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(first, second));
      __m256i b = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(first, second));
      low = _mm256_add_epi32(low, _mm256_madd_epi16(a, _mm256_loadu_si256(weight)));
      high = _mm256_add_epi32(high, _mm256_madd_epi16(b, _mm256_loadu_si256(weight + 1)));
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
