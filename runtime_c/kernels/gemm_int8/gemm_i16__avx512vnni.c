/* int16 times int8 on AVX-512 with VNNI: vpdpwssd adds two products of words to each lane. Bytes of
 * a panel become the high halves of words, two of a quad at a time, and are shifted down: four
 * instructions a quad and panel, for all rows of a tile. */
#if PTE_HAVE_AVX512VNNI
#include "core/kept.h"
#include "kernels/gemm_int8/gemm_i16.h"
#include "kernels/requantize/rescale__avx512.h"
#include "kernels/requantize/rescale_i16.h"

/* What follows two vectors of sums. */
typedef struct words_lanes {
  rescale_lanes first, second;
  __m512i low, high, zero;
  __m512i up[2], bottom[2]; /* bottom: the least sum that does not saturate */
  bool narrow;
} words_lanes;

INLINE words_lanes words_lanes_of(const pte_rescale_columns *c) {
  return (words_lanes){.first = rescale_lanes_of(c),
                       .second = rescale_lanes_of(c + 1),
                       .low = _mm512_set1_epi16((short)c->low),
                       .high = _mm512_set1_epi16((short)c->high),
                       .zero = _mm512_set1_epi32(c->zero),
                       .narrow = c[0].narrow && c[1].narrow};
}

/* Once the lanes are in place. */
INLINE void words_lanes_lift(words_lanes *r) {
  const __m512i one = _mm512_set1_epi32(1);
  rescale_lanes *lanes[] = {&r->first, &r->second};
#pragma GCC unroll 2
  for (size_t i = 0; i < 2; i++) {
    r->up[i] = lanes[i]->add;
    r->bottom[i] = _mm512_srav_epi32(_mm512_set1_epi32(INT32_MIN), r->up[i]);
    lanes[i]->add = _mm512_sllv_epi32(one, _mm512_sub_epi32(lanes[i]->down, one));
  }
}

INLINE __m512i shifted_up(__m512i sum, const words_lanes *r, size_t i) {
  sum = _mm512_min_epi32(_mm512_max_epi32(sum, r->bottom[i]), ~r->bottom[i]);
  return _mm512_sllv_epi32(sum, r->up[i]);
}

/* Of the first in the low half of each 16 bytes. */
INLINE __m512i words_of_two(__m512i first, __m512i second, const words_lanes *r) {
  if (!r->narrow) first = shifted_up(first, r, 0), second = shifted_up(second, r, 1);
  first = _mm512_add_epi32(rescaled_lanes(first, &r->first), r->zero);
  second = _mm512_add_epi32(rescaled_lanes(second, &r->second), r->zero);
  const __m512i words = _mm512_packs_epi32(first, second);
  return _mm512_min_epi16(_mm512_max_epi16(words, r->low), r->high);
}

static __attribute__((noinline)) void rows_put(size_t rows, const pte_tile_i16 *t) {
  words_lanes r = words_lanes_of(t->columns);
  words_lanes_lift(&r);
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const __mmask32 some = UINT32_MAX >> (2 * PTE_PANEL - t->lanes);
  for (size_t m = 0; m < rows; m++) {
    const int32_t (*sum)[PTE_PANEL] = (const int32_t (*)[PTE_PANEL])t->sum + m * PTE_BESIDE;
    const __m512i words = words_of_two(_mm512_loadu_si512(sum[0]), _mm512_loadu_si512(sum[1]), &r);
    _mm512_mask_storeu_epi16(t->y + m * t->y_stride, some, _mm512_permutexvar_epi64(order, words));
  }
}

/* Elements 2 i and 2 i + 1 of each quad. */
INLINE __m512i words_of(__m512i bytes, size_t i) {
  const __m512i first = _mm512_set4_epi32(0x0d800c80, 0x09800880, 0x05800480, 0x01800080);
  const __m512i last = _mm512_set4_epi32(0x0f800e80, 0x0b800a80, 0x07800680, 0x03800280);
  return _mm512_srai_epi16(_mm512_shuffle_epi8(bytes, i == 0 ? first : last), 8);
}

INLINE __m512i pair_of(const int16_t *x) {
  int32_t pair;
  memcpy(&pair, x, sizeof pair);
  return _mm512_set1_epi32(pair);
}

INLINE void tile_of(const size_t rows, const pte_tile_i16 *t) {
  const int16_t *x = t->x;
  const int8_t *w = t->panel;
  __m512i sum[PTE_STRIP][PTE_BESIDE];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 2
    for (size_t p = 0; p < PTE_BESIDE; p++)
      sum[m][p] = _mm512_loadu_si512(t->start[m * t->start_row + p]);
  for (size_t q = 0; q < t->quads; q++, w += 64, x += 4) {
    __m512i weight[PTE_BESIDE][2];
#pragma GCC unroll 2
    for (size_t p = 0; p < PTE_BESIDE; p++) {
      const __m512i bytes = _mm512_load_si512(w + p * t->panel_bytes);
      weight[p][0] = words_of(bytes, 0), weight[p][1] = words_of(bytes, 1);
    }
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 2
      for (size_t i = 0; i < 2; i++) {
        const __m512i pair = pair_of(x + m * t->row + 2 * i);
#pragma GCC unroll 2
        for (size_t p = 0; p < PTE_BESIDE; p++)
          sum[m][p] = _mm512_dpwssd_epi32(sum[m][p], pair, weight[p][i]);
      }
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 2
    for (size_t p = 0; p < PTE_BESIDE; p++)
      _mm512_storeu_si512(t->sum[m * PTE_BESIDE + p], sum[m][p]);
  if (t->columns != NULL) rows_put(rows, t);
}

static void tile(size_t rows, const pte_tile_i16 *t) {
  if (rows == PTE_STRIP) tile_of(PTE_STRIP, t);
  else if (rows == PTE_STRIP / 2) tile_of(PTE_STRIP / 2, t);
  else tile_of(1, t);
}

/* Sixteen lanes of each of two panels as pairs of taps have them. */
INLINE __m512i low_of(const int32_t *panels) {
  const size_t next = sizeof(pte_rescale_columns) / sizeof *panels;
  return _mm512_shuffle_i32x4(_mm512_loadu_si512(panels), _mm512_loadu_si512(panels + next), 0x88);
}

INLINE __m512i high_of(const int32_t *panels) {
  const size_t next = sizeof(pte_rescale_columns) / sizeof *panels;
  return _mm512_shuffle_i32x4(_mm512_loadu_si512(panels), _mm512_loadu_si512(panels + next), 0xdd);
}

/* Of `count` pixels from `at` on, `step` apart. */
INLINE void pixels_put(const size_t count, const pte_taps_i16 *t, const int16_t *w,
                       const int16_t *const *tap, size_t at, size_t step, __mmask32 some,
                       const __m512i *bias, const words_lanes *r, int16_t *y) {
  __m512i sum[2][2];
#pragma GCC unroll 2
  for (size_t i = 0; i < count; i++) sum[i][0] = bias[0], sum[i][1] = bias[1];
  for (size_t k = 0; k < t->taps; k += 2, w += 2 * PTE_BLOCK_I16) {
    const int16_t *first = tap[k] + at, *second = tap[k + 1] + at;
#pragma GCC unroll 2
    for (size_t i = 0; i < count; i++) {
      const __m512i a = _mm512_maskz_loadu_epi16(some, first + i * step);
      const __m512i b = _mm512_maskz_loadu_epi16(some, second + i * step);
      sum[i][0] = _mm512_dpwssd_epi32(sum[i][0], _mm512_unpacklo_epi16(a, b), _mm512_load_si512(w));
      sum[i][1] = _mm512_dpwssd_epi32(sum[i][1], _mm512_unpackhi_epi16(a, b),
                                      _mm512_load_si512(w + PTE_BLOCK_I16));
    }
  }
#pragma GCC unroll 2
  for (size_t i = 0; i < count; i++)
    _mm512_mask_storeu_epi16(y + i * t->channels, some, words_of_two(sum[i][0], sum[i][1], r));
}

static void taps(const pte_taps_i16 *t, size_t first, size_t end, const int16_t *const *tap,
                 size_t pixels, size_t step, int16_t *y) {
  for (size_t c = first; c < end; c += PTE_BLOCK_I16) {
    const pte_rescale_columns *k = t->columns + c / PTE_PANEL;
    const __mmask32 some =
        end - c < PTE_BLOCK_I16 ? UINT32_MAX >> (PTE_BLOCK_I16 - (end - c)) : UINT32_MAX;
    const int16_t *weight = t->weight + c * (t->taps + t->taps % 2);
    const __m512i bias[] = {low_of(k->bias), high_of(k->bias)};
    words_lanes r = words_lanes_of(k);
    r.first.even = low_of(k->multiplier), r.second.even = high_of(k->multiplier);
    r.first.odd = _mm512_srli_epi64(r.first.even, 32);
    r.second.odd = _mm512_srli_epi64(r.second.even, 32);
    r.first.add = low_of(k->add), r.second.add = high_of(k->add);
    r.first.down = low_of(k->down), r.second.down = high_of(k->down);
    words_lanes_lift(&r);
    size_t i = 0;
    for (; i + 1 < pixels; i += 2)
      pixels_put(2, t, weight, tap, i * step + c, step, some, bias, &r, y + i * t->channels + c);
    if (i < pixels)
      pixels_put(1, t, weight, tap, i * step + c, step, some, bias, &r, y + i * t->channels + c);
  }
}

INLINE __m512i addends(const int16_t *codes, const rescale_lanes *r) {
  const __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)codes);
  return rescaled_lanes(_mm512_slli_epi32(_mm512_cvtepi16_epi32(words), 16), r);
}

static void add(size_t count, const int16_t *a, const int16_t *b, const pte_rescale_columns *f,
                int16_t *y) {
  words_lanes codes = words_lanes_of(f), last = words_lanes_of(f + 1); /* of b, and the sum's */
  words_lanes_lift(&codes), words_lanes_lift(&last);
  const __m256i low = _mm256_set1_epi16((short)f[2].low);
  const __m256i high = _mm256_set1_epi16((short)f[2].high);
  for (size_t i = 0; i < count; i += PTE_PANEL) {
    __m512i sum = _mm512_add_epi32(addends(a + i, &codes.first), addends(b + i, &codes.second));
    sum = _mm512_add_epi32(rescaled_lanes(sum, &last.second), _mm512_set1_epi32(f[2].zero));
    const __m256i words = _mm512_cvtsepi32_epi16(sum);
    _mm256_storeu_si256((__m256i *)(void *)(y + i),
                        _mm256_min_epi16(_mm256_max_epi16(words, low), high));
  }
}

const pte_gemm_i16 pte_gemm_i16__avx512vnni = {.tile = tile,
                                               .taps = taps,
                                               .add = PTE_WITH(ADD_I16, add),
                                               .most_rows = PTE_STRIP,
                                               .most_panels = PTE_BESIDE,
                                               .block = PTE_BLOCK_I16,
                                               .pairs = true};
#endif
