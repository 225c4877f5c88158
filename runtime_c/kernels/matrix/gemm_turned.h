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

/* `lanes` elements at `from` and zeros; nothing that is read for all sixteen goes through memory.
 */
PTE_ALWAYS void pte_sixteen_load(const float *from, size_t lanes, pte_sixteen *out) {
  float some[PTE_PANEL] = {0};
  if (lanes == PTE_PANEL) {
    memcpy(out, from, sizeof *out);
    return;
  }
  memcpy(some, from, lanes * sizeof *some);
  memcpy(out, some, sizeof some);
}

/* v = limit where `take` is set. */
#define PTE_LIMITED(v, take, limit)                                                                \
  (pte_sixteen)(((take) & (pte_sixteen_ints)((limit) - (pte_sixteen){0})) |                        \
                (~(take) & (pte_sixteen_ints)(v)))

/* Sixteen sums as f32, finished; addends (NULL: none) have `lanes` elements, y gets as many. */
PTE_ALWAYS void pte_scaled_sixteen(const pte_scaled_i8 *s, const int32_t *sum, float x_scale,
                                   const float *w_scale, const float *first, const float *second,
                                   size_t lanes, float *y) {
  const pte_finish_f32 *f = s->finish;
  pte_sixteen_ints codes;
  pte_sixteen v, more;
  memcpy(&codes, sum, sizeof codes), memcpy(&v, w_scale, sizeof v);
  v = __builtin_convertvector(codes, pte_sixteen) * (x_scale * v);
  if (first != NULL) pte_sixteen_load(first, lanes, &more), v += more;
  if (second != NULL) pte_sixteen_load(second, lanes, &more), v += more;
  if (f->at_least) v = PTE_LIMITED(v, v <= f->low, f->low);
  if (f->at_most) v = PTE_LIMITED(v, v >= f->high, f->high);
  if (lanes == PTE_PANEL) {
    memcpy(y, &v, sizeof v);
    return;
  }
  const pte_sixteen last = v; /* so that v itself has no address */
  memcpy(y, &last, lanes * sizeof *y);
}

PTE_ALWAYS void pte_scaled_tile(const pte_scaled_i8 *s, size_t rows, size_t panels) {
  for (size_t p = 0; p < panels; p++) {
    const float *first = s->finish->add[0], *second = s->finish->add[1];
    const size_t lanes = p + 1 < panels ? PTE_PANEL : s->lanes, at = p * PTE_PANEL;
    for (size_t m = 0; m < rows; m++) {
      pte_scaled_sixteen(s, s->sum[m * panels + p], s->x_scale[m], s->w_scale + at,
                         first == NULL ? NULL : first + at, second == NULL ? NULL : second + at,
                         lanes, s->y + m * s->y_stride + at);
      if (first != NULL) first += s->finish->add_stride[0];
      if (second != NULL) second += s->finish->add_stride[1];
    }
  }
}

/* The two functions above as those of a variant, and their members of its table. Only matmul_turned
 * calls them: without it nothing of them stays. */
#ifdef PTE_WITHOUT_MATMUL_TURNED
#define PTE_TURNED_I8
#define PTE_TURNED_MEMBERS .turn = NULL, .scaled = NULL
#else
#define PTE_TURNED_MEMBERS .turn = turn, .scaled = scaled
#define PTE_TURNED_I8                                                                              \
  static void turn(size_t depth, const float *x, float *room, int8_t *code, float *scale) {        \
    pte_turned_row(depth, x, room, code, scale);                                                   \
  }                                                                                                \
  static void scaled(const pte_scaled_i8 *s, size_t rows, size_t panels) {                         \
    pte_scaled_tile(s, rows, panels);                                                              \
  }

#endif

#endif
