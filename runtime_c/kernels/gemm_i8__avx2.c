/* Integer products on AVX2: the weight is the unsigned side of vpmaddubsw, its bias leaves by the
 * sum of the activations. 16 bits hold the pair sums of
 *     i4     0 .. 15:  2 * 15 * 127 * 8 = 30480, a whole block
 *     mxfp4  0 .. 24:  2 * 24 * 127 * 4 = 24384, half a block
 *     mxfp6  0 .. 60:  2 * 60 * 127 * 2 = 30480, two fours; the activations take its sign
 *     others 0 .. 127 (|code| up to 128): 2 * 128 * 127 = 32512, one pair
 * A row of the panel is a 32-bit lane, so nothing is ever summed across. */
#if PTE_HAVE_AVX2
#include <immintrin.h>

#include "kernels/gemm_i8.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct walk { /* one block of 32 of one panel */
  const uint8_t *codes, *high, *scales;
} walk;

typedef struct dots { /* what a format needs in registers */
  __m256i table, low, ones;
} dots;

enum { AHEAD = 4096 }; /* bytes of a code stream; 2048 and 8192 measured worse */

INLINE __m256i load(const uint8_t *from) {
  return _mm256_load_si256((const __m256i *)(const void *)from);
}
INLINE __m256i four(const int8_t *x) {
  int32_t bytes;
  memcpy(&bytes, x, sizeof bytes);
  return _mm256_set1_epi32(bytes);
}
INLINE size_t code_bytes(const uint32_t format) { /* of a unit */
  return format == PTE_FORMAT_MXFP6 ? 128 : 64;
}

/* sum[r] += u * the four codes at x, for each row */
INLINE void wide_add(const size_t rows, __m256i u, const int8_t *x, size_t x_stride, dots d,
                     __m256i *sum) {
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; r++)
    sum[r] = _mm256_add_epi32(
        sum[r], _mm256_madd_epi16(_mm256_maddubs_epi16(u, four(x + r * x_stride)), d.ones));
}
INLINE void pairs_add(const size_t rows, __m256i u, const int8_t *x, size_t x_stride,
                      __m256i *pairs) {
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; r++)
    pairs[r] = _mm256_add_epi16(pairs[r], _mm256_maddubs_epi16(u, four(x + r * x_stride)));
}
INLINE void pairs_move(const size_t rows, dots d, __m256i *pairs, __m256i *sum) {
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; r++) {
    sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(pairs[r], d.ones));
    pairs[r] = _mm256_setzero_si256();
  }
}

INLINE void unit_i8(const size_t rows, const uint8_t *codes, const int8_t *x, size_t x_stride,
                    dots d, __m256i *sum) {
  __m256i w = load(codes), size = _mm256_abs_epi8(w);
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; r++) {
    __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(four(x + r * x_stride), w));
    sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(pairs, d.ones));
  }
}

/* 8 |value| is 0 .. 60: the table has that of the upper two exponents, of the lower two it is the
 * code itself. The activations take the sign; the pair sums of two fours fit 16 bits. Bits of the
 * upper plane go to the top of their byte, where vpblendvb and vpsignb look. */
INLINE void unit_mxfp6(const size_t rows, walk at, const int8_t *x, size_t x_stride, dots d,
                       __m256i *sum) {
  const __m256i one = _mm256_set1_epi8(1);
  __m256i top = load(at.high), pairs[PTE_I8_ROWS];
#pragma GCC unroll 4
  for (int q = 0; q < 4; q++) {
    __m256i n = load(at.codes + q / 2 * 64);
    n = _mm256_and_si256(q % 2 ? _mm256_srli_epi16(n, 4) : n, d.low);
    __m256i size =
        _mm256_blendv_epi8(n, _mm256_shuffle_epi8(d.table, n), _mm256_slli_epi16(top, 7 - 2 * q));
    __m256i sign = _mm256_or_si256(_mm256_slli_epi16(top, 6 - 2 * q), one);
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
      __m256i signed_x = _mm256_sign_epi8(four(x + r * x_stride + q * 4), sign);
      __m256i both = _mm256_maddubs_epi16(size, signed_x);
      pairs[r] = q % 2 ? _mm256_add_epi16(pairs[r], both) : both;
      if (q % 2) sum[r] = _mm256_add_epi32(sum[r], _mm256_madd_epi16(pairs[r], d.ones));
    }
  }
}

/* Half a panel: sum[r] += codes times activations over `units`. */
INLINE void half_add(const uint32_t format, const size_t rows, const size_t units, walk at,
                     const int8_t *x, size_t x_stride, dots d, __m256i *sum) {
  __m256i pairs[PTE_I8_ROWS] = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                                _mm256_setzero_si256(), _mm256_setzero_si256()};
  for (size_t s = 0; s < units; s++) {
    const int8_t *a = x + s * pte_i8_unit(format);
    walk here = {at.codes + s * code_bytes(format), at.high + s * 64, NULL};
    if (format == PTE_FORMAT_I8_CHANNEL) unit_i8(rows, here.codes, a, x_stride, d, sum);
    else if (format == PTE_FORMAT_MXFP6) unit_mxfp6(rows, here, a, x_stride, d, sum);
    else {
      __m256i both = load(here.codes), lo = _mm256_and_si256(both, d.low);
      __m256i hi = _mm256_and_si256(_mm256_srli_epi16(both, 4), d.low);
      if (format != PTE_FORMAT_I4) {
        lo = _mm256_shuffle_epi8(d.table, lo);
        hi = _mm256_shuffle_epi8(d.table, hi);
      }
      if (format == PTE_FORMAT_NF4) {
        wide_add(rows, lo, a, x_stride, d, sum);
        wide_add(rows, hi, a + 4, x_stride, d, sum);
      } else {
        pairs_add(rows, lo, a, x_stride, pairs);
        pairs_add(rows, hi, a + 4, x_stride, pairs);
      }
      if (format == PTE_FORMAT_MXFP4 && s % 2) pairs_move(rows, d, pairs, sum);
    }
  }
  if (format == PTE_FORMAT_I4 || (format == PTE_FORMAT_MXFP4 && units % 2))
    pairs_move(rows, d, pairs, sum);
}

/* Eight scales. E8M0: byte 0 is 2^-127, subnormal; 255 is NaN. */
INLINE __m256 scales_read(const uint32_t format, const uint8_t *from, size_t half) {
  if (format == PTE_FORMAT_I8_CHANNEL)
    return _mm256_loadu_ps((const float *)(const void *)(from + half * 32));
  if (format == PTE_FORMAT_NF4 || format == PTE_FORMAT_I4)
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + half * 16)));
  __m256i byte =
      _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(from + half * 8)));
  __m256i ends = _mm256_or_si256(_mm256_cmpeq_epi32(byte, _mm256_setzero_si256()),
                                 _mm256_cmpeq_epi32(byte, _mm256_set1_epi32(255)));
  ends = _mm256_and_si256(ends, _mm256_set1_epi32(0x00400000));
  return _mm256_castsi256_ps(_mm256_or_si256(_mm256_slli_epi32(byte, 23), ends));
}

INLINE int32_t bias_of(const uint32_t format) {
  switch (format) {
  case PTE_FORMAT_I4: return 8;
  case PTE_FORMAT_MXFP4: return 12;
  case PTE_FORMAT_NF4: return 64;
  default: return 0;
  }
}

/* acc[row][2] += one block of one panel. format, rows and, but for the last block, units are
 * constants. */
INLINE void block_add(const uint32_t format, const size_t rows, const size_t units,
                      const pte_rows_i8 *x, size_t b, walk at, dots d, __m256 (*acc)[2]) {
  size_t stride = x->blocks * PTE_I8_BLOCK;
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    __m256i sum[PTE_I8_ROWS];
    walk half = {at.codes + h * 32, at.high + h * 32, NULL};
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++)
      sum[r] = _mm256_set1_epi32(-bias_of(format) * x->sums[r * x->blocks + b]);
    half_add(format, rows, units, half, x->codes + b * PTE_I8_BLOCK, stride, d, sum);
    __m256 scale = scales_read(format, at.scales, h);
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
      __m256 both = _mm256_mul_ps(_mm256_set1_ps(x->steps[r * x->blocks + b]), scale);
      acc[r][h] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[r]), both, acc[r][h]);
    }
  }
}

/* The work of a block does not leave the core room to run ahead of memory, so ask for it. */
INLINE void walk_ahead(const uint32_t format, walk at, size_t scale_bytes) {
  const size_t bytes = PTE_I8_BLOCK / pte_i8_unit(format) * code_bytes(format);
#pragma GCC unroll 8
  for (size_t i = 0; i < bytes; i += 64)
    _mm_prefetch((const char *)at.codes + AHEAD + i, _MM_HINT_T0);
  if (format == PTE_FORMAT_MXFP6)
    for (size_t i = 0; i < bytes / 2; i += 64)
      _mm_prefetch((const char *)at.high + AHEAD / 2 + i, _MM_HINT_T0);
  if (format != PTE_FORMAT_I8_CHANNEL)
    _mm_prefetch((const char *)at.scales + AHEAD / bytes * scale_bytes, _MM_HINT_T0);
}

INLINE dots dots_of(const uint32_t format) {
  static const uint8_t mxfp4[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};
  static const uint8_t mxfp6[16] = {16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60};
  const uint8_t *table = format == PTE_FORMAT_NF4     ? pte_nf4_seven
                         : format == PTE_FORMAT_MXFP6 ? mxfp6
                                                      : mxfp4;
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)table);
  return (dots){_mm256_broadcastsi128_si256(bytes), _mm256_set1_epi8(15), _mm256_set1_epi16(1)};
}

/* `panels` panels side by side, `distance` apart, each a stream of codes and one of scales. */
INLINE void panels_run(const uint32_t format, const size_t rows, const size_t panels,
                       const pte_stored *w, const pte_rows_i8 *x, size_t first, size_t distance,
                       float *out, size_t out_stride) {
  const size_t unit = pte_i8_unit(format), units = PTE_I8_BLOCK / unit;
  const size_t row_bytes = w->scale_bytes * PTE_PANEL;
  const dots d = dots_of(format);
  size_t whole = w->depth / PTE_I8_BLOCK;
  size_t rest = (w->depth % PTE_I8_BLOCK + unit - 1) / unit;
  walk at[2];
  __m256 acc[2][PTE_I8_ROWS][2];
#pragma GCC unroll 2
  for (size_t p = 0; p < panels; p++) {
    size_t panel = first + p * distance;
    at[p] = (walk){w->codes + panel * w->steps * 64, w->high + panel * w->steps * 32,
                   w->scales + panel * w->blocks * row_bytes};
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) acc[p][r][0] = acc[p][r][1] = _mm256_setzero_ps();
  }
  for (size_t b = 0; b < whole + (rest > 0); b++)
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; p++) {
      walk here = at[p];
      here.scales += pte_i8_scale_at(format, b) * row_bytes;
      if (rows == 1) walk_ahead(format, here, format == PTE_FORMAT_NF4 ? row_bytes / 2 : row_bytes);
      if (b < whole) block_add(format, rows, units, x, b, here, d, acc[p]);
      else block_add(format, rows, rest, x, b, here, d, acc[p]);
      at[p].codes += units * code_bytes(format);
      at[p].high += units * 64;
    }
#pragma GCC unroll 2
  for (size_t p = 0; p < panels; p++)
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
      _mm256_storeu_ps(out + r * out_stride + p * distance * PTE_PANEL, acc[p][r][0]);
      _mm256_storeu_ps(out + r * out_stride + p * distance * PTE_PANEL + 8, acc[p][r][1]);
    }
}

/* Four rows share the unpacking; fewer run one by one, with the halves of the panels side by side,
 * so that each stream is sequential throughout. */
INLINE void format_run(const uint32_t format, const pte_stored *w, pte_rows_i8 x, size_t rows,
                       size_t panel, size_t count, float *out, size_t stride) {
  size_t half = count / 2;
  if (rows == PTE_I8_ROWS) {
    for (size_t p = 0; p < count; p++)
      panels_run(format, PTE_I8_ROWS, 1, w, &x, panel + p, 1, out + p * PTE_PANEL, stride);
    return;
  }
  for (size_t r = 0; r < rows; r++, out += stride) {
    for (size_t p = 0; p < half; p++)
      panels_run(format, 1, 2, w, &x, panel + p, half, out + p * PTE_PANEL, stride);
    if (count % 2)
      panels_run(format, 1, 1, w, &x, panel + count - 1, 1, out + (count - 1) * PTE_PANEL, stride);
    x.codes += x.blocks * PTE_I8_BLOCK;
    x.steps += x.blocks;
    x.sums += x.blocks;
  }
}

static void panels_avx2(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                        size_t count, float *out, size_t out_stride) {
#define CASE(name)                                                                                 \
  case name: format_run(name, w, *x, rows, panel, count, out, out_stride); break;
  switch (w->format) {
    CASE(PTE_FORMAT_I8_CHANNEL)
    CASE(PTE_FORMAT_NF4)
    CASE(PTE_FORMAT_MXFP6)
    CASE(PTE_FORMAT_MXFP4)
  default: format_run(PTE_FORMAT_I4, w, *x, rows, panel, count, out, out_stride); break;
  }
#undef CASE
}

const pte_gemm_i8 pte_gemm_i8__avx2 = {panels_avx2};
#endif
