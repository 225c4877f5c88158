/* int16 times int8 on AVX2: vpmaddwd is exact, two products of words at most 2^23. Bytes of a panel
 * become the high halves of words, as on AVX-512. */
#if PTE_HAVE_AVX2
#include "core/kept.h"
#include "kernels/gemm_int8/gemm_i16.h"
#include "kernels/requantize/rescale__avx2.h"
#include "kernels/requantize/rescale_i16.h"

enum { ROWS = 4 };

INLINE rescale_lanes words_lanes_of(const pte_rescale_columns *c) {
  const __m256i one = _mm256_set1_epi32(1);
  rescale_lanes r = rescale_lanes_of(c);
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++)
    r.add[h] = _mm256_sllv_epi32(one, _mm256_sub_epi32(r.down[h], one));
  return r;
}

INLINE __m256i shifted_up(__m256i sum, const int32_t *by) {
  const __m256i up = load(by), bottom = _mm256_srav_epi32(_mm256_set1_epi32(INT32_MIN), up);
  sum = _mm256_min_epi32(_mm256_max_epi32(sum, bottom), ~bottom);
  return _mm256_sllv_epi32(sum, up);
}

INLINE __m256i words_of_two(__m256i low, __m256i high, const rescale_lanes *r,
                            const pte_rescale_columns *c) {
  const __m256i zero = _mm256_set1_epi32(c->zero);
  if (!c->narrow) low = shifted_up(low, c->add), high = shifted_up(high, c->add + 8);
  low = _mm256_add_epi32(eight_rescaled(low, r, 0), zero);
  high = _mm256_add_epi32(eight_rescaled(high, r, 1), zero);
  __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
  words = _mm256_max_epi16(words, _mm256_set1_epi16((short)c->low));
  return _mm256_min_epi16(words, _mm256_set1_epi16((short)c->high));
}

INLINE void words_store(size_t lanes, __m256i words, int16_t *y) {
  int16_t some[PTE_PANEL];
  _mm256_storeu_si256((__m256i *)(void *)(lanes == PTE_PANEL ? y : some), words);
  if (lanes < PTE_PANEL) memcpy(y, some, lanes * sizeof *y);
}

static __attribute__((noinline)) void rows_put(size_t rows, const pte_tile_i16 *t) {
  const rescale_lanes r = words_lanes_of(t->columns);
  for (size_t m = 0; m < rows; m++)
    words_store(t->lanes, words_of_two(load(t->sum[m]), load(t->sum[m] + 8), &r, t->columns),
                t->y + m * t->y_stride);
}

/* Elements 2 i and 2 i + 1 of each quad. */
INLINE __m256i words_of(__m256i bytes, size_t i) {
  const __m128i first = _mm_set_epi32(0x0d800c80, 0x09800880, 0x05800480, 0x01800080);
  const __m128i last = _mm_set_epi32(0x0f800e80, 0x0b800a80, 0x07800680, 0x03800280);
  const __m256i order = _mm256_broadcastsi128_si256(i == 0 ? first : last);
  return _mm256_srai_epi16(_mm256_shuffle_epi8(bytes, order), 8);
}

INLINE __m256i pair_of(const int16_t *x) {
  int32_t pair;
  memcpy(&pair, x, sizeof pair);
  return _mm256_set1_epi32(pair);
}

INLINE void tile_of(const size_t rows, const pte_tile_i16 *t) {
  const int16_t *x = t->x;
  const int8_t *w = t->panel;
  __m256i sum[ROWS][2];
#pragma GCC unroll 4
  for (size_t m = 0; m < rows; m++) {
    sum[m][0] = load(t->start[m * t->start_row]);
    sum[m][1] = load(t->start[m * t->start_row] + 8);
  }
  for (size_t q = 0; q < t->quads; q++, w += 64, x += 4) {
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
      const __m256i low = words_of(load(w), i), high = words_of(load(w + 32), i);
#pragma GCC unroll 4
      for (size_t m = 0; m < rows; m++) {
        const __m256i pair = pair_of(x + m * t->row + 2 * i);
        sum[m][0] = _mm256_add_epi32(sum[m][0], _mm256_madd_epi16(pair, low));
        sum[m][1] = _mm256_add_epi32(sum[m][1], _mm256_madd_epi16(pair, high));
        /* Products of both halves added first would be more than the registers hold. */
        __asm__("" : "+x"(sum[m][0]), "+x"(sum[m][1]));
      }
    }
  }
#pragma GCC unroll 4
  for (size_t m = 0; m < rows; m++) {
    _mm256_storeu_si256((__m256i *)(void *)t->sum[m], sum[m][0]);
    _mm256_storeu_si256((__m256i *)(void *)(t->sum[m] + 8), sum[m][1]);
  }
  if (t->columns != NULL) rows_put(rows, t);
}

static void tile(size_t rows, const pte_tile_i16 *t) {
  if (rows == ROWS) tile_of(ROWS, t);
  else if (rows == ROWS / 2) tile_of(ROWS / 2, t);
  else tile_of(1, t);
}

/* Of a block that is not whole: `pairs` of channels, and the last of an odd number. */
typedef struct some_words {
  __m256i pairs, odd;
  size_t last;
} some_words;

INLINE some_words some_words_of(size_t lanes) {
  const __m256i places = _mm256_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15);
  const __m256i end = _mm256_set1_epi32((int)lanes);
  return (some_words){_mm256_cmpgt_epi32(end, places),
                      _mm256_srli_epi32(_mm256_cmpeq_epi32(end, places), 16), lanes - 1};
}

INLINE __m256i words_load(const int16_t *x, bool whole, const some_words *some) {
  if (whole) return load(x);
  const __m256i odd = _mm256_and_si256(_mm256_set1_epi16(x[some->last]), some->odd);
  return _mm256_or_si256(_mm256_maskload_epi32((const int *)(const void *)x, some->pairs), odd);
}

/* Sums begin without the bias, in the order that unpacking leaves. */
INLINE void pixels_put(const bool whole, const pte_taps_i16 *t, const int16_t *weight, size_t lanes,
                       const int16_t *const *tap, size_t at, size_t pixels, size_t step,
                       const rescale_lanes *r, const pte_rescale_columns *columns, int16_t *y) {
  const some_words some = some_words_of(lanes);
  for (size_t i = 0; i < pixels; i++, at += step, y += t->channels) {
    const int16_t *w = weight;
    __m256i low = _mm256_setzero_si256(), high = low;
    for (size_t k = 0; k < t->taps; k += 2, w += 2 * PTE_PANEL) {
      const __m256i a = words_load(tap[k] + at, whole, &some);
      const __m256i b = words_load(tap[k + 1] + at, whole, &some);
      low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), load(w)));
      high = _mm256_add_epi32(high,
                              _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), load(w + PTE_PANEL)));
    }
    const __m256i begin = _mm256_permute2x128_si256(low, high, 0x20);
    const __m256i rest = _mm256_permute2x128_si256(low, high, 0x31);
    words_store(lanes,
                words_of_two(_mm256_add_epi32(begin, load(columns->bias)),
                             _mm256_add_epi32(rest, load(columns->bias + 8)), r, columns),
                y);
  }
}

static void taps(const pte_taps_i16 *t, size_t first, size_t end, const int16_t *const *tap,
                 size_t pixels, size_t step, int16_t *y) {
  for (size_t c = first; c < end; c += PTE_PANEL) {
    const size_t lanes = end - c < PTE_PANEL ? end - c : PTE_PANEL;
    const int16_t *w = t->weight + c * (t->taps + t->taps % 2);
    const pte_rescale_columns *columns = t->columns + c / PTE_PANEL;
    const rescale_lanes r = words_lanes_of(columns);
    if (lanes == PTE_PANEL)
      pixels_put(true, t, w, PTE_PANEL, tap, c, pixels, step, &r, columns, y + c);
    else pixels_put(false, t, w, lanes, tap, c, pixels, step, &r, columns, y + c);
  }
}

INLINE __m256i addends(const int16_t *codes, const rescale_lanes *r) {
  const __m128i words = _mm_loadu_si128((const __m128i *)(const void *)codes);
  return eight_rescaled(_mm256_slli_epi32(_mm256_cvtepi16_epi32(words), 16), r, 0);
}

static void add(size_t count, const int16_t *a, const int16_t *b, const pte_rescale_columns *f,
                int16_t *y) {
  const rescale_lanes left = words_lanes_of(f), right = words_lanes_of(f + 1);
  pte_rescale_columns last = f[2]; /* y is words and could be it */
  last.narrow = true;              /* as it is */
  const rescale_lanes sum = words_lanes_of(&last);
  for (size_t i = 0; i < count; i += PTE_PANEL) {
    const __m256i low = _mm256_add_epi32(addends(a + i, &left), addends(b + i, &right));
    const __m256i high = _mm256_add_epi32(addends(a + i + 8, &left), addends(b + i + 8, &right));
    words_store(PTE_PANEL, words_of_two(low, high, &sum, &last), y + i);
  }
}

const pte_gemm_i16 pte_gemm_i16__avx2 = {.tile = tile,
                                         .taps = taps,
                                         .add = PTE_WITH(ADD_I16, add),
                                         .most_rows = ROWS,
                                         .most_panels = 1,
                                         .block = PTE_PANEL,
                                         .pairs = true};
#endif
