/* int8 products on AVX-512 with VNNI: vpdpbusd adds four products of a byte without sign and one
 * with to each lane, exact. The side without sign is x + 128; what that adds, a row of zeros sums
 * alone. */
#if PTE_HAVE_AVX512VNNI
#include "kernels/gemm_int8/gemm_static__avx512vnni.h"

#include <string.h>

#include "kernels/gemm_int8/gemm_static_lines.h"
#include "kernels/requantize/rescale__avx512.h"

/* Windows of lines of at most 32 bytes: an image of few channels has many, and short ones. */
INLINE void lines_gather(const pte_gather *g) {
  const __m256i flip = _mm256_set1_epi8((char)0x80);
  const __mmask32 there = UINT32_MAX >> (32 - g->bytes);
  const size_t count = g->lines * g->bytes, pad = -count % 4;
  const int8_t *x = g->x;
  char *row = g->to;
  for (size_t i = 0; i < g->windows; i++, x += g->step, row += g->row_bytes) {
    const int8_t *from = x;
    char *to = row;
    for (size_t l = 0; l < g->lines; l++, from += g->pitch, to += g->bytes)
      _mm256_mask_storeu_epi8(to, there,
                              _mm256_xor_si256(_mm256_maskz_loadu_epi8(there, from), flip));
    if (pad != 0) memset(to, 0x80, pad);
  }
}

static void gather_vnni(const pte_gather *g) {
  if (g->bytes <= 32 && g->bytes > 0) lines_gather(g);
  else pte_i8_gather_long(g, 0x80);
}

static void settle_vnni(size_t rows, size_t panels, int32_t *start, size_t start_panel,
                        int32_t (*sum)[PTE_PANEL]) {
  pte_i8_settle(rows, panels, start, start_panel, sum);
}

/* One panel's sums. */
INLINE void row_by_row(const size_t rows, const pte_tile_i8 *t, __m512i (*sum)[PTE_BESIDE]) {
  const rescale_lanes r = rescale_lanes_of(t->columns);
  const __mmask16 some = (__mmask16)(UINT16_MAX >> (PTE_PANEL - t->lanes));
  int8_t *y = t->y;
#pragma GCC unroll 12
  for (size_t m = 0; m < rows; m++, y += t->y_stride)
    _mm_mask_storeu_epi8(y, some, rescaled_bytes(sum[m][0], &r));
}

/* Two panels' sums, two rows at a time: four registers are narrowed as one. Their constants and 24
 * sums do not fit the registers together, so instructions read those of the second in memory. */
INLINE void two_by_two(const size_t rows, const pte_tile_i8 *t, __m512i (*sum)[PTE_BESIDE]) {
  const rescale_lanes r[] = {rescale_lanes_of(t->columns), rescale_lanes_of(t->columns + 1)};
  const __m512i low = _mm512_set1_epi8((char)t->columns->low);
  const __m512i high = _mm512_set1_epi8((char)t->columns->high);
  const __mmask32 some = UINT32_MAX >> (PTE_PANEL - t->lanes);
  int8_t *y = t->y;
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m += 2, y += 2 * t->y_stride) {
    const bool both = m + 1 < rows;
    __m512i v[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
      v[i] = i < 2 || both ? rescaled_lanes(sum[m + i / 2][i % 2], &r[i % 2]) : v[i - 2];
    v[0] = _mm512_min_epi8(_mm512_max_epi8(bytes_of_four(v), low), high);
    _mm256_mask_storeu_epi8(y, some, _mm512_castsi512_si256(v[0]));
    if (both) _mm256_mask_storeu_epi8(y + t->y_stride, some, _mm512_extracti64x4_epi64(v[0], 1));
  }
}

INLINE void put(const size_t rows, const size_t panels, const pte_tile_i8 *t,
                __m512i (*sum)[PTE_BESIDE]) {
  int32_t (*to)[PTE_PANEL] = t->sum;
  if (t->columns != NULL && panels == 2) {
    two_by_two(rows, t, sum);
    return;
  }
  if (t->columns != NULL) {
    row_by_row(rows, t, sum);
    return;
  }
#pragma GCC unroll 12
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; p++) _mm512_storeu_si512(to[m * panels + p], sum[m][p]);
}

INLINE void tile(const size_t rows, const size_t panels, const pte_tile_i8 *t) {
  const char *x = t->x;
  const int8_t *w = t->panel, *next = t->next;
  __m512i sum[PTE_TALL][PTE_BESIDE];
#pragma GCC unroll 2
  for (size_t p = 0; p < panels; p++) sum[0][p] = _mm512_loadu_si512(t->start + p * t->start_panel);
#pragma GCC unroll 12
  for (size_t m = 1; m < rows; m++)
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; p++) sum[m][p] = sum[0][p];
  if (t->start_row != 0)
#pragma GCC unroll 12
    for (size_t m = 1; m < rows; m++)
#pragma GCC unroll 2
      for (size_t p = 0; p < panels; p++)
        sum[m][p] = _mm512_loadu_si512(t->start + m * t->start_row + p * t->start_panel);
  for (size_t q = 0; q < t->quads; q++, w += 64, x += 4, next += t->next_step) {
    __m512i weight[PTE_BESIDE];
    _mm_prefetch((const char *)next, _MM_HINT_T1);
    if (panels == 2) _mm_prefetch((const char *)(next + t->next_panel), _MM_HINT_T1);
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; p++) weight[p] = _mm512_load_si512(w + p * t->panel_bytes);
#pragma GCC unroll 12
    for (size_t m = 0; m < rows; m++) {
      int32_t four;
      memcpy(&four, x + m * t->row_bytes, sizeof four);
      const __m512i codes = _mm512_set1_epi32(four);
#pragma GCC unroll 2
      for (size_t p = 0; p < panels; p++)
        sum[m][p] = _mm512_dpbusd_epi32(sum[m][p], codes, weight[p]);
    }
  }
  put(rows, panels, t, sum);
}

#define TALL(rows)                                                                                 \
  case rows:                                                                                       \
    if (panels == 1) tile(rows, 1, t);                                                             \
    else tile(rows, 2, t);                                                                         \
    return;

static void tile_vnni(size_t rows, size_t panels, const pte_tile_i8 *t) {
  switch (rows) {
    TALL(1)
    TALL(2) TALL(3) TALL(4) TALL(5) TALL(6) TALL(7) TALL(8) TALL(9) TALL(10) TALL(11) TALL(12)
  }
}

#ifndef PTE_WITHOUT_MATMUL_TURNED
#include "kernels/gemm_int8/gemm_static_turned__avx512vnni.inc"
#endif

void pte_wide__avx512vnni(const int32_t *sum, const pte_rescale_columns *c, size_t lanes,
                          int8_t *y) {
  const rescale_lanes r = rescale_lanes_of(c);
  const __m512i v = lifted_lanes(_mm512_loadu_si512(sum), r, c->zero);
  const __m128i bytes = _mm_max_epi8(_mm512_cvtsepi32_epi8(v), r.low);
  _mm_mask_storeu_epi8(y, (__mmask16)(0xffffu >> (PTE_PANEL - lanes)), _mm_min_epi8(bytes, r.high));
}

void pte_columns__avx512vnni(pte_rescale_columns *columns, const int8_t *shifts) {
  pte_rescale_complete(columns, shifts);
}

const pte_gemm_static pte_gemm_static__avx512vnni = {.gather = gather_vnni,
                                                     .columns = pte_columns__avx512vnni,
                                                     .settle = settle_vnni,
                                                     .tile = tile_vnni,
                                                     .wide = pte_wide__avx512vnni,
#ifndef PTE_WITHOUT_MATMUL_TURNED
                                                     .turned = turned_vnni,
#endif
                                                     .most_rows = PTE_TALL,
                                                     .most_panels = PTE_BESIDE,
                                                     .widened = 1};
#endif
