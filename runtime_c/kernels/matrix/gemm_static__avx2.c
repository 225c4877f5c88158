/* int8 products on AVX2: everything is widened to 16 bits, where vpmaddwd is exact for all codes
 * (vpmaddubsw saturates; |x| times sign(w, x), which does not, takes as many instructions and no
 * weight of -128). Four elements of a row of x are stored as x0 x2 x1 x3, so that 32 bits
 * broadcast meet the even and the odd bytes of the panel, which shifts bring apart. */
#if PTE_HAVE_AVX2
#include <string.h>

#include "kernels/matrix/gemm_static.h"
#include "kernels/matrix/gemm_turned.h"
#include "kernels/matrix/rescale__avx2.h"

enum { ROWS = 4 }; /* six spill */
#include "kernels/matrix/gemm_static_x86.inc"

static void widen_four(const int8_t *x, int16_t *to) {
  to[0] = x[0], to[1] = x[2], to[2] = x[1], to[3] = x[3];
}

/* Forwards: `row` may end where x does. */
static void widen(size_t count, const int8_t *x, int16_t *to) {
  const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
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

static void gather_avx2(const pte_gather_i8 *g) {
  pte_gather_i8 one = *g;
  const size_t count = g->lines * g->bytes;
  one.windows = 1;
  for (size_t i = 0; i < g->windows; i++, one.x += g->step) {
    char *row = (char *)g->to + i * g->row_bytes;
    one.to = row + g->row_bytes / 2;
    pte_i8_gather(&one, 0);
    widen(count, one.to, (int16_t *)(void *)row);
  }
}

INLINE __m256i pair(const char *x) {
  int32_t both;
  memcpy(&both, x, sizeof both);
  return _mm256_set1_epi32(both);
}

INLINE void tile(const size_t rows, const pte_tile_i8 *t) {
  const char *x = t->x;
  const int8_t *panel = t->panel;
  __m256i sum[ROWS][2];
  begin(rows, t, sum);
  for (size_t q = 0; q < t->quads; q++, panel += 64, x += 8) {
    const __m256i low = load(panel), high = load(panel + 32);
    const __m256i even[] = {_mm256_srai_epi16(_mm256_slli_epi16(low, 8), 8),
                            _mm256_srai_epi16(_mm256_slli_epi16(high, 8), 8)};
    const __m256i odd[] = {_mm256_srai_epi16(low, 8), _mm256_srai_epi16(high, 8)};
#pragma GCC unroll 4
    for (size_t m = 0; m < rows; m++) {
      const __m256i first = pair(x + m * t->row_bytes), second = pair(x + m * t->row_bytes + 4);
#pragma GCC unroll 2
      for (size_t h = 0; h < 2; h++) {
        sum[m][h] = _mm256_add_epi32(sum[m][h], _mm256_madd_epi16(even[h], first));
        sum[m][h] = _mm256_add_epi32(sum[m][h], _mm256_madd_epi16(odd[h], second));
      }
    }
  }
  put(rows, t, sum);
}

static void tile_avx2(size_t rows, size_t panels, const pte_tile_i8 *t) {
  (void)panels; /* one */
  switch (rows) {
  case 1: tile(1, t); break;
  case 2: tile(2, t); break;
  case 3: tile(3, t); break;
  case 4: tile(4, t); break;
  }
}

PTE_TURNED_I8(static, turn, scaled)

const pte_gemm_static pte_gemm_static__avx2 = {.gather = gather_avx2,
                                               .columns = pte_rescale_complete,
                                               .tile = tile_avx2,
                                               .lay = lay,
                                               .taps = taps,
                                               PTE_TURNED_MEMBERS(turn, scaled),
                                               .most_rows = ROWS,
                                               .most_panels = 1,
                                               .widened = 2};
#endif
