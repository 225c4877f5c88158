/* Integer products on AVX2: the weight is the unsigned side of vpmaddubsw, its bias leaves by the
 * sums' starts. 16 bits hold the pair sums of
 *     i4     0 .. 15:  2 * 15 * 127 * 8 = 30480, a whole block
 *     mxfp4  0 .. 24:  2 * 24 * 127 * 4 = 24384, half a block
 *     mxfp6  0 .. 60:  2 * 60 * 127 * 2 = 30480, two fours; the activations take its sign
 *     others 0 .. 127 (|code| up to 128): 2 * 128 * 127 = 32512, one pair
 * A row of the panel is a 32-bit lane, so nothing is ever summed across. */
#if PTE_HAVE_AVX2
#include <immintrin.h>

enum { FEWER = 0 };
typedef struct constants {
  __m256i table, low, ones;
} constants;
#include "kernels/gemm_int8/gemm_blocks_x86.inc"

enum {
  PAIR = 2, /* panels side by side */
  PARTS = 4 /* eight rows of a panel each, side by side */
};

INLINE __m256i load(const uint8_t *from) {
  return _mm256_load_si256((const __m256i *)(const void *)from);
}

INLINE constants constants_of(const uint32_t format, const pte_stored *w) {
  (void)w;
  static const uint8_t mxfp6[16] = {16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60};
  const uint8_t *table = format == PTE_FORMAT_NF4     ? pte_nf4_seven
                         : format == PTE_FORMAT_MXFP6 ? mxfp6
                                                      : mxfp4_bytes;
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)table);
  return (constants){_mm256_broadcastsi128_si256(bytes), _mm256_set1_epi8(15),
                     _mm256_set1_epi16(1)};
}

/* The unsigned bytes of elements 4q .. 4q + 3 of the unit at `at`. `sign` is what the activations
 * take the sign of where the format has one. MXFP6: 8 |value| is 0 .. 60; the table has that of the
 * upper two exponents, of the lower two it is the code itself. Bits of the upper plane go to the
 * top of their byte, where vpblendvb and vpsignb look; the latter's byte is never 0. */
INLINE __m256i bytes_of(const uint32_t format, const size_t q, walk at, constants c,
                        __m256i *sign) {
  __m256i codes = load(at.codes + q / 2 * 64);
  if (format == PTE_FORMAT_I8) {
    *sign = codes;
    return _mm256_abs_epi8(codes);
  }
  codes = _mm256_and_si256(q % 2 ? _mm256_srli_epi16(codes, 4) : codes, c.low);
  if (format == PTE_FORMAT_I4) return codes;
  __m256i looked = _mm256_shuffle_epi8(c.table, codes);
  if (format != PTE_FORMAT_MXFP6) return looked;
  __m256i top = load(at.high);
  *sign = _mm256_slli_epi16(_mm256_or_si256(top, _mm256_set1_epi8(1)), 6 - 2 * (int)q);
  return _mm256_blendv_epi8(codes, looked, _mm256_slli_epi16(top, 7 - 2 * (int)q));
}

/* Eight scales. E8M0: byte 0 is 2^-127, subnormal; 255 is NaN. */
INLINE __m256 scales_read(const uint32_t format, const uint8_t *from, size_t half) {
  if (pte_format_scale(format) == PTE_F32)
    return _mm256_loadu_ps((const float *)(const void *)(from + half * 32));
  if (pte_format_scale(format) == PTE_F16)
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + half * 16)));
  __m256i byte =
      _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(from + half * 8)));
  __m256i scale = _mm256_max_epi32(_mm256_slli_epi32(byte, 23), _mm256_set1_epi32(0x00400000));
  __m256i nan = _mm256_cmpeq_epi32(byte, _mm256_set1_epi32(255));
  return _mm256_castsi256_ps(_mm256_or_si256(scale, nan));
}

/* Sums of 16-bit pairs that are not moved to 32 bits yet. */
INLINE bool pairs_kept(const uint32_t format) {
  return format == PTE_FORMAT_I4 || format == PTE_FORMAT_MXFP4;
}
INLINE __m256i pairs_move(__m256i sum, __m256i pairs, constants c) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, c.ones));
}

/* Whether two units are one piece of code: MXFP4 gains a twentieth by it, MXFP6 a tenth; NF4 and I4
 * lose as much. */
INLINE bool in_twos(const uint32_t format, const size_t rows) {
  return rows == 1 && (format == PTE_FORMAT_MXFP4 || format == PTE_FORMAT_MXFP6);
}

/* Unit `s` of each part. Where its registers are too many to keep, a part is done to its end. */
INLINE void unit_add(const uint32_t format, const size_t rows, const size_t parts, size_t s,
                     pte_rows_i8 x, const walk *at, constants c, __m256i *pairs, __m256i *sum) {
  const size_t quads = pte_i8_unit(format) / 4, stride = x.blocks * PTE_I8_BLOCK;
  const bool apart = format == PTE_FORMAT_MXFP6;
#pragma GCC unroll 16
  for (size_t step = 0; step < quads * parts; step++) {
    const size_t q = apart ? step % quads : step / parts, p = apart ? step / quads : step % parts;
    walk unit = {at[p].codes + s * code_bytes(format), at[p].high + s * 64, NULL};
    __m256i sign, bytes = bytes_of(format, q, unit, c, &sign);
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
      size_t i = p * rows + r;
      __m256i codes = _mm256_set1_epi32(four(x.codes + r * stride + (s * quads + q) * 4));
      if (format == PTE_FORMAT_I8 || format == PTE_FORMAT_MXFP6)
        codes = _mm256_sign_epi8(codes, sign);
      __m256i both = _mm256_maddubs_epi16(bytes, codes);
      if (pairs_kept(format)) pairs[i] = _mm256_add_epi16(pairs[i], both);
      else if (format != PTE_FORMAT_MXFP6) sum[i] = pairs_move(sum[i], both, c);
      else if (q % 2) sum[i] = pairs_move(sum[i], _mm256_add_epi16(pairs[i], both), c);
      else pairs[i] = both;
    }
  }
}

/* sum[part * rows + r] += units begin .. end, of which 16 bits hold the pairs, of row r of x times
 * the part at `at`. `two`, a constant: they are two. */
INLINE void turn_add(const uint32_t format, const size_t rows, const size_t parts, const bool two,
                     size_t begin, size_t end, pte_rows_i8 x, const walk *at, constants c,
                     __m256i *sum) {
  __m256i pairs[PARTS];
  if (pairs_kept(format))
#pragma GCC unroll 4
    for (size_t i = 0; i < parts * rows; i++) pairs[i] = _mm256_setzero_si256();
  if (two) {
    unit_add(format, rows, parts, begin, x, at, c, pairs, sum);
    unit_add(format, rows, parts, begin + 1, x, at, c, pairs, sum);
  } else {
    for (; begin < end; begin++) unit_add(format, rows, parts, begin, x, at, c, pairs, sum);
  }
  if (pairs_kept(format))
#pragma GCC unroll 4
    for (size_t i = 0; i < parts * rows; i++) sum[i] = pairs_move(sum[i], pairs[i], c);
}

/* The same of a block's `units`. */
INLINE void parts_add(const uint32_t format, const size_t rows, const size_t parts, size_t units,
                      pte_rows_i8 x, const walk *at, constants c, __m256i *sum) {
  const size_t turn = format == PTE_FORMAT_MXFP4 ? 2 : PTE_I8_BLOCK;
  if (in_twos(format, rows) && units % 2 == 0) {
    for (size_t s = 0; s < units; s += 2)
      turn_add(format, rows, parts, true, s, s + 2, x, at, c, sum);
    return;
  }
  for (size_t s = 0, end; s < units; s = end) {
    end = s + turn < units ? s + turn : units;
    turn_add(format, rows, parts, false, s, end, x, at, c, sum);
  }
}

/* One row: the halves of two panels share the activations. Four rows share a half of the panel. */
INLINE void block_add(const uint32_t format, const size_t rows, const size_t panels, size_t units,
                      pte_rows_i8 x, const walk *at, constants c, pte_lanes *acc) {
  const bool biased = format != PTE_FORMAT_I8 && format != PTE_FORMAT_MXFP6;
  const size_t together = PARTS / rows;
#pragma GCC unroll 2
  for (size_t first = 0; first < 2 * panels; first += together) {
    walk part[PARTS];
    __m256i sum[PARTS];
#pragma GCC unroll 4
    for (size_t p = 0; p < together; p++) {
      size_t half = (first + p) % 2;
      part[p] = at[(first + p) / 2];
      part[p].codes += half * 32, part[p].high += half * 32;
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < PARTS; i++)
      sum[i] = _mm256_set1_epi32(biased ? x.starts[i % rows * x.blocks] : 0);
    parts_add(format, rows, together, units, x, part, c, sum);
#pragma GCC unroll 4
    for (size_t i = 0; i < PARTS; i++) {
      size_t p = first + i / rows, half = p % 2;
      __m256 *to = half ? &acc[p / 2 * rows + i % rows].hi : &acc[p / 2 * rows + i % rows].lo;
      __m256 both = _mm256_mul_ps(_mm256_set1_ps(x.steps[i % rows * x.blocks]),
                                  scales_read(format, at[p / 2].scales, half));
      *to = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[i]), both, *to);
    }
  }
}

/* Each format by its two functions. */
#define FORMAT(name)                                                                               \
  static void row_##name(const tile *t) {                                                          \
    tile_run(PTE_FORMAT_##name, 1, PAIR, PTE_PREFETCH_ROW_AVX2, t);                                \
  }                                                                                                \
  static void rows_##name(const tile *t) {                                                         \
    tile_run(PTE_FORMAT_##name, PTE_I8_ROWS, 1, PTE_PREFETCH_ROWS_AVX2, t);                        \
  }
PTE_DOT_FORMATS(FORMAT)
#undef FORMAT

typedef struct tiles {
  void (*row)(const tile *), (*rows)(const tile *);
} tiles;

static const tiles tiles_of[] = {
#define FORMAT(name) [PTE_FORMAT_##name] = {row_##name, rows_##name},
    PTE_DOT_FORMATS(FORMAT)
#undef FORMAT
};

/* Rows that are no four take turns at panels that stay in the second cache. */
static void panels_avx2(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                        size_t count, float *out, size_t out_stride) {
  tile t = {w, *x, rows, panel, 0, 0, out, out_stride};
  if (rows == PTE_I8_ROWS) {
    for (; t.panel < panel + count; t.panel++, t.out += PTE_PANEL) tiles_of[w->format].rows(&t);
    return;
  }
  size_t turn = rows == 1 ? count : w->turn_bytes / (64 * w->steps + 1) / PAIR * PAIR + PAIR;
  for (size_t some; count > 0; count -= some, t.panel += some, t.out += some * PTE_PANEL) {
    tile row = t;
    some = count < turn ? count : turn;
    for (size_t r = 0; r < rows; r++, row.out += out_stride) {
      streams_run(tiles_of[w->format].row, PAIR, row, some);
      row.x.codes += x->blocks * PTE_I8_BLOCK, row.x.steps += x->blocks;
      row.x.starts += x->blocks;
    }
  }
}

static int32_t bias_avx2(uint32_t format) { return bias_of(format); }

const pte_gemm_blocks pte_gemm_blocks__avx2 = {panels_avx2, pte_i8_quantize, bias_avx2,
                                               PTE_I8_ROWS};
#else
typedef int pte_gemm_blocks__avx2_is_absent;
#endif
