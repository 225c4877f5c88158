/* Depthwise tiles on AVX-512: six pixels by 16 channels, so that a weight is loaded once for six;
 * the last channels, fewer than 16, by a mask. */
#if PTE_HAVE_AVX512
#include "kernels/matrix/finish__avx512.h"

#define INLINE static inline __attribute__((always_inline))

/* `rows` is a constant in each caller, so that the tile lives in registers. */
INLINE void tile_run(const size_t rows, __mmask16 mask, const pte_depthwise_tile_f32 *s) {
  __m512 sum[PTE_STRIP];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) sum[m] = _mm512_setzero_ps();
  const float *const *row = s->row;
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP) {
    __m512 w = _mm512_load_ps(s->weight + t * PTE_PANEL);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++)
      sum[m] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, row[m] + s->channel), w, sum[m]);
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) {
    __m512 y = pte_finish_avx512(s->finish, m, 0, mask, sum[m]);
    _mm512_mask_storeu_ps(s->out + m * s->out_stride, mask, y);
  }
}

static void tile_avx512(size_t rows, const pte_depthwise_tile_f32 *s) {
  __mmask16 mask = (__mmask16)((1u << s->lanes) - 1);
  switch (rows) {
  case 1: tile_run(1, mask, s); break;
  case 2: tile_run(2, mask, s); break;
  case 3: tile_run(3, mask, s); break;
  case 4: tile_run(4, mask, s); break;
  case 5: tile_run(5, mask, s); break;
  default: tile_run(6, mask, s); break;
  }
}

const pte_depthwise_f32 pte_depthwise_f32__avx512 = {tile_avx512};
#else
typedef int pte_depthwise_f32__avx512_is_absent;
#endif
