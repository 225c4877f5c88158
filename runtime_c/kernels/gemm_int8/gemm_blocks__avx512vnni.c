/* Integer products on AVX-512 with VNNI and VBMI. vpermb looks bytes up by six bits and ignores the
 * two above, so the codes need no mask; vpdpbusd adds four products to 32 bits exactly, the weight
 * unsigned, its bias leaving by the sums' starts. A row of the panel is a lane. */
#if PTE_HAVE_AVX512VNNI
#include <immintrin.h>
#include <stdint.h>

enum { FEWER = 1 };
typedef struct constants {
  __m512i table, low;
  uint32_t scale; /* dtype */
} constants;
#include "kernels/gemm_int8/gemm_blocks__avx512vnni.h"
#include "kernels/gemm_int8/gemm_blocks_x86.inc"

INLINE __m512i load(const uint8_t *from) { return _mm512_load_si512(from); }
INLINE __m512i repeat(const uint8_t *bytes) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)bytes));
}

INLINE __m512i mxfp6_table(void) {
  static const uint8_t sizes[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60};
  __m256i size = _mm256_loadu_si256((const __m256i *)(const void *)sizes);
  __m256i zero = _mm256_set1_epi8(60);
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_add_epi8(zero, size)),
                            _mm256_sub_epi8(zero, size), 1);
}

/* Formats of as many bits are one function. `low` masks what the upper plane joins; i8: its sign
 * bit flips. */
INLINE constants constants_of(const uint32_t format, const pte_stored *w) {
  static const uint8_t four_bits[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  constants c = {_mm512_set1_epi8(-128), _mm512_set1_epi8(15), pte_format_scale(w->format)};
  if (pte_format_bits(format) == 6) c.table = mxfp6_table();
  if (pte_format_bits(format) == 4)
    c.table = repeat(w->format == PTE_FORMAT_NF4     ? pte_nf4_seven
                     : w->format == PTE_FORMAT_MXFP4 ? mxfp4_bytes
                                                     : four_bits);
  return c;
}

/* The unsigned bytes of elements 4q .. 4q + 3 of the unit at `at`. */
INLINE __m512i bytes_of(const uint32_t format, const size_t q, walk at, constants c) {
  __m512i codes = load(at.codes + q / 2 * 64);
  if (pte_format_bits(format) == 8) return _mm512_xor_si512(codes, c.table);
  if (q % 2) codes = _mm512_srli_epi16(codes, 4);
  if (pte_format_bits(format) == 6) {
    __m512i high = load(at.high);
    high = q == 0   ? _mm512_slli_epi16(high, 4)
           : q == 1 ? _mm512_slli_epi16(high, 2)
           : q == 2 ? high
                    : _mm512_srli_epi16(high, 2);
    codes = _mm512_ternarylogic_epi32(codes, high, c.low, 0xe4); /* low ? codes : high */
  }
  return _mm512_permutexvar_epi8(codes, c.table);
}

/* E8M0: byte 0 is 2^-127, subnormal; 255 is NaN. */
INLINE __m512 scales_read(uint32_t dtype, const uint8_t *from) {
  if (dtype == PTE_F32) return _mm512_loadu_ps(from);
  if (dtype == PTE_F16)
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
  __m512i byte = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
  __m512i scale = _mm512_max_epi32(_mm512_slli_epi32(byte, 23), _mm512_set1_epi32(0x00400000));
  __mmask16 nan = _mm512_cmpeq_epi32_mask(byte, _mm512_set1_epi32(255));
  return _mm512_castsi512_ps(_mm512_mask_set1_epi32(scale, nan, -1));
}

/* As intrinsics GCC 12 copies the sum before and after. */
INLINE void dot(__m512i *sum, __m512i bytes, __m512i x) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(bytes), "v"(x));
}

/* What limits it are loads: panels side by side share those of x. */
INLINE void block_add(const uint32_t format, const size_t rows, const size_t panels, size_t units,
                      pte_rows_i8 x, const walk *at, constants c, pte_lanes *acc) {
  const size_t quads = pte_i8_unit(format) / 4, stride = x.blocks * PTE_I8_BLOCK;
  const bool four_bits = pte_format_bits(format) == 4; /* the others are one format each */
  __m512i sum[MOST_SUMS];
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; r++) {
    const __m512i start = _mm512_set1_epi32(x.starts[r * x.blocks]);
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++) sum[p * rows + r] = start;
  }
  for (size_t s = 0; s < units; s++)
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++) {
      __m512i bytes[ABREAST];
#pragma GCC unroll 4
      for (size_t p = 0; p < panels; p++)
        bytes[p] = bytes_of(
            format, q, (walk){at[p].codes + s * code_bytes(format), at[p].high + s * 64, NULL}, c);
#pragma GCC unroll 4
      for (size_t r = 0; r < rows; r++) {
        const __m512i all = _mm512_set1_epi32(four(x.codes + r * stride + (s * quads + q) * 4));
#pragma GCC unroll 4
        for (size_t p = 0; p < panels; p++) dot(&sum[p * rows + r], bytes[p], all);
      }
    }
#pragma GCC unroll 4
  for (size_t p = 0; p < panels; p++) {
    const __m512 scale = scales_read(four_bits ? c.scale : pte_format_scale(format), at[p].scales);
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; r++) {
      const size_t i = p * rows + r;
      const __m512 both = _mm512_mul_ps(_mm512_set1_ps(x.steps[r * x.blocks]), scale);
      acc[i].all = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[i]), both, acc[i].all);
    }
  }
}

/* Into t or, `raw`, the unsigned bytes that are looked up. */
INLINE void blocks_read(const uint32_t format, const pte_stored *w, size_t panel, size_t first,
                        size_t count, bool raw, int8_t *codes, float *scales) {
  const size_t unit = pte_i8_unit(format), units = PTE_I8_BLOCK / unit, quads = unit / 4;
  const size_t row_bytes = w->scale_bytes * PTE_PANEL;
  walk at = {w->codes + panel * w->steps * 64 + first * units * code_bytes(format),
             w->high + panel * w->steps * 32 + first * units * 64, NULL};
  const uint8_t *scale = w->scales + panel * w->blocks * row_bytes;
  size_t left = (w->depth + unit - 1) / unit - first * units;
  constants c = constants_of(format, w);
  if (!raw && pte_format_bits(format) == 8) c.table = _mm512_setzero_si512();
  else if (!raw) c.table = _mm512_sub_epi8(c.table, _mm512_set1_epi8((char)bias_of(w->format)));
  for (size_t b = first; b < first + count; b++, scales += PTE_PANEL, left -= units) {
    const size_t last = (left < units ? left : units) - 1;
    at.scales = scale + pte_i8_scale_at(w, b) * row_bytes;
    if (pte_format_bits(format) == 6)
      for (size_t i = 0; i < units * 64; i += 64)
        _mm_prefetch((const char *)(at.high + PTE_PREFETCH_TALL / 2 + i), _MM_HINT_T0);
    _mm_prefetch((const char *)(at.scales + PTE_PREFETCH_TALL / 12), _MM_HINT_T0);
    _mm512_storeu_ps(scales, scales_read(c.scale, at.scales));
    for (size_t s = 0; s < units; s++) {
      const size_t u = s < last ? s : last; /* what is behind K meets zeros */
      const walk here = {at.codes + u * code_bytes(format), at.high + u * 64, NULL};
#pragma GCC unroll 4
      for (size_t q = 0; q < quads; q++, codes += 64)
        _mm512_store_si512(codes, bytes_of(format, q, here, c));
    }
    at.codes += units * code_bytes(format), at.high += units * 64;
  }
}

static void some_read(const pte_stored *w, size_t panel, size_t first, size_t count, bool raw,
                      int8_t *codes, float *scales) {
  const unsigned bits = pte_format_bits(w->format);
  if (bits == 4) blocks_read(PTE_FORMAT_NF4, w, panel, first, count, raw, codes, scales);
  else if (bits == 6) blocks_read(PTE_FORMAT_MXFP6, w, panel, first, count, raw, codes, scales);
  else blocks_read(PTE_FORMAT_I8, w, panel, first, count, raw, codes, scales);
}

void pte_blocks_read__avx512vnni(const pte_stored *w, size_t panel, size_t first, size_t count,
                                 int8_t *codes, float *scales) {
  some_read(w, panel, first, count, false, codes, scales);
}

/* --- rows together: their codes meet a panel's that became bytes once for all of them
 * ----------------------------------------------------------------------------------------------
 */

enum {
  PAIR = 2,           /* panels side by side */
  PART = 8,           /* blocks that are read at a time */
  TALL = 6,           /* rows of a strip, at most */
  MANY = PTE_I8_TALL, /* rows together, at most */
  FEW = 2,            /* strips */
  STEPS = PTE_I8_BLOCK / 4,
  PART_BYTES = PART * PTE_I8_BLOCK * PTE_PANEL
};

typedef struct part {
  _Alignas(64) int8_t w[PAIR][PART_BYTES]; /* [PART][8][16][4], unsigned */
  float scales[PAIR][PART * PTE_PANEL];
  float sums[MANY + PTE_I8_BEHIND][PAIR][PTE_PANEL]; /* so far; where out is, rows would meet in
                                                           one set of the first cache */
  size_t count;
  bool begins;        /* the sums start at +0 */
  const uint8_t *ask; /* codes to come, and those of the panel beside, asked for evenly: */
  size_t ask_beside, ask_bytes; /* so many a block */
  ptrdiff_t first; /* from there to what is asked for into the first cache: it, or codes at hand */
} part;

INLINE void ask_for(const uint8_t *at, size_t beside) {
  _mm_prefetch((const char *)at, _MM_HINT_T0);
  _mm_prefetch((const char *)(at + beside), _MM_HINT_T0);
}

/* `most` rows, x the first of them; its sums. `few`: strips are so few that a block's lines at once
 * would be a burst, which hurts; else asking at each step would take a tenth of the products. */
INLINE void strip_run(const size_t most, const bool few, part *p, pte_rows_i8 x,
                      float (*out)[PAIR][PTE_PANEL]) {
  __m512 acc[TALL][PAIR];
#pragma GCC unroll 6
  for (size_t r = 0; r < most; r++)
#pragma GCC unroll 2
    for (size_t i = 0; i < PAIR; i++)
      acc[r][i] = p->begins ? _mm512_setzero_ps() : _mm512_load_ps(out[r][i]);
  const size_t stride = x.blocks * PTE_I8_BLOCK, beside = p->ask_beside, bytes = p->ask_bytes;
  const int8_t *w = p->w[0], *a[] = {x.codes, x.codes + 3 * stride};
  const float *scales = p->scales[0];
  for (size_t b = 0; b < p->count; b++, scales += PTE_PANEL, x.starts++, x.steps++) {
    __m512i sum[TALL][PAIR];
    const uint8_t *ask = p->ask;
    p->ask += bytes;
    for (; !few && ask < p->ask; ask += 64) ask_for(ask, beside);
#pragma GCC unroll 6
    for (size_t r = 0; r < most; r++)
      sum[r][0] = sum[r][1] = _mm512_set1_epi32(x.starts[r * x.blocks]);
    for (const int8_t *end = w + PTE_I8_BLOCK * PTE_PANEL; w != end; w += 64) {
      const __m512i first = _mm512_load_si512(w), second = _mm512_load_si512(w + PART_BYTES);
#pragma GCC unroll 6
      for (size_t r = 0; r < most; r++) {
        const __m512i all = _mm512_set1_epi32(four(a[r / 3] + r % 3 * stride));
        dot(&sum[r][0], first, all);
        dot(&sum[r][1], second, all);
      }
      if (few) {
        _mm_prefetch((const char *)ask, _MM_HINT_T1);
        _mm_prefetch((const char *)(ask + beside), _MM_HINT_T1);
        ask_for(ask + p->first, beside), ask += bytes / STEPS;
      }
      a[0] += 4, a[1] += 4;
    }
    const __m512 scale[] = {_mm512_load_ps(scales), _mm512_load_ps(scales + PART * PTE_PANEL)};
#pragma GCC unroll 6
    for (size_t r = 0; r < most; r++) {
      const __m512 step = _mm512_set1_ps(x.steps[r * x.blocks]);
#pragma GCC unroll 2
      for (size_t i = 0; i < PAIR; i++)
        acc[r][i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[r][i]), _mm512_mul_ps(step, scale[i]),
                                    acc[r][i]);
    }
  }
#pragma GCC unroll 6
  for (size_t r = 0; r < most; r++)
#pragma GCC unroll 2
    for (size_t i = 0; i < PAIR; i++) _mm512_store_ps(out[r][i], acc[r][i]);
}

/* Panels `panel` and that `apart` further; one twice where that is 0. What a strip has beyond the
 * last row are rows that can be read and sums that nobody does. One strip by eight bits waits for
 * memory, as one row does; more rows, and fewer bits, for their sums. */
static void pair_run(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                     size_t apart, float *out, size_t out_stride) {
  const size_t unit = pte_i8_unit(w->format), units = PTE_I8_BLOCK / unit;
  const size_t bytes = units * code_bytes(w->format); /* of a block's codes */
  const size_t strips = (rows + TALL - 1) / TALL;
  const bool few = strips <= FEW;
  part p;
  p.ask_bytes = (bytes + strips - 1) / strips, p.ask_beside = apart * w->steps * 64;
  p.begins = true;
  p.first =
      strips == 1 && !w->many_misses && pte_format_bits(w->format) == 8 ? -PTE_PREFETCH_TALL : 0;
  for (size_t b = 0; b < x->blocks; b += PART, p.begins = false) {
    p.count = x->blocks - b < PART ? x->blocks - b : PART;
    p.ask = w->codes + panel * w->steps * 64 + b * bytes + PTE_PREFETCH_TALL;
    for (size_t i = 0; i < PAIR; i++) {
      some_read(w, panel + i * apart, b, p.count, true, p.w[i], p.scales[i]);
    }
    for (size_t row = 0, most; row < rows; row += most) {
      const size_t left = rows - row, at = row * x->blocks + b;
      const pte_rows_i8 from = {x->blocks, x->codes + at * PTE_I8_BLOCK, x->steps + at,
                                x->starts + at};
      most = left > 4 && left != 7 && left != 8 ? TALL : 4;
      for (size_t r = row; p.begins && r < row + most && r < rows; r++)
        ask_for((const uint8_t *)(out + r * out_stride), apart * PTE_PANEL * sizeof *out);
      if (most == TALL && few) strip_run(TALL, true, &p, from, p.sums + row);
      else if (most == TALL) strip_run(TALL, false, &p, from, p.sums + row);
      else if (few) strip_run(4, true, &p, from, p.sums + row);
      else strip_run(4, false, &p, from, p.sums + row);
    }
  }
  for (size_t r = 0; r < rows; r++, out += out_stride)
    for (size_t i = 0; i < PAIR; i++)
      memcpy(out + i * apart * PTE_PANEL, p.sums[r][i], sizeof p.sums[r][i]);
}

static void row_4(const tile *t) {
  tile_run(PTE_FORMAT_NF4, 1, PAIR, PTE_PREFETCH_ROW_AVX512VNNI, t);
}
static void row_6(const tile *t) {
  tile_run(PTE_FORMAT_MXFP6, 1, PAIR, PTE_PREFETCH_ROW_6_AVX512VNNI, t);
}
static void row_8(const tile *t) {
  tile_run(PTE_FORMAT_I8, 1, PAIR, PTE_PREFETCH_ROW_AVX512VNNI, t);
}
static void rows_4(const tile *t) {
  tile_run(PTE_FORMAT_NF4, PTE_I8_ROWS, PAIR, PTE_PREFETCH_ROW_AVX512VNNI, t);
}

/* In small pages two streams of eight bits, which the sums are through with soonest, wait for the
 * pages to be found: 78 % of a bare read, four 91 (Zen 4). */
static void row_8_by_4(const tile *t) { tile_run(PTE_FORMAT_I8, 1, ABREAST, 0, t); }

/* Where memory is far off two streams are too few: Xeon, NF4, 85 % of a bare read, four 92. */
static void far_4_by_4(const tile *t) {
  tile_run(PTE_FORMAT_NF4, 1, ABREAST, PTE_PREFETCH_ROW_AVX512VNNI, t);
}
static void far_8_by_4(const tile *t) {
  tile_run(PTE_FORMAT_I8, 1, ABREAST, PTE_PREFETCH_ROW_AVX512VNNI, t);
}

/* Codes of four bits are so few bytes that of up to four rows the sums would wait for what is
 * stored first. */
static void panels_avx512vnni(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                              size_t count, float *out, size_t out_stride) {
  const tile t = {w, *x, rows, panel, 0, 0, out, out_stride};
  const size_t apart = count / PAIR;
  const unsigned bits = pte_format_bits(w->format);
  if (rows == 1 && bits == 8 && !w->many_misses) streams_run(row_8_by_4, ABREAST, t, count);
  else if (rows == 1 && bits != 6 && w->far_memory)
    streams_run(bits == 4 ? far_4_by_4 : far_8_by_4, ABREAST, t, count);
  else if (rows == 1) streams_run(bits == 4 ? row_4 : bits == 6 ? row_6 : row_8, PAIR, t, count);
  else if (rows <= PTE_I8_ROWS && bits == 4) streams_run(rows_4, PAIR, t, count);
  else if (x->blocks == 0)
    for (size_t r = 0; r < rows; r++)
      memset(out + r * out_stride, 0, count * PTE_PANEL * sizeof *out);
  else
    for (size_t p = 0; p < count; p = p + 1 == apart ? 2 * apart : p + 1)
      pair_run(w, x, rows, panel + p, p < apart ? apart : 0, out + p * PTE_PANEL, out_stride);
}

/* --- rows to codes
 * ------------------------------------------------------------------------------------------ */

enum { TOGETHER = 4, SCALES = PTE_PANEL }; /* blocks; and scales that are found at a time */

/* Lane i of the result is what all of quarter i meet in. */
#define QUARTERS_MEET(meet, v)                                                                     \
  v = meet(v, _mm512_shuffle_epi32(v, 0x4e));                                                      \
  v = meet(v, _mm512_shuffle_epi32(v, 0xb1));                                                      \
  return _mm512_castsi512_si128(_mm512_maskz_compress_epi32(0x1111, v))
#define HALVES(meet, a, b, first, second)                                                          \
  meet(_mm512_shuffle_i32x4(a, b, first), _mm512_shuffle_i32x4(a, b, second))

/* The largest magnitudes of four blocks, as bits. */
INLINE __m128i blocks_largest(const float *x) {
  const __m512i rest = _mm512_set1_epi32(INT32_MAX);
  __m512i v[TOGETHER];
#pragma GCC unroll 4
  for (size_t b = 0; b < TOGETHER; b++, x += PTE_I8_BLOCK)
    v[b] = _mm512_max_epi32(_mm512_and_si512(rest, _mm512_loadu_si512(x)),
                            _mm512_and_si512(rest, _mm512_loadu_si512(x + PTE_PANEL)));
  v[0] = HALVES(_mm512_max_epi32, v[0], v[1], 0x44, 0xee);
  v[2] = HALVES(_mm512_max_epi32, v[2], v[3], 0x44, 0xee);
  v[0] = HALVES(_mm512_max_epi32, v[0], v[2], 0x88, 0xdd);
  QUARTERS_MEET(_mm512_max_epi32, v[0]);
}

/* The sums of four blocks' codes. They come in registers: those that two stores wrote would be read
 * when both are done. */
INLINE __m128i blocks_sums(const __m256i *codes) {
  __m512i v[TOGETHER / 2];
#pragma GCC unroll 2
  for (size_t i = 0; i < TOGETHER / 2; i++) {
    v[i] = _mm512_setzero_si512();
    dot(&v[i], _mm512_set1_epi8(1),
        _mm512_inserti64x4(_mm512_castsi256_si512(codes[2 * i]), codes[2 * i + 1], 1));
  }
  v[0] = HALVES(_mm512_add_epi32, v[0], v[1], 0x88, 0xdd);
  QUARTERS_MEET(_mm512_add_epi32, v[0]);
}

/* The codes of pte_i8_quantize_block by a product in place of each division. It is within 2.3e-5 of
 * what the division gives, so its nearest integer is that one's unless it lies that close to the
 * middle of two. Returns whether any does, or is no number. */
INLINE bool block_multiply(const float *x, float by, __m256i *code) {
  static const uint8_t first[PTE_I8_BLOCK] = {0,  4,  8,  12,  16,  20,  24,  28,  32,  36, 40,
                                              44, 48, 52, 56,  60,  64,  68,  72,  76,  80, 84,
                                              88, 92, 96, 100, 104, 108, 112, 116, 120, 124};
  const __m512 middle = _mm512_set1_ps(12582912.0f);
  __m512 moved[2];
  __m512i off[2];
#pragma GCC unroll 2
  for (size_t i = 0; i < 2; i++) {
    const __m512 y = _mm512_mul_ps(_mm512_loadu_ps(x + i * PTE_PANEL), _mm512_set1_ps(by));
    moved[i] = _mm512_add_ps(y, middle);
    off[i] =
        _mm512_and_si512(_mm512_castps_si512(_mm512_sub_ps(y, _mm512_sub_ps(moved[i], middle))),
                         _mm512_set1_epi32(INT32_MAX));
  }
  const __m512i codes = _mm512_permutex2var_epi8(
      _mm512_castps_si512(moved[0]),
      _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)first)),
      _mm512_castps_si512(moved[1]));
  *code = _mm512_castsi512_si256(codes);
  return _mm512_cmpgt_epi32_mask(_mm512_max_epi32(off[0], off[1]),
                                 _mm512_set1_epi32(0x3efffac2 /* 0.49996 */)) != 0;
}

/* What goes by divisions, once. */
__attribute__((noinline, cold)) static void row_divide(size_t depth, const float *x, float factor,
                                                       int32_t bias, int8_t *code, float *step,
                                                       int32_t *start) {
  pte_i8_quantize(depth, x, factor, bias, code, step, start);
}

typedef struct scales {
  uint32_t largest[SCALES];
  float all[SCALES], by[SCALES];
} scales;

/* Four blocks, the first has scale `at`; those where it is no ordinary number are divided. */
INLINE void blocks_quantize(const scales *s, size_t at, const float *x, float factor, int32_t bias,
                            int8_t *code, float *step, int32_t *start) {
  const uint32_t least = 0x0d800000 /* 2^-100 */, infinite = 0x7f800000;
  __m256i codes[TOGETHER];
  unsigned divided = 0;
#pragma GCC unroll 4
  for (unsigned b = 0; b < TOGETHER; b++) {
    const bool close = block_multiply(x + b * PTE_I8_BLOCK, s->by[at + b], &codes[b]);
    divided |= (unsigned)(close || s->largest[at + b] - least >= infinite - least) << b;
    _mm256_storeu_si256((__m256i *)(void *)(code + b * PTE_I8_BLOCK), codes[b]);
  }
  _mm_storeu_ps(step, _mm_mul_ps(_mm_loadu_ps(s->all + at), _mm_set1_ps(factor)));
  _mm_storeu_si128((__m128i *)(void *)start,
                   _mm_mullo_epi32(blocks_sums(codes), _mm_set1_epi32(-bias)));
  for (; divided != 0; divided >>= 1, x += PTE_I8_BLOCK, code += PTE_I8_BLOCK, step++, start++)
    if (divided & 1) row_divide(PTE_I8_BLOCK, x, factor, bias, code, step, start);
}

/* The last four whole blocks may do some of those before again. */
void pte_i8_quantize__avx512vnni(size_t depth, const float *x, float factor, int32_t bias,
                                 int8_t *code, float *step, int32_t *start) {
  const size_t whole = depth / PTE_I8_BLOCK < TOGETHER ? 0 : depth / PTE_I8_BLOCK;
  scales s = {{0}, {0}, {0}};
  for (size_t first = 0; first < whole; first += SCALES) {
    const size_t end = first + SCALES < whole ? first + SCALES : whole;
#define EACH_FOUR(...)                                                                             \
  for (size_t b = first; b < end; b += TOGETHER) {                                                 \
    const size_t at = b + TOGETHER <= whole ? b : whole - TOGETHER, k = at * PTE_I8_BLOCK;         \
    __VA_ARGS__;                                                                                   \
  }
    EACH_FOUR(_mm_storeu_si128((__m128i *)(void *)(s.largest + (b - first)), blocks_largest(x + k)))
    const __m512 scale = _mm512_div_ps(_mm512_loadu_ps(s.largest), _mm512_set1_ps(127));
    _mm512_storeu_ps(s.all, scale);
    _mm512_storeu_ps(s.by, _mm512_div_ps(_mm512_set1_ps(1), scale));
    EACH_FOUR(blocks_quantize(&s, b - first, x + k, factor, bias, code + k, step + at, start + at))
#undef EACH_FOUR
  }
  const size_t done = whole * PTE_I8_BLOCK;
  if (done < depth)
    row_divide(depth - done, x + done, factor, bias, code + done, step + whole, start + whole);
}
int32_t pte_i8_bias__avx512vnni(uint32_t format) { return bias_of(format); }

const pte_gemm_blocks pte_gemm_blocks__avx512vnni = {panels_avx512vnni, pte_i8_quantize__avx512vnni,
                                                     pte_i8_bias__avx512vnni, MANY};
#else
typedef int pte_gemm_blocks__avx512vnni_is_absent;
#endif
