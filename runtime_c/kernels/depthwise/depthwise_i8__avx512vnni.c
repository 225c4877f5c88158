/* Depthwise windows of int8 on AVX-512 with VNNI: 64 channels at a time, or 32 of two pixels.
 *
 * Unpacking four taps within 128-bit lanes gives, for vector j, the quads of channels 4j .. 4j + 3
 * of each lane: what vpdpbusd sums. Packing the results within lanes again brings the channels back
 * in order, so only weights and constants are laid out anew, once a run. */
#if PTE_HAVE_AVX512VNNI
#include <string.h>

#include "kernels/depthwise/depthwise_i8_taps.h"
#include "kernels/requantize/rescale__avx512.h"

enum { TAPS_LANES = 64, TAPS_HALF = 32 };

typedef struct taps_block {
  int32_t bias[4][PTE_PANEL], multiplier[4][PTE_PANEL], add[4][PTE_PANEL], down[4][PTE_PANEL];
  int32_t narrow, reserved[15];
  int32_t weight[][4][PTE_PANEL]; /* [quads], four codes each */
} taps_block;

INLINE taps_block *taps_block_of(const pte_taps_i8 *t, size_t first) {
  return (taps_block *)(void *)(t->weight + first / TAPS_LANES * PTE_TAPS_BYTES(t->taps));
}

/* out[j] = the 128 bits j of each of four vectors. */
INLINE void pieces_turn(const __m512i *in, int32_t (*out)[PTE_PANEL]) {
  const __m512i a = _mm512_shuffle_i32x4(in[0], in[1], 0x44);
  const __m512i b = _mm512_shuffle_i32x4(in[2], in[3], 0x44);
  const __m512i c = _mm512_shuffle_i32x4(in[0], in[1], 0xee);
  const __m512i d = _mm512_shuffle_i32x4(in[2], in[3], 0xee);
  _mm512_store_si512(out[0], _mm512_shuffle_i32x4(a, b, 0x88));
  _mm512_store_si512(out[1], _mm512_shuffle_i32x4(a, b, 0xdd));
  _mm512_store_si512(out[2], _mm512_shuffle_i32x4(c, d, 0x88));
  _mm512_store_si512(out[3], _mm512_shuffle_i32x4(c, d, 0xdd));
}

/* Of sixteen channels whose codes lie in threes of lines: word q of each has those of column q. */
INLINE __m512i column_words(const int8_t *codes, size_t q) {
  const __m512i a = _mm512_load_si512(codes), b = _mm512_load_si512(codes + 64);
  const __m512i c = _mm512_load_si512(codes + 128); /* codes 0 .. 3, 4 .. 7 and 8 */
  const __m512i first = q == 0 ? a : q == 1 ? _mm512_srli_epi32(a, 8) : _mm512_srli_epi32(a, 16);
  const __m512i second = q == 0 ? _mm512_srli_epi32(a, 16) : q == 1 ? _mm512_slli_epi32(b, 8) : b;
  const __m512i third = q == 0 ? b : q == 1 ? _mm512_srli_epi32(b, 8) : _mm512_slli_epi32(c, 16);
  const __m512i two = _mm512_mask_mov_epi8(second, 0x1111111111111111, first);
  return _mm512_maskz_mov_epi8(0x7777777777777777,
                               _mm512_mask_mov_epi8(two, 0x4444444444444444, third));
}

/* Word q of sixteen channels whose panel is at `codes`. */
INLINE __m512i tap_words(const pte_taps_i8 *t, const int8_t *codes, size_t quads, size_t q) {
  const uint32_t last = UINT32_MAX >> (8 * (quads * 4 - t->taps)); /* bytes that are taps */
  if (t->walk) return column_words(codes, q);
  const __m512i words = _mm512_load_si512(codes + q * 64);
  return q + 1 < quads ? words : _mm512_and_si512(words, _mm512_set1_epi32((int32_t)last));
}

/* A set of sixteen constants of each panel. */
INLINE void constants_turn(const pte_rescale_columns *const *k, size_t offset,
                           int32_t (*out)[PTE_PANEL]) {
  __m512i in[4];
#pragma GCC unroll 4
  for (size_t l = 0; l < 4; l++) in[l] = _mm512_loadu_si512((const char *)k[l] + offset);
  pieces_turn(in, out);
}

static void lay(const pte_taps_i8 *t, size_t first, size_t count, const int8_t *codes) {
  taps_block *b = taps_block_of(t, first);
  const size_t quads = (t->taps + 3) / 4, panels = (count + PTE_PANEL - 1) / PTE_PANEL;
  const size_t wrap = count > TAPS_HALF ? TAPS_LANES / PTE_PANEL : TAPS_HALF / PTE_PANEL;
  const pte_rescale_columns *k[4];
  const __m512i away = _mm512_set1_epi8((char)0x80);
  b->narrow = 1;
  for (size_t l = 0; l < 4; l++) {
    k[l] = t->columns + first / PTE_PANEL + l % wrap;
    b->narrow &= k[l]->narrow;
  }
  constants_turn(k, offsetof(pte_rescale_columns, bias), b->bias);
  constants_turn(k, offsetof(pte_rescale_columns, multiplier), b->multiplier);
  constants_turn(k, offsetof(pte_rescale_columns, add), b->add);
  constants_turn(k, offsetof(pte_rescale_columns, down), b->down);
  for (size_t q = 0; q < quads; q++) {
    __m512i words[4];
    for (size_t l = 0; l < 4; l++)
      words[l] = l % wrap < panels ? tap_words(t, codes + l % wrap * quads * 64, quads, q)
                                   : _mm512_setzero_si512();
    pieces_turn(words, b->weight[q]);
    for (size_t j = 0; j < 4; j++) {
      const __m512i bias = _mm512_load_si512(b->bias[j]), w = _mm512_load_si512(b->weight[q][j]);
      const __m512i more = _mm512_dpbusd_epi32(_mm512_setzero_si512(), away, w);
      _mm512_store_si512(b->bias[j], _mm512_sub_epi32(bias, more));
    }
  }
}

INLINE __m512i taps_load(const bool two, __mmask64 mask, const int8_t *x, const int8_t *other) {
  const __m512i flip = _mm512_set1_epi8((char)0x80);
  if (!two) return _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, x), flip);
  __m256i low = _mm256_maskz_loadu_epi8((__mmask32)mask, x);
  __m256i high = _mm256_maskz_loadu_epi8((__mmask32)mask, other);
  return _mm512_xor_si512(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), flip);
}

/* Within 128 bits: the bytes of four vectors, as quads of lanes. */
INLINE void quads_of(__m512i x0, __m512i x1, __m512i x2, __m512i x3, __m512i *quad) {
  __m512i a = _mm512_unpacklo_epi8(x0, x1), c = _mm512_unpacklo_epi8(x2, x3);
  __m512i d = _mm512_unpackhi_epi8(x0, x1), e = _mm512_unpackhi_epi8(x2, x3);
  quad[0] = _mm512_unpacklo_epi16(a, c), quad[1] = _mm512_unpackhi_epi16(a, c);
  quad[2] = _mm512_unpacklo_epi16(d, e), quad[3] = _mm512_unpackhi_epi16(d, e);
}

/* Sums of one pixel, or of two `other` apart. */
INLINE void taps_sum(const bool two, const taps_block *b, size_t quads, __mmask64 mask,
                     const int8_t *const *tap, size_t at, size_t other, __m512i *sum) {
#pragma GCC unroll 4
  for (size_t j = 0; j < 4; j++) sum[j] = _mm512_load_si512(b->bias[j]);
  for (size_t q = 0; q < quads; q++, tap += 4) {
    __m512i x0 = taps_load(two, mask, tap[0] + at, tap[0] + at + other);
    __m512i x1 = taps_load(two, mask, tap[1] + at, tap[1] + at + other);
    __m512i x2 = taps_load(two, mask, tap[2] + at, tap[2] + at + other);
    __m512i x3 = taps_load(two, mask, tap[3] + at, tap[3] + at + other);
    __m512i quad[4];
    quads_of(x0, x1, x2, x3, quad);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; j++)
      sum[j] = _mm512_dpbusd_epi32(sum[j], quad[j], _mm512_load_si512(b->weight[q][j]));
  }
}

/* What all channels have. */
typedef struct taps_ends {
  __m512i low, high;
  int32_t zero;
} taps_ends;

INLINE taps_ends taps_ends_of(const pte_taps_i8 *t, size_t first) {
  const pte_rescale_columns *c = t->columns + first / PTE_PANEL; /* others need not be there */
  return (taps_ends){_mm512_set1_epi8((char)c->low), _mm512_set1_epi8((char)c->high), c->zero};
}

/* `wide`: of shifts that 32-bit lanes do not take. */
INLINE __m512i taps_bytes(const bool wide, const taps_block *b, const taps_ends *ends,
                          const __m512i *sum) {
  __m512i y[4];
#pragma GCC unroll 4
  for (size_t j = 0; j < 4; j++) {
    const __m512i multiplier = _mm512_load_si512(b->multiplier[j]);
    const rescale_lanes r = {.even = multiplier,
                             .odd = _mm512_srli_epi64(multiplier, 32),
                             .add = _mm512_load_si512(b->add[j]),
                             .down = _mm512_load_si512(b->down[j])};
    y[j] = wide ? lifted_lanes(sum[j], r, ends->zero) : rescaled_lanes(sum[j], &r);
  }
  __m512i bytes =
      _mm512_packs_epi16(_mm512_packs_epi32(y[0], y[1]), _mm512_packs_epi32(y[2], y[3]));
  return _mm512_min_epi8(_mm512_max_epi8(bytes, ends->low), ends->high);
}

INLINE void taps_run(const bool two, const bool wide, const pte_taps_i8 *t, size_t first,
                     size_t lanes, const int8_t *const *tap, size_t pixels, size_t step,
                     int8_t *y) {
  const taps_block *b = taps_block_of(t, first);
  const taps_ends ends = taps_ends_of(t, first);
  const __mmask64 mask = UINT64_MAX >> (TAPS_LANES - lanes);
  const size_t quads = (t->taps + 3) / 4, abreast = two ? 2 : 1;
  for (size_t i = 0; i < pixels; i += abreast) {
    const bool last = i + 1 == pixels;
    __m512i sum[4];
    taps_sum(two, b, quads, mask, tap, i * step + first, last ? 0 : step, sum);
    const __m512i bytes = taps_bytes(wide, b, &ends, sum);
    int8_t *to = y + i * t->channels + first;
    _mm512_mask_storeu_epi8(to, two ? mask & UINT32_MAX : mask, bytes);
    if (two && !last)
      _mm256_mask_storeu_epi8(to + t->channels, (__mmask32)mask,
                              _mm512_extracti64x4_epi64(bytes, 1));
  }
}

static void taps(const pte_taps_i8 *t, size_t first, size_t end, const int8_t *const *tap,
                 size_t pixels, size_t step, int8_t *y) {
  for (size_t c = first; c < end; c += TAPS_LANES) {
    const size_t left = end - c, lanes = left < TAPS_LANES ? left : TAPS_LANES;
    const bool narrow = taps_block_of(t, c)->narrow != 0;
    if (left > TAPS_HALF && narrow) taps_run(false, false, t, c, lanes, tap, pixels, step, y);
    else if (left > TAPS_HALF) taps_run(false, true, t, c, lanes, tap, pixels, step, y);
    else if (narrow) taps_run(true, false, t, c, lanes, tap, pixels, step, y);
    else taps_run(true, true, t, c, lanes, tap, pixels, step, y);
  }
}

/* --- windows of 3 by 3, column after column
 *
 * The quads of a column serve the outputs whose windows it lies in: each is loaded and unpacked
 * once, the fourth of a quad being 0. Few channels: two halves of the line at once. */

typedef struct walk_state {
  const pte_walk_i8 *w;
  const taps_block *b;
  size_t first, channels; /* the first of these; of a pixel */
  int64_t from, to;
  __mmask64 mask;
  taps_ends ends;
} walk_state;

/* Where the next column lies in each line, or the first that there is. */
typedef struct walk_place {
  const int8_t *at[3];
  int64_t column;
} walk_place;

INLINE walk_place walk_place_of(const walk_state *s, int64_t column) {
  const pte_walk_i8 *w = s->w;
  walk_place p = {.column = column};
  const int64_t skip = column > w->from ? column - w->from : 0;
#pragma GCC unroll 3
  for (size_t l = 0; l < 3; l++) p.at[l] = w->line[l] + s->first + (size_t)skip * w->step[l];
  return p;
}

INLINE void walk_next(const walk_state *s, walk_place *p, const int8_t **x) {
  const bool real = p->column >= s->from && p->column < s->to;
  p->column++;
#pragma GCC unroll 3
  for (size_t l = 0; l < 3; l++) {
    x[l] = real ? p->at[l] : s->w->zeros + s->first;
    p->at[l] += real ? s->w->step[l] : 0;
  }
}

/* p: of the line's first half, and of the second. */
INLINE void walk_quads(const bool two, const walk_state *s, walk_place *p, __m512i *quad) {
  const int8_t *x[3], *other[3];
  __m512i v[3];
  walk_next(s, p, x);
  if (two) walk_next(s, p + 1, other);
#pragma GCC unroll 3
  for (size_t l = 0; l < 3; l++) v[l] = taps_load(two, s->mask, x[l], two ? other[l] : x[l]);
  quads_of(v[0], v[1], v[2], _mm512_setzero_si512(), quad);
}

/* sum = from + quads * the weights of column k; `from` may be `sum`. */
INLINE void walk_add(const walk_state *s, size_t k, const __m512i *quad, const __m512i *from,
                     __m512i *sum) {
#pragma GCC unroll 4
  for (size_t j = 0; j < 4; j++)
    sum[j] = _mm512_dpbusd_epi32(from[j], quad[j], _mm512_load_si512(s->b->weight[k][j]));
}

/* At `y`, and where there is another, `half` further. */
INLINE void walk_put(const bool two, const bool wide, const walk_state *s, const __m512i *sum,
                     int8_t *y, size_t half) {
  const __m512i bytes = taps_bytes(wide, s->b, &s->ends, sum);
  _mm512_mask_storeu_epi8(y, two ? s->mask & UINT32_MAX : s->mask, bytes);
  if (two && half > 0)
    _mm256_mask_storeu_epi8(y + half, (__mmask32)s->mask, _mm512_extracti64x4_epi64(bytes, 1));
}

INLINE void walk_run(const bool two, const bool wide, const walk_state *s) {
  const size_t outputs = two ? (s->w->outputs + 1) / 2 : s->w->outputs,
               half = outputs * s->channels;
  const size_t both = s->w->outputs - outputs; /* where two are made */
  int8_t *y = s->w->y + s->first;
  walk_place p[] = {walk_place_of(s, 0), walk_place_of(s, (int64_t)(outputs * s->w->stride))};
  __m512i bias[4], sum[4], after[4], quad[4];
#pragma GCC unroll 4
  for (size_t j = 0; j < 4; j++) bias[j] = _mm512_load_si512(s->b->bias[j]);
  walk_quads(two, s, p, quad);
  walk_add(s, 0, quad, bias, sum);
  if (s->w->stride == 2) {
    for (size_t i = 0; i < outputs; i++, y += s->channels) {
      walk_quads(two, s, p, quad);
      walk_add(s, 1, quad, sum, sum);
      walk_quads(two, s, p, quad);
      walk_add(s, 2, quad, sum, sum);
      walk_put(two, wide, s, sum, y, i < both ? half : 0);
      walk_add(s, 0, quad, bias, sum);
    }
    return;
  }
  walk_quads(two, s, p, quad);
  walk_add(s, 1, quad, sum, sum);
  walk_add(s, 0, quad, bias, after);
  for (size_t i = 0; i < outputs; i++, y += s->channels) {
    walk_quads(two, s, p, quad);
    walk_add(s, 2, quad, sum, sum);
    walk_put(two, wide, s, sum, y, i < both ? half : 0);
    walk_add(s, 1, quad, after, sum);
    walk_add(s, 0, quad, bias, after);
  }
}

static void walk(const pte_taps_i8 *t, size_t first, size_t end, const pte_walk_i8 *w) {
  for (size_t c = first; c < end; c += TAPS_LANES) {
    const size_t left = end - c, lanes = left < TAPS_LANES ? left : TAPS_LANES;
    walk_state s = {.w = w, .b = taps_block_of(t, c), .first = c, .channels = t->channels};
    s.from = w->from, s.to = w->to;
    s.mask = UINT64_MAX >> (TAPS_LANES - lanes);
    s.ends = taps_ends_of(t, c);
    if (left > TAPS_HALF && s.b->narrow) walk_run(false, false, &s);
    else if (left > TAPS_HALF) walk_run(false, true, &s);
    else if (s.b->narrow) walk_run(true, false, &s);
    else walk_run(true, true, &s);
  }
}

const pte_depthwise_i8 pte_depthwise_i8__avx512vnni = {.lay = lay, .taps = taps, .walk = walk};
#endif
