/* int8 products on AVX2, for three kinds of rows.
 *
 * Any: everything is widened to 16 bits, where vpmaddwd is exact for all codes. Four elements of a
 * row of x are stored as x0 x2 x1 x3, so that 32 bits broadcast meet the even and the odd bytes of
 * the panel, which shifts bring apart: four instructions for 32 products. |x| times sign(w, x)
 * takes as many, and no weight of -128.
 *
 * Bytes: vpmaddubsw multiplies bytes without a sign by bytes with one and adds pairs in 16 bits,
 * where two quads meet before they are widened: five instructions for 64 products. Low rows are x +
 * 128, where most elements are not far above -128, as behind a ReLU. Near rows are x, most not far
 * from 0, and weights are raised by 128, for which the sums of rows make up. Where 16 bits could be
 * left (`peaks` times `pairs`), two quads are added in 32 bits, or widened first. Which is which is
 * often as good as random to a branch: it is found for 64 of them at once, and each kind is a loop.
 */
#if PTE_HAVE_AVX2
#include <string.h>

#include "kernels/gemm_int8/gemm_static_lines.h"
#include "kernels/requantize/rescale__avx2.h"

enum { ROWS = 4 }; /* six spill */
#include "kernels/gemm_int8/gemm_static_x86.inc"

/* Forwards: `to` is the row that x is the second half of. Of the last sixteen, what lies behind the
 * row's elements is widened, too. */
static void widen(size_t count, const int8_t *x, int16_t *to) {
  const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
  for (size_t at = 0; at < count; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(x + at));
    __m256i wide = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(bytes, order));
    _mm256_storeu_si256((__m256i *)(void *)(to + at), wide);
  }
}

/* Once for both kinds of rows. */
static __attribute__((noinline)) void bytes_gather(const pte_gather *g, uint8_t flip) {
  pte_i8_gather(g, flip);
}

static void gather_avx2(const pte_gather *g) {
  pte_gather bytes = *g;
  char *row = bytes.to = (char *)g->to + g->row_bytes / 2;
  bytes_gather(&bytes, 0);
  for (size_t i = 0; i < g->windows; i++, row += g->row_bytes)
    widen(g->lines * g->bytes, (int8_t *)row, (int16_t *)(void *)(row - g->row_bytes / 2));
}

static void gather_low(const pte_gather *g) { bytes_gather(g, 0x80); }
static void gather_near(const pte_gather *g) { bytes_gather(g, 0); }

INLINE __m256i pair(const char *x) {
  int32_t both;
  memcpy(&both, x, sizeof both);
  return _mm256_set1_epi32(both);
}

/* Bytes 0 and 2, 1 and 3 of each four, in 16 bits. */
typedef struct halves {
  __m256i even, odd;
} halves;

INLINE halves halves_of(const bool has_sign, __m256i bytes) {
  const __m256i even = _mm256_slli_epi16(bytes, 8);
  if (has_sign) return (halves){_mm256_srai_epi16(even, 8), _mm256_srai_epi16(bytes, 8)};
  return (halves){_mm256_srli_epi16(even, 8), _mm256_srli_epi16(bytes, 8)};
}

INLINE void halves_add(const halves *w, halves x, __m256i *sum) {
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    sum[h] = _mm256_add_epi32(sum[h], _mm256_madd_epi16(w[h].even, x.even));
    sum[h] = _mm256_add_epi32(sum[h], _mm256_madd_epi16(w[h].odd, x.odd));
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
    const halves w[2] = {halves_of(true, load(panel)), halves_of(true, load(panel + 32))};
#pragma GCC unroll 4
    for (size_t m = 0; m < rows; m++)
      halves_add(w, (halves){pair(x[m] + 8 * q), pair(x[m] + 8 * q + 4)}, sum[m]);
  }
  put(rows, live, t, sum);
}

static void tile_avx2(size_t rows, size_t panels, const pte_tile_i8 *t) {
  (void)panels; /* one */
  if (rows == 1) tile(1, 1, t);
  else tile(ROWS, rows, t);
}

/* --- bytes: `near`, or low */

INLINE __m256i weights(const bool near, const int8_t *panel) {
  return near ? _mm256_xor_si256(load(panel), _mm256_set1_epi8(INT8_MIN)) : load(panel);
}

INLINE __m256i products(const bool near, __m256i w, __m256i x) {
  return near ? _mm256_maddubs_epi16(w, x) : _mm256_maddubs_epi16(x, w);
}

INLINE void products_add(__m256i products, __m256i *sum) {
  *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
}

/* One row after another: nothing spills. */
#define APART(sum) __asm__("" : "+x"((sum)[0]), "+x"((sum)[1]))

/* One quad; `fits`: two of its products do. */
INLINE void quad_add(const bool near, bool fits, const int8_t *panel, const char *const *x,
                     size_t q, __m256i (*sum)[2]) {
  const __m256i w[2] = {weights(near, panel), weights(near, panel + 32)};
  if (fits) {
#pragma GCC unroll 4
    for (size_t m = 0; m < ROWS; m++) {
      const __m256i four = pair(x[m] + 4 * q);
      products_add(products(near, w[0], four), &sum[m][0]);
      products_add(products(near, w[1], four), &sum[m][1]);
      APART(sum[m]);
    }
    return;
  }
  const halves wide[2] = {halves_of(!near, w[0]), halves_of(!near, w[1])};
#pragma GCC unroll 4
  for (size_t m = 0; m < ROWS; m++) {
    halves_add(wide, halves_of(near, pair(x[m] + 4 * q)), sum[m]);
    APART(sum[m]);
  }
}

/* Two quads, of which four products fit. */
INLINE void quads_add(const bool near, const int8_t *panel, const char *const *x, size_t q,
                      __m256i (*sum)[2]) {
  const __m256i w[2] = {weights(near, panel), weights(near, panel + 32)};
  const __m256i v[2] = {weights(near, panel + 64), weights(near, panel + 96)};
#pragma GCC unroll 4
  for (size_t m = 0; m < ROWS; m++) {
    const __m256i a = pair(x[m] + 4 * q), b = pair(x[m] + 4 * q + 4);
#pragma GCC unroll 2
    for (size_t h = 0; h < 2; h++)
      products_add(_mm256_add_epi16(products(near, w[h], a), products(near, v[h], b)), &sum[m][h]);
    APART(sum[m]);
  }
}

/* Bit i: of two quads from 2 (at + i) on, whether sums of four products fit, and of two. */
typedef struct kinds {
  uint64_t four, two;
} kinds;

INLINE uint64_t bounds_fit(__m256i peaks, __m256i pairs, int half) {
  const __m256i bound = _mm256_madd_epi16(_mm256_and_si256(peaks, _mm256_set1_epi32(half)), pairs);
  const __m256i fit = _mm256_cmpgt_epi32(_mm256_set1_epi32(INT16_MAX + 1), bound);
  return (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(fit));
}

INLINE kinds kinds_at(const pte_tile_i8 *t, size_t at, size_t count) {
  kinds k = {0, 0};
  for (size_t i = 0; i < count; i += 8) {
    const __m256i peaks = load(t->peaks + ROWS + at + i), pairs = load(t->pairs + at + i);
    k.four |= bounds_fit(peaks, pairs, UINT16_MAX) << i;
    k.two |= bounds_fit(peaks, pairs, ~UINT16_MAX) << i;
  }
  return k;
}

/* The first two quads of those from 2 at on whose bits are set. */
INLINE size_t first_of(uint64_t left, size_t at) {
  return 2 * (at + (size_t)__builtin_ctzll(left));
}

INLINE void apart_add(const bool near, bool fits, uint64_t left, size_t at, const pte_tile_i8 *t,
                      const char *const *x, __m256i (*sum)[2]) {
  for (; left != 0; left &= left - 1) {
    const size_t first = first_of(left, at);
    for (size_t q = first; q < first + 2 && q < t->quads; q++)
      quad_add(near, fits, t->panel + 64 * q, x, q, sum);
  }
}

/* What codes as they are, times weights that are 128 too large, have too much. */
INLINE void lower(const pte_tile_i8 *t, __m256i (*sum)[2]) {
#pragma GCC unroll 4
  for (size_t m = 0; m < ROWS; m++) {
    const __m256i raised = _mm256_set1_epi32((int32_t)t->peaks[m]);
    sum[m][0] = _mm256_sub_epi32(sum[m][0], raised);
    sum[m][1] = _mm256_sub_epi32(sum[m][1], raised);
  }
}

INLINE void tile_bytes(const bool near, size_t rows, const pte_tile_i8 *t) {
  const char *x[ROWS];
  __m256i sum[ROWS][2];
  rows_of(ROWS, rows, t, x);
  begin(ROWS, t, sum);
  if (near) lower(t, sum);
  for (size_t at = 0, all = (t->quads + 1) / 2; at < all; at += 64) {
    const size_t count = all - at < 64 ? all - at : 64, whole = t->quads / 2 - at;
    const uint64_t some = UINT64_MAX >> (64 - count);
    const kinds k = kinds_at(t, at, count);
    const uint64_t four = k.four & (whole < 64 ? some & ~(UINT64_MAX << whole) : some);
    for (uint64_t left = four; left != 0; left &= left - 1) {
      const size_t q = first_of(left, at);
      quads_add(near, t->panel + 64 * q, x, q, sum);
    }
    apart_add(near, true, k.two & ~four & some, at, t, x, sum);
    apart_add(near, false, ~k.two & some, at, t, x, sum);
  }
  put(ROWS, rows, t, sum);
}

static void tile_low(size_t rows, size_t panels, const pte_tile_i8 *t) {
  (void)panels; /* one */
  tile_bytes(false, rows, t);
}

static void tile_near(size_t rows, size_t panels, const pte_tile_i8 *t) {
  (void)panels; /* one */
  tile_bytes(true, rows, t);
}

static void settle_low(size_t rows, size_t panels, int32_t *start, size_t start_panel,
                       int32_t (*sum)[PTE_PANEL]) {
  pte_i8_settle(rows, panels, start, start_panel, sum);
}

/* Of bytes with a sign, sums of the positive ones and of the negative ones of each two. */
INLINE __m256i ups(__m256i x) {
  return _mm256_maddubs_epi16(_mm256_max_epi8(x, _mm256_setzero_si256()), _mm256_set1_epi8(1));
}
INLINE __m256i downs(__m256i x) {
  const __m256i down = _mm256_abs_epi8(_mm256_min_epi8(x, _mm256_setzero_si256()));
  return _mm256_maddubs_epi16(down, _mm256_set1_epi8(1));
}

INLINE __m256i larger(__m256i a, __m256i b) { return _mm256_max_epi16(a, b); }

/* The low halves of each 64 bits. */
INLINE void bounds_store(__m256i four, __m256i two, uint32_t *to) {
  const __m256i lowest = _mm256_set1_epi64x(UINT16_MAX);
  const __m256i bound = _mm256_or_si256(_mm256_and_si256(four, lowest),
                                        _mm256_slli_epi64(_mm256_and_si256(two, lowest), 16));
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  _mm_storeu_si128((__m128i *)(void *)to,
                   _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(bound, order)));
}

/* Up to eight quads, zeros behind the last. */
INLINE __m256i quads_load(const char *x, size_t left) {
  const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)left), place);
  return _mm256_maskload_epi32((const int *)(const void *)x, there);
}

static void peaks_low(size_t rows, size_t quads, const char *x, size_t row_bytes, uint32_t *peaks) {
  peaks += ROWS;
  for (size_t q = 0; q < quads; q += 8, x += 32, peaks += 4) {
    __m256i most = _mm256_setzero_si256();
    for (size_t m = 0; m < rows; m++)
      most = _mm256_max_epu8(most, quads_load(x + m * row_bytes, quads - q));
    most = _mm256_max_epu8(most, _mm256_srli_epi64(most, 32));
    most = _mm256_max_epu8(most, _mm256_srli_epi64(most, 16));
    most = _mm256_max_epu8(_mm256_and_si256(most, _mm256_set1_epi64x(255)),
                           _mm256_srli_epi16(most, 8));
    bounds_store(most, most, peaks);
  }
}

static void peaks_near(size_t rows, size_t quads, const char *x, size_t row_bytes,
                       uint32_t *peaks) {
  __m256i total[ROWS] = {0};
  uint32_t *bounds = peaks + ROWS;
  for (size_t q = 0; q < quads; q += 8, x += 32, bounds += 4) {
    __m256i two = _mm256_setzero_si256(), four = two;
    for (size_t m = 0; m < rows; m++) {
      const __m256i eight = quads_load(x + m * row_bytes, quads - q);
      const __m256i up = ups(eight), down = downs(eight);
      products_add(_mm256_sub_epi16(up, down), &total[m]);
      two = larger(two, larger(up, down));
      four = larger(four, larger(_mm256_add_epi16(up, _mm256_srli_epi64(up, 32)),
                                 _mm256_add_epi16(down, _mm256_srli_epi64(down, 32))));
    }
    two = larger(two, _mm256_srli_epi64(two, 32));
    bounds_store(larger(four, _mm256_srli_epi64(four, 16)), larger(two, _mm256_srli_epi64(two, 16)),
                 bounds);
  }
  for (size_t m = 0; m < ROWS; m++) {
    int32_t lane[8], all = 0;
    _mm256_storeu_si256((__m256i *)(void *)lane, total[m]);
    for (size_t i = 0; i < 8; i++) all += lane[i];
    peaks[m] = 128 * (uint32_t)all;
  }
}

INLINE uint32_t largest(__m256i x) {
  const __m128i half = _mm_max_epu16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  const __m128i least = _mm_minpos_epu16(_mm_xor_si128(half, _mm_set1_epi32(-1)));
  return UINT16_MAX - (uint32_t)_mm_extract_epi16(least, 0);
}

static void pairs_low(size_t quads, const int8_t *panel, uint32_t *pairs) {
  for (size_t q = 0; q < quads; q += 2, panel += 128) {
    __m256i two = _mm256_setzero_si256(), four = two;
    for (size_t h = 0; h < 64; h += 32) {
      const __m256i a = load(panel + h);
      const __m256i b = q + 1 < quads ? load(panel + 64 + h) : _mm256_setzero_si256();
      two = larger(two, larger(larger(ups(a), downs(a)), larger(ups(b), downs(b))));
      four = larger(four,
                    larger(_mm256_add_epi16(ups(a), ups(b)), _mm256_add_epi16(downs(a), downs(b))));
    }
    pairs[q / 2] = largest(four) | largest(two) << 16;
  }
}

static void pairs_near(size_t quads, const int8_t *panel, uint32_t *pairs) {
  for (size_t q = 0; q < quads; q += 2, panel += 128) {
    const int8_t *next = q + 1 < quads ? panel + 64 : panel;
    __m256i most = _mm256_max_epi8(_mm256_max_epi8(load(panel), load(panel + 32)),
                                   _mm256_max_epi8(load(next), load(next + 32)));
    most = _mm256_xor_si256(most, _mm256_set1_epi8(INT8_MIN));
    most = _mm256_max_epu8(most, _mm256_srli_epi16(most, 8));
    pairs[q / 2] = largest(_mm256_and_si256(most, _mm256_set1_epi16(255))) * 0x10001u;
  }
}

static const pte_gemm_static low = {.gather = gather_low,
                                    .columns = pte_rescale_complete,
                                    .settle = settle_low,
                                    .tile = tile_low,
                                    .wide = wide,
                                    .peaks = peaks_low,
                                    .pairs = pairs_low,
                                    .most_rows = ROWS,
                                    .most_panels = 1,
                                    .widened = 1};

static const pte_gemm_static near = {.gather = gather_near,
                                     .columns = pte_rescale_complete,
                                     .tile = tile_near,
                                     .wide = wide,
                                     .peaks = peaks_near,
                                     .pairs = pairs_near,
                                     .most_rows = ROWS,
                                     .most_panels = 1,
                                     .widened = 1};

const pte_gemm_static pte_gemm_static__avx2 = {.gather = gather_avx2,
                                               .columns = pte_rescale_complete,
                                               .tile = tile_avx2,
                                               .wide = wide,
                                               .low = &low,
                                               .near = &near,
                                               .most_rows = ROWS,
                                               .most_panels = 1,
                                               .widened = 2};
#endif
