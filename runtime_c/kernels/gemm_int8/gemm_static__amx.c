/* int8 products on AMX: a tile register holds 16 rows of 64 codes, or sixteen quads of a panel as
 * they lie; tdpbssd adds all their products to 16 rows of 16 sums, exact. What is not a product is
 * the work of the variant for AVX-512 with VNNI. */
#if PTE_HAVE_AMX
#include <string.h>

#include "kernels/gemm_int8/gemm_static__avx512vnni.h"
#include "kernels/gemm_int8/gemm_static_lines.h"
#include "kernels/gemm_int8/tiles__amx.h"
#include "kernels/requantize/rescale__avx512.h"

static void shape(size_t rows) { tiles_shape(rows, STEP); }
static void enter_amx(void) { shape(EDGE); }
static void leave_amx(void) { _tile_release(); }

INLINE void step(bool tall, bool wide, const char *x, const char *below, size_t row_bytes,
                 const int8_t *panel, size_t panel_bytes) {
  _tile_loadd(6, panel, STEP);
  _tile_loadd(4, x, row_bytes);
  _tile_dpbssd(0, 4, 6);
  if (wide) {
    _tile_loadd(7, panel + panel_bytes, STEP);
    _tile_dpbssd(1, 4, 7);
  }
  if (tall) {
    _tile_loadd(5, below, row_bytes);
    _tile_dpbssd(2, 5, 6);
    if (wide) _tile_dpbssd(3, 5, 7);
  }
}

/* The last quads of the panels, and codes of 0 against whatever follows the rows of x. */
INLINE void last_step(bool tall, bool wide, const pte_tile_i8 *t, size_t lower, size_t quads) {
  _Alignas(64) int8_t last[PTE_BESIDE][EDGE * STEP];
  const size_t at = t->quads - quads;
  for (size_t p = 0; p < 1u + wide; p++) {
    memcpy(last[p], t->panel + p * t->panel_bytes + at * STEP, quads * STEP);
    memset(last[p] + quads * STEP, 0, (EDGE - quads) * STEP);
  }
  SEEN;
  const char *x = t->x + 4 * at;
  step(tall, wide, x, x + lower * t->row_bytes, t->row_bytes, last[0], sizeof last[0]);
}

/* Whether all rows start alike. That is added in the end: sixteen loads of one line are slow. */
INLINE bool one_start(const pte_tile_i8 *t) { return t->start_row == 0; }
INLINE __m512i start_of(const pte_tile_i8 *t, size_t panel) {
  return one_start(t) ? _mm512_loadu_si512(t->start + panel * t->start_panel)
                      : _mm512_setzero_si512();
}

/* Up to 16 rows or, where `tall`, those and the 16 from row `lower` on: some may be in both. */
INLINE void tile(bool tall, bool wide, size_t lower, const pte_tile_i8 *t,
                 int32_t (*sum)[PTE_PANEL]) {
  const size_t from_row = t->start_row * sizeof *t->start, to_row = (1u + wide) * sizeof *sum;
  const int32_t *start = t->start, *start_below = start + lower * t->start_row;
  SEEN;
  if (one_start(t)) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, start, from_row);
    if (wide) _tile_loadd(1, start + t->start_panel, from_row);
    if (tall) _tile_loadd(2, start_below, from_row);
    if (tall && wide) _tile_loadd(3, start_below + t->start_panel, from_row);
  }
  const char *x = t->x, *below = x + lower * t->row_bytes;
  const int8_t *panel = t->panel, *next = t->next;
  size_t left = t->quads;
  for (; left >= EDGE; left -= EDGE, x += STEP, below += STEP, panel += EDGE * STEP) {
    for (const int8_t *end = next + EDGE * t->next_step; next < end; next += 64)
      _mm_prefetch((const char *)next, _MM_HINT_T1);
    step(tall, wide, x, below, t->row_bytes, panel, t->panel_bytes);
  }
  if (left > 0) last_step(tall, wide, t, lower, left);
  int32_t (*sum_below)[PTE_PANEL] = sum + (lower << wide);
  _tile_stored(0, sum[0], to_row);
  if (wide) _tile_stored(1, sum[1], to_row);
  if (tall) _tile_stored(2, sum_below[0], to_row);
  if (tall && wide) _tile_stored(3, sum_below[1], to_row);
}

/* Two whole panels of two rows at a time: four registers are narrowed as one. Returns how many rows
 * are done. */
INLINE size_t put_pairs(size_t rows, const pte_tile_i8 *t, int32_t (*sum)[PTE_PANEL]) {
  const __m512i low = _mm512_set1_epi8((char)t->columns->low);
  const __m512i high = _mm512_set1_epi8((char)t->columns->high);
  const rescale_lanes r[] = {rescale_lanes_of(t->columns), rescale_lanes_of(t->columns + 1)};
  const __m512i start[] = {start_of(t, 0), start_of(t, 1)};
  size_t m = 0;
  for (; m + 2 <= rows; m += 2) {
    __m512i v[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
      const __m512i one = _mm512_loadu_si512(sum[2 * m + i]);
      v[i] = rescaled_lanes(_mm512_add_epi32(one, start[i % 2]), &r[i % 2]);
    }
    const __m512i y = _mm512_min_epi8(_mm512_max_epi8(bytes_of_four(v), low), high);
    int8_t *to = t->y + m * t->y_stride;
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_castsi512_si256(y));
    _mm256_storeu_si256((__m256i *)(void *)(to + t->y_stride), _mm512_extracti64x4_epi64(y, 1));
  }
  return m;
}

INLINE void put(size_t rows, size_t panels, const pte_tile_i8 *t, int32_t (*sum)[PTE_PANEL]) {
  const size_t done = panels == 2 && t->lanes == PTE_PANEL ? put_pairs(rows, t, sum) : 0;
  for (size_t p = 0; done < rows && p < panels; p++) {
    const rescale_lanes r = rescale_lanes_of(t->columns + p);
    const __m512i start = start_of(t, p);
    const __mmask16 mask = (__mmask16)(0xffffu >> (p + 1 < panels ? 0 : PTE_PANEL - t->lanes));
    int8_t *y = t->y + done * t->y_stride + p * PTE_PANEL;
    for (size_t m = done; m < rows; m++, y += t->y_stride) {
      const __m512i all = _mm512_add_epi32(_mm512_loadu_si512(sum[m * panels + p]), start);
      _mm_mask_storeu_epi8(y, mask, rescaled_bytes(all, &r));
    }
  }
}

INLINE void start_add(size_t rows, size_t panels, const pte_tile_i8 *t, int32_t (*sum)[PTE_PANEL]) {
  for (size_t p = 0; p < panels; p++) {
    const __m512i start = start_of(t, p);
    if (_mm512_test_epi32_mask(start, start) == 0) continue;
    for (size_t i = p; i < rows * panels; i += panels)
      _mm512_storeu_si512(sum[i], _mm512_add_epi32(_mm512_loadu_si512(sum[i]), start));
  }
}

static void tile_amx(size_t rows, size_t panels, const pte_tile_i8 *t) {
  _Alignas(64) int32_t here[PTE_SUMS][PTE_PANEL];
  int32_t (*sum)[PTE_PANEL] = t->columns == NULL ? t->sum : here;
  if (rows < EDGE) shape(rows);
  if (rows > EDGE && panels == 2) tile(true, true, rows - EDGE, t, sum);
  else if (rows > EDGE) tile(true, false, rows - EDGE, t, sum);
  else if (panels == 2) tile(false, true, 0, t, sum);
  else tile(false, false, 0, t, sum);
  if (rows < EDGE) shape(EDGE);
  if (t->columns != NULL) put(rows, panels, t, sum);
  else start_add(rows, panels, t, sum);
}

static void gather_amx(const pte_gather *g) { pte_i8_gather(g, 0); }

const pte_gemm_static pte_gemm_static__amx = {.gather = gather_amx,
                                              .columns = pte_columns__avx512vnni,
                                              .tile = tile_amx,
                                              .wide = pte_wide__avx512vnni,
                                              .enter = enter_amx,
                                              .leave = leave_amx,
                                              .most_rows = 2 * EDGE,
                                              .most_panels = PTE_BESIDE,
                                              .widened = 1};
#endif
