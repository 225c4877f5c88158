/* What matmul_turned adds to the products of gemm_static: rows of x as codes of 8 bits, and sums as
 * f32. One body, compiled once a variant.
 *
 * 64 elements along K are a matrix X of 8 x 8, which becomes (H X H)^T with H the Hadamard matrix
 * of 8: additions only, in steps of distance 1, 2, 4 between rows, transposed, the same again. That
 * spreads a large element over 64, so that one scale does for a row. */
#ifndef PTE_GEMM_TURNED_H
#define PTE_GEMM_TURNED_H

#include "core/lanes.h"
#include "kernels/variants.h"

enum { PTE_TURN = 64, PTE_TURN_EDGE = 8 };

typedef float pte_eight __attribute__((vector_size(32)));
typedef float pte_sixteen __attribute__((vector_size(64)));
typedef int32_t pte_sixteen_ints __attribute__((vector_size(64)));

/* Rows 0 .. 7 become those of H times them. */
PTE_ALWAYS void pte_turn_rows(pte_eight *row) {
#pragma GCC unroll 3
  for (unsigned d = 1; d < PTE_TURN_EDGE; d *= 2)
#pragma GCC unroll 8
    for (unsigned i = 0; i < PTE_TURN_EDGE; i++)
      if ((i & d) == 0) {
        const pte_eight a = row[i], b = row[i + d];
        row[i] = a + b, row[i + d] = a - b;
      }
}

PTE_ALWAYS void pte_turn_transpose(pte_eight *row) {
#if defined(__AVX2__)
  __m256 a[PTE_TURN_EDGE], b[PTE_TURN_EDGE];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm256_unpacklo_ps((__m256)row[i], (__m256)row[i + 1]);
    a[i + 1] = _mm256_unpackhi_ps((__m256)row[i], (__m256)row[i + 1]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 4) {
    b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
    b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
    b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
    b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 4; i++) {
    row[i] = (pte_eight)_mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    row[i + 4] = (pte_eight)_mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
#else
  float from[PTE_TURN], to[PTE_TURN];
  memcpy(from, row, sizeof from);
  pte_lanes_transpose(from, PTE_TURN_EDGE, to, PTE_TURN_EDGE);
  memcpy(row, to, sizeof to);
#endif
}

PTE_ALWAYS void pte_turn_64(const float *x, float *to) {
  pte_eight row[PTE_TURN_EDGE];
#pragma GCC unroll 8
  for (unsigned i = 0; i < PTE_TURN_EDGE; i++)
    memcpy(&row[i], x + PTE_TURN_EDGE * i, sizeof row[i]);
  pte_turn_rows(row);
  pte_turn_transpose(row);
  pte_turn_rows(row);
#pragma GCC unroll 8
  for (unsigned i = 0; i < PTE_TURN_EDGE; i++)
    memcpy(to + PTE_TURN_EDGE * i, &row[i], sizeof row[i]);
}

/* A row of `depth` elements, zeros behind them up to a multiple of 64, to as many codes; `room` has
 * space for them as f32. One with an infinity or a NaN has scale NaN and codes of zero; one below
 * 2^-120, scale 1. */
PTE_ALWAYS void pte_turned_row(size_t depth, const float *x, float *room, int8_t *code,
                               float *scale) {
  const float middle = 12582912.0f; /* 3 * 2^22: a sum with it ends in an integer, ties even */
  const size_t wide = (depth + PTE_TURN - 1) / PTE_TURN * PTE_TURN;
  uint32_t largest = 0; /* magnitude, as bits: infinity and NaN are the largest */
  for (size_t k = 0; k < wide; k += PTE_TURN) {
    float last[PTE_TURN] = {0};
    const float *from = x + k;
    if (depth - k < PTE_TURN) {
      memcpy(last, x + k, (depth - k) * sizeof *x);
      from = last;
    }
    pte_turn_64(from, room + k);
  }
  for (size_t k = 0; k < wide; k += PTE_TURN) /* when stores of other widths are through */
    for (size_t i = k; i < k + PTE_TURN; i++) {
      const uint32_t magnitude = pte_bits(room[i]) & 0x7fffffffu;
      largest = magnitude > largest ? magnitude : largest;
    }
  const float top = pte_float(largest);
  const bool finite = largest < 0x7f800000u, tiny = top < 0x1p-120f;
  *scale = !finite ? PTE_NAN : tiny ? 1.0f : top / 127.0f;
  if (!finite || tiny) {
    memset(code, 0, wide);
    return;
  }
  const float by = 127.0f / top;
  for (size_t k = 0; k < wide; k += PTE_TURN)
    for (size_t i = k; i < k + PTE_TURN; i++)
      code[i] = (int8_t)(int32_t)(pte_bits(room[i] * by + middle) - pte_bits(middle));
}

/* y = x where `take` is set. */
PTE_ALWAYS void pte_limit_sixteen(const pte_sixteen_ints *take, float x, pte_sixteen *y) {
  const pte_sixteen all = x - (pte_sixteen){0};
  *y = (pte_sixteen)((*take & (pte_sixteen_ints)all) | (~*take & (pte_sixteen_ints)*y));
}

/* Sixteen sums as f32, finished; `add` reads `lanes` elements, `y` gets as many. */
PTE_ALWAYS void pte_scaled_sixteen(const pte_scaled_i8 *s, const int32_t *sum, float x_scale,
                                   const float *w_scale, const float *const *add, size_t lanes,
                                   float *y) {
  pte_sixteen_ints codes;
  pte_sixteen v, more;
  memcpy(&codes, sum, sizeof codes), memcpy(&v, w_scale, sizeof v);
  v = __builtin_convertvector(codes, pte_sixteen) * (x_scale * v);
#pragma GCC unroll 2
  for (unsigned i = 0; i < PTE_ADDENDS; i++) {
    if (add[i] == NULL) continue;
    float some[PTE_PANEL] = {0};
    if (lanes < PTE_PANEL) memcpy(some, add[i], lanes * sizeof *some);
    memcpy(&more, lanes < PTE_PANEL ? some : add[i], sizeof more);
    v += more;
  }
  if (s->finish->at_least) {
    codes = v <= s->finish->low;
    pte_limit_sixteen(&codes, s->finish->low, &v);
  }
  if (s->finish->at_most) {
    codes = v >= s->finish->high;
    pte_limit_sixteen(&codes, s->finish->high, &v);
  }
  if (lanes == PTE_PANEL) memcpy(y, &v, sizeof v);
  else memcpy(y, &v, lanes * sizeof *y);
}

PTE_ALWAYS void pte_scaled_tile(const pte_scaled_i8 *s, size_t rows, size_t panels) {
  for (size_t m = 0; m < rows; m++)
    for (size_t p = 0; p < panels; p++) {
      const float *add[PTE_ADDENDS];
      for (unsigned i = 0; i < PTE_ADDENDS; i++) {
        add[i] = s->finish->add[i];
        if (add[i] != NULL) add[i] += m * s->finish->add_stride[i] + p * PTE_PANEL;
      }
      pte_scaled_sixteen(s, s->sum[m * panels + p], s->x_scale[m], s->w_scale + p * PTE_PANEL, add,
                         p + 1 < panels ? PTE_PANEL : s->lanes,
                         s->y + m * s->y_stride + p * PTE_PANEL);
    }
}

/* The two functions above as those of a variant. */
#define PTE_TURNED_I8                                                                              \
  static void turn(size_t depth, const float *x, float *room, int8_t *code, float *scale) {        \
    pte_turned_row(depth, x, room, code, scale);                                                   \
  }                                                                                                \
  static void scaled(const pte_scaled_i8 *s, size_t rows, size_t panels) {                         \
    pte_scaled_tile(s, rows, panels);                                                              \
  }

#endif
