/* Depthwise tiles on AVX2 and FMA: six pixels by 16 channels, so that a weight is loaded once for
 * six; the last channels, fewer than 16, through masks.. */
#if PTE_HAVE_AVX2
#include "kernels/matrix/finish__avx2.h"

#define INLINE static inline __attribute__((always_inline))

/* `rows` is a constant in each caller, so that the tile lives in registers. */
INLINE void tile_whole(const size_t rows, const pte_depthwise_tile_f32 *s) {
  __m256 lo[PTE_STRIP], hi[PTE_STRIP];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) lo[m] = hi[m] = _mm256_setzero_ps();
  const float *const *row = s->row;
  const float *w = s->weight;
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP, w += PTE_PANEL) {
    __m256 w_lo = _mm256_load_ps(w), w_hi = _mm256_load_ps(w + 8);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      const float *x = row[m] + s->channel;
      lo[m] = _mm256_fmadd_ps(_mm256_loadu_ps(x), w_lo, lo[m]);
      hi[m] = _mm256_fmadd_ps(_mm256_loadu_ps(x + 8), w_hi, hi[m]);
    }
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) {
    _mm256_storeu_ps(s->out + m * s->out_stride, pte_finish_avx2(s->finish, m, 0, lo[m]));
    _mm256_storeu_ps(s->out + m * s->out_stride + 8, pte_finish_avx2(s->finish, m, 8, hi[m]));
  }
}

static __m256i lane_mask(size_t lanes) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)lanes), index);
}

/* Eight channels from `first` on, of which `lanes` exist. */
static void row_masked(const pte_depthwise_tile_f32 *s, size_t m, size_t first, size_t lanes) {
  __m256i mask = lane_mask(lanes);
  __m256 sum = _mm256_setzero_ps();
  for (size_t t = 0; t < s->taps; t++) {
    __m256 x = _mm256_maskload_ps(s->row[t * PTE_STRIP + m] + s->channel + first, mask);
    sum = _mm256_fmadd_ps(x, _mm256_load_ps(s->weight + t * PTE_PANEL + first), sum);
  }
  sum = pte_finish_masked_avx2(s->finish, m, first, mask, sum);
  _mm256_maskstore_ps(s->out + m * s->out_stride + first, mask, sum);
}

static void tile_avx2(size_t rows, const pte_depthwise_tile_f32 *s) {
  if (s->lanes < PTE_PANEL) {
    for (size_t m = 0; m < rows; m++)
      for (size_t first = 0; first < s->lanes; first += 8)
        row_masked(s, m, first, s->lanes - first);
    return;
  }
  switch (rows) {
  case 1: tile_whole(1, s); break;
  case 2: tile_whole(2, s); break;
  case 3: tile_whole(3, s); break;
  case 4: tile_whole(4, s); break;
  case 5: tile_whole(5, s); break;
  default: tile_whole(6, s); break;
  }
}

const pte_depthwise_f32 pte_depthwise_f32__avx2 = {tile_avx2};
#else
typedef int pte_depthwise_f32__avx2_is_absent;
#endif
