/* Products of int8 activations and stored codes: the integer execution of quantized weights.
 *
 * x is quantized in blocks of 32 along K, w in the blocks of its format. For each output, blocks of
 * 32 ascending: acc = pte_fma((float)isum, step * w_scale, acc) from +0, where isum is the exact
 * sum of x_code * t in the block, w = t * factor * w_scale, and step = x_scale * factor is
 * rounded:
 *
 *     format      t                        factor
 *     i8          code                     1
 *     i4          code - 8                 1
 *     mxfp4       2 value                  1/2
 *     mxfp6       8 value                  1/8
 *     nf4         pte_nf4_seven - 64       f32(1/63): the levels in 7 bits
 *
 * A format with `dot` in schema/formats.py has a line there, its two rows below, its bytes in
 * gemm_blocks_x86.inc and what those need in constants_of and bytes_of of the two x86 variants; the
 * other variants read the rows. Without the rows nothing here compiles. Of 8 bits there are only
 * codes with a sign, of 6 bits only E2M3. */
#ifndef PTE_GEMM_BLOCKS_H
#define PTE_GEMM_BLOCKS_H

#include "kernels/gemm/panel_decode.h"

enum {
  PTE_I8_BLOCK = 32,
  PTE_I8_ROWS = 4,                 /* that a variant takes together, */
  PTE_I8_BEHIND = PTE_I8_ROWS - 1, /* rows of zeros behind the last one, */
#if PTE_HAVE_AMX || PTE_HAVE_AVX512VNNI
  PTE_I8_TALL = 132 /* and the most of any */
#else
  PTE_I8_TALL = PTE_I8_ROWS
#endif
};

/* Rows of x: row r has codes + r * blocks * 32 (-127 .. 127, zeros behind K), steps + r * blocks
 * and starts + r * blocks, what sums of its blocks start at: those of its codes times what the
 * variant's weights are too large by, taken off. PTE_I8_BEHIND rows more can be read. */
typedef struct pte_rows_i8 {
  size_t blocks;
  const int8_t *codes;
  const float *steps;
  const int32_t *starts;
} pte_rows_i8;

typedef struct pte_gemm_blocks {
  /* out[rows][16 count] = rows of x times panels from `panel` on; rows in 1 .. most_rows; nothing
   * aliases out */
  void (*panels)(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel, size_t count,
                 float *out, size_t out_stride);
  /* pte_i8_quantize */
  void (*quantize)(size_t depth, const float *x, float factor, int32_t bias, int8_t *code,
                   float *step, int32_t *start);
  /* what a format's integers are too large by where they are multiplied; NULL: nothing */
  int32_t (*bias)(uint32_t format);
  uint8_t most_rows;
} pte_gemm_blocks;

PTE_FAMILY(gemm_blocks)

#define PTE_I8_FACTOR_I8    1.0f
#define PTE_I8_FACTOR_I4    1.0f
#define PTE_I8_FACTOR_MXFP4 0.5f
#define PTE_I8_FACTOR_MXFP6 0.125f
#define PTE_I8_FACTOR_NF4   (1.0f / 63.0f)

static inline int32_t pte_i8_I8(uint32_t code) { return (int32_t)(code << 24) >> 24; }
static inline int32_t pte_i8_I4(uint32_t code) { return (int32_t)code - 8; }
static inline int32_t pte_i8_NF4(uint32_t code) { return pte_nf4_seven[code] - 64; }
static inline int32_t pte_i8_MXFP4(uint32_t code) {
  static const int8_t twice[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  return code & 8 ? -twice[code & 7] : twice[code & 7];
}
static inline int32_t pte_i8_MXFP6(uint32_t code) {
  int32_t exponent = (int32_t)(code >> 3 & 3), fraction = (int32_t)(code & 7);
  int32_t value = exponent == 0 ? fraction : (8 + fraction) << (exponent - 1);
  return code & 32 ? -value : value;
}

/* t of a code, and the factor; 0: the format has no sums in integers. Parentheses: a function that
 * is missing is an error, never an implicit declaration. */
static inline int32_t pte_i8_integer(uint32_t format, uint32_t code) {
#define CASE(name)                                                                                 \
  case PTE_FORMAT_##name: return (pte_i8_##name)(code);
  switch (format) {
    PTE_DOT_FORMATS(CASE)
  default: return 0;
  }
#undef CASE
}
static inline float pte_i8_factor(uint32_t format) {
#define CASE(name)                                                                                 \
  case PTE_FORMAT_##name: return PTE_I8_FACTOR_##name;
  switch (format) {
    PTE_DOT_FORMATS(CASE)
  default: return 0;
  }
#undef CASE
}

/* Elements of a row in a unit of codes (64 bytes; 128 and 64 of 6 bits), and the scale of block
 * `at` of 32, which is a part of one or all of it. */
static inline size_t pte_i8_unit(uint32_t format) {
  return pte_format_bits(format) == 8 ? 4 : pte_format_bits(format) == 6 ? 16 : 8;
}
static inline size_t pte_i8_scale_at(const pte_stored *w, size_t at) {
  return at >> w->block_exponent;
}

/* Scale `at` of all, as f32. */
static inline float pte_i8_scale(const pte_stored *w, size_t at) {
  uint16_t half;
  float scale;
  if (w->scale_bytes == 1) return pte_f32_from_e8m0(w->scales[at]);
  if (w->scale_bytes == 2) {
    memcpy(&half, w->scales + 2 * at, sizeof half);
    return pte_f32_from_f16(half);
  }
  memcpy(&scale, w->scales + 4 * at, sizeof scale);
  return scale;
}

/* A block to codes. One with an infinity or a NaN has step NaN and codes of zero. */
PTE_ALWAYS void pte_i8_quantize_block(const float *x, float factor, int32_t bias, int8_t *code,
                                      float *step, int32_t *start) {
  const float middle =
      12582912.0f;      /* 3 * 2^22: what is added to it becomes an integer, ties even */
  uint32_t largest = 0; /* magnitude, as bits: infinity and NaN are the largest */
  int32_t total = 0;
  for (size_t i = 0; i < PTE_I8_BLOCK; i++) {
    const uint32_t magnitude = pte_bits(x[i]) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  const float scale = pte_float(largest) / 127.0f;
  const bool finite = largest < 0x7f800000u;
  *step = !finite ? PTE_NAN : scale == 0.0f ? factor : scale * factor;
  *start = 0;
  if (!finite || scale == 0.0f) {
    memset(code, 0, PTE_I8_BLOCK);
    return;
  }
  for (size_t i = 0; i < PTE_I8_BLOCK; i++) { /* up to 190 where scale is subnormal */
    int32_t nearest = (int32_t)pte_bits(x[i] / scale + middle) - (int32_t)pte_bits(middle);
    nearest = nearest > 127 ? 127 : nearest < -127 ? -127 : nearest;
    code[i] = (int8_t)nearest;
    total += nearest;
  }
  *start = -bias * total;
}

/* A row of `depth` elements to codes, with zeros behind them in the last block; steps and starts of
 * its blocks. */
static inline void pte_i8_quantize(size_t depth, const float *x, float factor, int32_t bias,
                                   int8_t *code, float *step, int32_t *start) {
  float last[PTE_I8_BLOCK] = {0};
  for (size_t k = 0; k < depth; k += PTE_I8_BLOCK) {
    const float *from = x + k;
    if (depth - k < PTE_I8_BLOCK) from = memcpy(last, from, (depth - k) * sizeof *x);
    pte_i8_quantize_block(from, factor, bias, code + k, step++, start++);
  }
}

#endif
