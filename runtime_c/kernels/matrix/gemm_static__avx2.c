/* int8 products on AVX2, for two kinds of rows.
 *
 * Any: everything is widened to 16 bits, where vpmaddwd is exact for all codes. Four elements of a
 * row of x are stored as x0 x2 x1 x3, so that 32 bits broadcast meet the even and the odd bytes of
 * the panel, which shifts bring apart: four instructions for 32 products. |x| times sign(w, x)
 * takes as many, and no weight of -128.
 *
 * Low: most elements are not far above -128, as behind a ReLU. Rows are bytes, x + 128, and
 * vpmaddubsw makes that three instructions. It saturates where two products leave 16 bits: a quad
 * of a tile where they could (`peaks`, `pairs`) is widened by itself, which costs no more than a
 * branch where there are few. */
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

/* Once for both kinds of rows. */
static __attribute__((noinline)) void bytes_gather(const pte_gather_i8 *g, uint8_t flip) {
  pte_i8_gather(g, flip);
}

static void gather_avx2(const pte_gather_i8 *g) {
  pte_gather_i8 bytes = *g;
  char *row = bytes.to = (char *)g->to + g->row_bytes / 2;
  bytes_gather(&bytes, 0);
  for (size_t i = 0; i < g->windows; i++, row += g->row_bytes)
    widen(g->lines * g->bytes, (int8_t *)row, (int16_t *)(void *)(row - g->row_bytes / 2));
}

static void gather_low(const pte_gather_i8 *g) { bytes_gather(g, 0x80); }

INLINE __m256i pair(const char *x) {
  int32_t both;
  memcpy(&both, x, sizeof both);
  return _mm256_set1_epi32(both);
}

/* Panel codes 0 and 2, 1 and 3 of each four, in 16 bits. */
typedef struct parts {
  __m256i even[2], odd[2];
} parts;

INLINE parts parts_of(__m256i low, __m256i high) {
  return (parts){
      {_mm256_srai_epi16(_mm256_slli_epi16(low, 8), 8),
       _mm256_srai_epi16(_mm256_slli_epi16(high, 8), 8)},
      {_mm256_srai_epi16(low, 8), _mm256_srai_epi16(high, 8)}
  };
}

INLINE void parts_add(const parts *w, __m256i first, __m256i second, __m256i *sum) {
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    sum[h] = _mm256_add_epi32(sum[h], _mm256_madd_epi16(w->even[h], first));
    sum[h] = _mm256_add_epi32(sum[h], _mm256_madd_epi16(w->odd[h], second));
  }
}

/* Rows from `live` on are the last one again. */
INLINE void rows_of(const size_t rows, size_t live, const pte_tile_i8 *t, const char **x) {
  x[0] = t->x;
#pragma GCC unroll 4
  for (size_t m = 1; m < rows; m++) x[m] = x[m - 1] + (m < live ? t->row_bytes : 0);
}

INLINE void tile(const size_t rows, size_t live, const pte_tile_i8 *t) {
  const int8_t *panel = t->panel;
  const char *x[ROWS];
  __m256i sum[ROWS][2];
  rows_of(rows, live, t, x);
  begin(rows, t, sum);
  for (size_t q = 0; q < t->quads; q++, panel += 64) {
    const parts w = parts_of(load(panel), load(panel + 32));
#pragma GCC unroll 4
    for (size_t m = 0; m < rows; m++)
      parts_add(&w, pair(x[m] + 8 * q), pair(x[m] + 8 * q + 4), sum[m]);
  }
  put(rows, live, t, sum);
}

static void tile_avx2(size_t rows, size_t panels, const pte_tile_i8 *t) {
  (void)panels; /* one */
  if (rows == 1) tile(1, 1, t);
  else tile(ROWS, rows, t);
}

static void tile_low(size_t rows, size_t panels, const pte_tile_i8 *t) {
  const __m256i ones = _mm256_set1_epi16(1);
  const int8_t *panel = t->panel;
  const char *x[ROWS];
  __m256i sum[ROWS][2];
  (void)panels; /* one */
  rows_of(ROWS, rows, t, x);
  begin(ROWS, t, sum);
  for (size_t q = 0; q < t->quads; q++, panel += 64) {
    const __m256i low = load(panel), high = load(panel + 32);
    if (__builtin_expect(t->peaks[q] * (uint8_t)t->pairs[q] > INT16_MAX / 2, 0)) {
      const parts w = parts_of(low, high);
#pragma GCC unroll 4
      for (size_t m = 0; m < ROWS; m++) {
        const __m256i both = pair(x[m] + 4 * q);
        const __m256i first = _mm256_srli_epi16(_mm256_slli_epi16(both, 8), 8);
        parts_add(&w, first, _mm256_srli_epi16(both, 8), sum[m]);
        __asm__("" : "+x"(sum[m][0]), "+x"(sum[m][1])); /* one row after another: nothing spills */
      }
      continue;
    }
#pragma GCC unroll 4
    for (size_t m = 0; m < ROWS; m++) {
      const __m256i both = pair(x[m] + 4 * q);
      const __m256i a = _mm256_madd_epi16(_mm256_maddubs_epi16(both, low), ones);
      const __m256i b = _mm256_madd_epi16(_mm256_maddubs_epi16(both, high), ones);
      sum[m][0] = _mm256_add_epi32(sum[m][0], a);
      sum[m][1] = _mm256_add_epi32(sum[m][1], b);
    }
  }
  put(ROWS, rows, t, sum);
}

static void settle_low(size_t rows, size_t panels, int32_t *start, size_t start_panel,
                       int32_t (*sum)[PTE_PANEL]) {
  pte_i8_settle(rows, panels, start, start_panel, sum);
}

static void peaks_low(size_t rows, size_t quads, const char *x, size_t row_bytes, uint32_t *peaks) {
  for (size_t q = 0; q < quads; q += 8, x += 32) {
    __m256i most = load(x);
    for (size_t m = 1; m < rows; m++) most = _mm256_max_epu8(most, load(x + m * row_bytes));
    most = _mm256_max_epu8(most, _mm256_srli_epi32(most, 16));
    most = _mm256_max_epu8(most, _mm256_srli_epi32(most, 8));
    most = _mm256_and_si256(most, _mm256_set1_epi32(255));
    _mm256_storeu_si256((__m256i *)(void *)(peaks + q), most);
  }
}

/* Of each eight bytes the largest that is left of a quad's; vpavgb rounds up. */
static void pairs_low(size_t quads, const int8_t *panel, uint64_t *pairs) {
  for (size_t q = 0; q < quads; q++, panel += 64) {
    const __m256i a = _mm256_abs_epi8(load(panel)), b = _mm256_abs_epi8(load(panel + 32));
    const __m256i most = _mm256_max_epu8(_mm256_avg_epu8(a, _mm256_srli_epi16(a, 8)),
                                         _mm256_avg_epu8(b, _mm256_srli_epi16(b, 8)));
    __m128i half = _mm_max_epu8(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    half = _mm_max_epu8(half, _mm_srli_si128(half, 8));
    _mm_storel_epi64((__m128i *)(void *)(pairs + q), half);
  }
  for (size_t q = 0; q < quads; q += 4) {
    __m256i half = load(pairs + q);
    half = _mm256_max_epu8(half, _mm256_srli_epi64(half, 32));
    half = _mm256_max_epu8(half, _mm256_srli_epi64(half, 16));
    half = _mm256_max_epu8(half, _mm256_srli_epi64(half, 8));
    _mm256_storeu_si256((__m256i *)(void *)(pairs + q), half);
  }
}

static const pte_gemm_static low = {.gather = gather_low,
                                    .columns = pte_rescale_complete,
                                    .settle = settle_low,
                                    .tile = tile_low,
                                    .peaks = peaks_low,
                                    .pairs = pairs_low,
                                    .most_rows = ROWS,
                                    .most_panels = 1,
                                    .widened = 1};

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

PTE_TURNED_I8(static, turn, scaled)

const pte_gemm_static pte_gemm_static__avx2 = {.gather = gather_avx2,
                                               .columns = pte_rescale_complete,
                                               .tile = tile_avx2,
                                               .lay = lay,
                                               .taps = taps,
                                               .walk = walk,
                                               .low = &low,
                                               PTE_TURNED_MEMBERS(turn, scaled),
                                               .most_rows = ROWS,
                                               .most_panels = 1,
                                               .widened = 2};
#endif
