/* Depthwise sums of int8 on AVX2. */
#if PTE_HAVE_AVX2
#include "kernels/depthwise/depthwise_i8_x86.inc"

/* --- windows of 3 by 3, column after column: each is loaded and widened once for the outputs whose
 * windows it lies in */

typedef struct column {
  __m256i upper[2], lower[2]; /* lines 0 and 1 side by side; line 2, in 32 bits */
} column;

INLINE column column_of(const pte_walk_i8 *w, int64_t at, size_t channel, size_t lanes) {
  __m128i x[3];
#pragma GCC unroll 3
  for (size_t l = 0; l < 3; l++) x[l] = bytes_load(pte_walk_at(w, l, at) + channel, lanes);
  return (column){
      {_mm256_cvtepi8_epi16(_mm_unpacklo_epi8(x[0], x[1])),
       _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(x[0], x[1]))},
      {_mm256_cvtepi8_epi32(x[2]), _mm256_cvtepi8_epi32(_mm_srli_si128(x[2], 8))}
  };
}

/* sum = from + x times the weights of column j; `from` may be `sum`. */
INLINE void column_add(const int16_t *weight, size_t j, const column *x, const __m256i *from,
                       __m256i *sum) {
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    const int16_t *own = weight + j * 4 * PTE_PANEL + h * PTE_PANEL;
    __m256i both = _mm256_add_epi32(_mm256_madd_epi16(x->upper[h], load(own)),
                                    _mm256_madd_epi16(x->lower[h], load(own + 2 * PTE_PANEL)));
    sum[h] = _mm256_add_epi32(from[h], both);
  }
}

static void walk_sixteen(const pte_taps_i8 *t, size_t c, size_t lanes, const pte_walk_i8 *w) {
  const int16_t *weight = (const int16_t *)(const void *)t->weight + 2 * c * pte_tap_pairs(t);
  const pte_rescale_columns *columns = t->columns + c / PTE_PANEL;
  const __m256i bias[2] = {load(columns->bias), load(columns->bias + 8)};
  __m256i one[2] = {bias[0], bias[1]}, two[2] = {bias[0], bias[1]}; /* of so many columns */
  int8_t *y = w->y + c;
  for (size_t at = 0; at < (w->outputs - 1) * w->stride + 3; at++) {
    const column x = column_of(w, (int64_t)at, c, lanes);
    const bool first = w->stride == 1 || at % 2 == 0, second = w->stride == 1 || at % 2 != 0;
    if (first && at >= 2) {
      column_add(weight, 2, &x, two, two);
      sixteen_put(columns, two[0], two[1], lanes, y);
      y += t->channels;
    }
    if (second) column_add(weight, 1, &x, one, two);
    if (first) column_add(weight, 0, &x, bias, one);
  }
}

static void walk(const pte_taps_i8 *t, size_t first, size_t end, const pte_walk_i8 *w) {
  for (size_t c = first; c < end; c += PTE_PANEL)
    walk_sixteen(t, c, end - c < PTE_PANEL ? end - c : PTE_PANEL, w);
}

const pte_depthwise_i8 pte_depthwise_i8__avx2 = {.lay = lay, .taps = taps, .walk = walk};
#endif
