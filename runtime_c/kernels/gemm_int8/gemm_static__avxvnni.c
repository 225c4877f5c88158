/* int8 products on AVX-VNNI: the 256 bits of vpdpbusd, of x + 128 as in the variant of AVX-512. */
#if PTE_HAVE_AVXVNNI
#include <string.h>

#include "kernels/gemm_int8/gemm_static_lines.h"
#include "kernels/requantize/rescale__avx2.h"

enum { ROWS = 6 };
#include "kernels/gemm_int8/gemm_static_x86.inc"

static void gather_avxvnni(const pte_gather *g) { pte_i8_gather(g, 0x80); }

INLINE __m256i half(const int8_t *panel, size_t h) {
  return _mm256_load_si256((const __m256i *)(const void *)(panel + 32 * h));
}

static void settle_avxvnni(size_t rows, size_t panels, int32_t *start, size_t start_panel,
                           int32_t (*sum)[PTE_PANEL]) {
  pte_i8_settle(rows, panels, start, start_panel, sum);
}

INLINE void tile(const size_t rows, const pte_tile_i8 *t) {
  const char *x = t->x;
  const int8_t *panel = t->panel;
  __m256i sum[ROWS][2];
  begin(rows, t, sum);
  for (size_t q = 0; q < t->quads; q++, panel += 64, x += 4) {
    const __m256i low = half(panel, 0), high = half(panel, 1);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      int32_t four;
      memcpy(&four, x + m * t->row_bytes, sizeof four);
      const __m256i codes = _mm256_set1_epi32(four);
      sum[m][0] = _mm256_dpbusd_avx_epi32(sum[m][0], codes, low);
      sum[m][1] = _mm256_dpbusd_avx_epi32(sum[m][1], codes, high);
    }
  }
  put(rows, rows, t, sum);
}

static void tile_avxvnni(size_t rows, size_t panels, const pte_tile_i8 *t) {
  (void)panels; /* one */
  switch (rows) {
  case 1: tile(1, t); break;
  case 2: tile(2, t); break;
  case 3: tile(3, t); break;
  case 4: tile(4, t); break;
  case 5: tile(5, t); break;
  default: tile(6, t); break;
  }
}

const pte_gemm_static pte_gemm_static__avxvnni = {.gather = gather_avxvnni,
                                                  .columns = pte_rescale_complete,
                                                  .settle = settle_avxvnni,
                                                  .tile = tile_avxvnni,
                                                  .wide = wide,
                                                  .most_rows = ROWS,
                                                  .most_panels = 1,
                                                  .widened = 1};
#endif
