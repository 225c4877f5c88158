/* What matmul_turned adds to the products of gemm_static: rows of x as codes of 8 bits, and sums as
 * f32. One body, compiled once a variant.
 *
 * 64 elements along K are a matrix X of 8 x 8, which becomes (H X H)^T with H the Hadamard matrix
 * of 8: additions only, in steps of distance 1, 2, 4 between rows, transposed, the same again. That
 * spreads a large element over 64, so that one scale does for a row. */
#ifndef PTE_ROTATE_ROWS_H
#define PTE_ROTATE_ROWS_H

#include "core/lanes.h"
#include "kernels/rotate/rotate_i8.h"

enum { PTE_TURN = 64, PTE_TURN_EDGE = 8 };

typedef float pte_sixteen __attribute__((vector_size(64)));
typedef int32_t pte_sixteen_ints __attribute__((vector_size(64)));

/* Of one X or, where vectors have sixteen floats, of two side by side. */
#if defined(__AVX512F__)
enum { PTE_TURN_BESIDE = 2 };
typedef pte_sixteen pte_turn_row;
typedef pte_sixteen_ints pte_turn_bits;
#else
enum { PTE_TURN_BESIDE = 1 };
typedef float pte_turn_row __attribute__((vector_size(32)));
typedef int32_t pte_turn_bits __attribute__((vector_size(32)));
#endif

/* Rows lie in registers where vectors are of eight floats or can be; elsewhere loops are smaller.
 */
#if defined(__AVX2__) || defined(__aarch64__)
#define PTE_TURN_EACH _Pragma("GCC unroll 8")
#define PTE_TURN_PART PTE_ALWAYS
#else
#define PTE_TURN_EACH _Pragma("GCC unroll 1")
#define PTE_TURN_PART static inline
#endif

/* a + b; on processors that have units for additions and others for products, by the latter: half
 * of the additions. a times 1 is exact, so the bits are the same. */
#if defined(__AVX512F__)
#define PTE_TURN_SUM(a, b)                                                                         \
  (pte_turn_row) _mm512_fmadd_ps((__m512)(a), _mm512_set1_ps(1), (__m512)(b))
#elif defined(__AVX2__) && defined(__FMA__)
#define PTE_TURN_SUM(a, b)                                                                         \
  (pte_turn_row) _mm256_fmadd_ps((__m256)(a), _mm256_set1_ps(1), (__m256)(b))
#else
#define PTE_TURN_SUM(a, b) ((a) + (b))
#endif

/* Rows 0 .. 7 become those of H times them. */
PTE_ALWAYS void pte_turn_rows(pte_turn_row *row) {
  PTE_TURN_EACH
  for (unsigned d = 1; d < PTE_TURN_EDGE; d *= 2) {
    PTE_TURN_EACH
    for (unsigned i = 0; i < PTE_TURN_EDGE; i++)
      if ((i & d) == 0) {
        const pte_turn_row a = row[i], b = row[i + d];
        row[i] = PTE_TURN_SUM(a, b), row[i + d] = a - b;
      }
  }
}

#if defined(__AVX512F__)
#define PTE_TURN_LOW(a, b)      (pte_turn_row) _mm512_unpacklo_ps((__m512)(a), (__m512)(b))
#define PTE_TURN_HIGH(a, b)     (pte_turn_row) _mm512_unpackhi_ps((__m512)(a), (__m512)(b))
#define PTE_TURN_PAIRS(a, b, i) (pte_turn_row) _mm512_shuffle_ps((__m512)(a), (__m512)(b), i)
/* Lanes of 128 bits: each X's first of both, and its second. */
#define PTE_TURN_FIRSTS(a, b)                                                                      \
  (pte_turn_row) _mm512_permutex2var_pd((__m512d)(a), _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), \
                                        (__m512d)(b))
#define PTE_TURN_SECONDS(a, b)                                                                     \
  (pte_turn_row) _mm512_permutex2var_pd(                                                           \
      (__m512d)(a), _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), (__m512d)(b))
#elif defined(__AVX2__)
#define PTE_TURN_LOW(a, b)      (pte_turn_row) _mm256_unpacklo_ps((__m256)(a), (__m256)(b))
#define PTE_TURN_HIGH(a, b)     (pte_turn_row) _mm256_unpackhi_ps((__m256)(a), (__m256)(b))
#define PTE_TURN_PAIRS(a, b, i) (pte_turn_row) _mm256_shuffle_ps((__m256)(a), (__m256)(b), i)
#define PTE_TURN_FIRSTS(a, b)  (pte_turn_row) _mm256_permute2f128_ps((__m256)(a), (__m256)(b), 0x20)
#define PTE_TURN_SECONDS(a, b) (pte_turn_row) _mm256_permute2f128_ps((__m256)(a), (__m256)(b), 0x31)
#endif

PTE_ALWAYS void pte_turn_transpose(pte_turn_row *row) {
#if defined(__AVX2__)
  pte_turn_row a[PTE_TURN_EDGE], b[PTE_TURN_EDGE];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 2) {
    a[i] = PTE_TURN_LOW(row[i], row[i + 1]);
    a[i + 1] = PTE_TURN_HIGH(row[i], row[i + 1]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i += 4) {
    b[i] = PTE_TURN_PAIRS(a[i], a[i + 2], 0x44);
    b[i + 1] = PTE_TURN_PAIRS(a[i], a[i + 2], 0xee);
    b[i + 2] = PTE_TURN_PAIRS(a[i + 1], a[i + 3], 0x44);
    b[i + 3] = PTE_TURN_PAIRS(a[i + 1], a[i + 3], 0xee);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 4; i++) {
    row[i] = PTE_TURN_FIRSTS(b[i], b[i + 4]);
    row[i + 4] = PTE_TURN_SECONDS(b[i], b[i + 4]);
  }
#else
  float from[PTE_TURN], to[PTE_TURN];
  memcpy(from, row, sizeof from);
  pte_lanes_transpose(from, PTE_TURN_EDGE, to, PTE_TURN_EDGE);
  memcpy(row, to, sizeof to);
#endif
}

PTE_ALWAYS void pte_turn_load(const float *x, size_t apart, pte_turn_row *row) {
#if defined(__AVX512F__)
  *row = (pte_turn_row)_mm512_insertf32x8(_mm512_castps256_ps512(_mm256_loadu_ps(x)),
                                          _mm256_loadu_ps(x + apart), 1);
#else
  (void)apart;
  memcpy(row, x, sizeof *row);
#endif
}

PTE_ALWAYS void pte_turn_store(const pte_turn_row *row, size_t apart, float *to) {
#if defined(__AVX512F__)
  _mm256_storeu_ps(to, _mm512_castps512_ps256((__m512)*row));
  _mm512_mask_storeu_ps(to + apart - PTE_TURN_EDGE, 0xff00, (__m512)*row); /* not moved before */
#else
  (void)apart;
  memcpy(to, row, sizeof *row);
#endif
}

/* The larger of each. A comparison and a choice instead would take as long as all of the rest: each
 * waits for the one before. */
#if defined(__AVX512F__)
#define PTE_TURN_LARGER(a, b) (pte_turn_bits) _mm512_max_epi32((__m512i)(a), (__m512i)(b))
#elif defined(__AVX2__)
#define PTE_TURN_LARGER(a, b) (pte_turn_bits) _mm256_max_epi32((__m256i)(a), (__m256i)(b))
#else
#define PTE_TURN_LARGER(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))
#endif

/* Of each X from `x` on, `apart` floats apart, in place or not; magnitudes join `largest`, as bits:
 * infinity and NaN are the largest. */
PTE_TURN_PART void pte_turn_blocks(const float *x, float *to, size_t apart,
                                   pte_turn_bits *largest) {
  pte_turn_row row[PTE_TURN_EDGE];
  PTE_TURN_EACH
  for (unsigned i = 0; i < PTE_TURN_EDGE; i++) pte_turn_load(x + PTE_TURN_EDGE * i, apart, &row[i]);
  pte_turn_rows(row);
  pte_turn_transpose(row);
  pte_turn_rows(row);
  PTE_TURN_EACH
  for (unsigned i = 0; i < PTE_TURN_EDGE; i++) {
    const pte_turn_bits bits = (pte_turn_bits)row[i] & 0x7fffffff;
    *largest = PTE_TURN_LARGER(bits, *largest);
    pte_turn_store(&row[i], apart, to + PTE_TURN_EDGE * i);
  }
}

PTE_ALWAYS void pte_turn_64(const float *x, float *to) {
  pte_turn_bits largest = {0};
  pte_turn_blocks(x, to, 0, &largest);
}

/* A row of `count` elements whose largest magnitude is `largest`, as bits, to codes and a scale,
 * largest / 127. One with an infinity or a NaN has scale NaN and codes of zero; one below 2^-120,
 * scale 1. */
PTE_ALWAYS void pte_row_codes(size_t count, const float *x, uint32_t largest, int8_t *code,
                              float *scale) {
  const float middle = 12582912.0f; /* 3 * 2^22: a sum with it ends in an integer, ties even */
  const float top = pte_float(largest);
  const bool finite = largest < 0x7f800000u, tiny = top < 0x1p-120f;
  *scale = !finite ? PTE_NAN : tiny ? 1.0f : top / 127.0f;
  if (!finite || tiny) {
    memset(code, 0, count);
    return;
  }
  const float by = 127.0f / top;
  for (size_t i = 0; i < count; i++)
    code[i] = (int8_t)(int32_t)(pte_bits(x[i] * by + middle) - pte_bits(middle));
}

/* A row of `depth` elements, zeros behind them up to a multiple of 64, turned; returns the largest
 * magnitude, as bits. Where two blocks are turned side by side, there is room for 64 more. */
PTE_ALWAYS uint32_t pte_turned_row(size_t depth, const float *x, float *to) {
  enum { WIDE = PTE_TURN * PTE_TURN_BESIDE };
  float last[WIDE];
  pte_turn_bits bits = {0};
  int32_t largest = 0;
  for (size_t k = 0; k < depth; k += WIDE) {
    const float *from = x + k;
    if (depth - k < WIDE) {
      memset(last, 0, sizeof last);
      from = memcpy(last, from, (depth - k) * sizeof *x);
    }
    pte_turn_blocks(from, to + k, PTE_TURN, &bits);
  }
  for (unsigned i = 0; i < PTE_TURN_EDGE * PTE_TURN_BESIDE; i++)
    largest = bits[i] > largest ? bits[i] : largest;
  return (uint32_t)largest;
}

/* v = limit where `take` is set. */
#define PTE_LIMITED(v, take, limit)                                                                \
  (pte_sixteen)(((take) & (pte_sixteen_ints)((limit) - (pte_sixteen){0})) |                        \
                (~(take) & (pte_sixteen_ints)(v)))

/* The first `lanes` of sixteen floats; without masks there are all of them. */
#if defined(__AVX512F__)
#define PTE_TURN_MASK(lanes) (__mmask16)((1u << (lanes)) - 1)
#define PTE_TURN_READ(v, from, lanes)                                                              \
  (v) = (pte_sixteen)_mm512_maskz_loadu_ps(PTE_TURN_MASK(lanes), from)
#define PTE_TURN_WRITE(to, v, lanes) _mm512_mask_storeu_ps(to, PTE_TURN_MASK(lanes), (__m512)(v))
#else
#define PTE_TURN_READ(v, from, lanes) memcpy(&(v), from, sizeof(v))
#define PTE_TURN_WRITE(to, v, lanes)  memcpy(to, &(v), sizeof(v))
#endif

/* Panel `p` of a tile: `lanes` columns. */
PTE_ALWAYS void pte_scaled_panel(const pte_scaled_i8 *s, size_t rows, size_t panels, size_t p,
                                 size_t lanes) {
  const pte_finish_f32 f = *s->finish;
  const size_t at = p * PTE_PANEL, step[] = {f.add_stride[0], f.add_stride[1]};
  const float *first = f.add[0] == NULL ? NULL : f.add[0] + at, *x_scale = s->x_scale;
  const float *second = f.add[1] == NULL ? NULL : f.add[1] + at;
  const int32_t (*sum)[PTE_PANEL] = s->sum + p;
  float *y = s->y + at;
  pte_sixteen w_scale, more;
  (void)lanes;
  PTE_TURN_READ(w_scale, s->w_scale + at, lanes);
  for (size_t m = 0; m < rows; m++, sum += panels, y += s->y_stride) {
    pte_sixteen_ints codes;
    memcpy(&codes, *sum, sizeof codes);
    pte_sixteen v = __builtin_convertvector(codes, pte_sixteen) * (x_scale[m] * w_scale);
    if (first != NULL) {
      PTE_TURN_READ(more, first, lanes);
      v += more, first += step[0];
    }
    if (second != NULL) {
      PTE_TURN_READ(more, second, lanes);
      v += more, second += step[1];
    }
    if (f.at_least) v = PTE_LIMITED(v, v <= f.low, f.low);
    if (f.at_most) v = PTE_LIMITED(v, v >= f.high, f.high);
    PTE_TURN_WRITE(y, v, lanes);
  }
}

#if !defined(__AVX512F__)
/* The last panel's `lanes` columns, one by one. */
PTE_ALWAYS void pte_scaled_rest(const pte_scaled_i8 *s, size_t rows, size_t panels) {
  const pte_finish_f32 *f = s->finish;
  const size_t at = (panels - 1) * PTE_PANEL;
  for (size_t m = 0; m < rows; m++)
    for (size_t n = 0; n < s->lanes; n++) {
      const int32_t sum = s->sum[m * panels + panels - 1][n];
      float v = (float)sum * (s->x_scale[m] * s->w_scale[at + n]);
      for (unsigned i = 0; i < PTE_ADDENDS; i++)
        if (f->add[i] != NULL) v += f->add[i][m * f->add_stride[i] + at + n];
      if (f->at_least && v <= f->low) v = f->low;
      if (f->at_most && v >= f->high) v = f->high;
      s->y[m * s->y_stride + at + n] = v;
    }
}
#endif

PTE_ALWAYS void pte_scaled_tile(const pte_scaled_i8 *s, size_t rows, size_t panels) {
#if defined(__AVX512F__)
  for (size_t p = 0; p < panels; p++)
    pte_scaled_panel(s, rows, panels, p, p + 1 < panels ? PTE_PANEL : s->lanes);
#else
  const bool ragged = s->lanes < PTE_PANEL;
  for (size_t p = 0; p < panels - ragged; p++) pte_scaled_panel(s, rows, panels, p, PTE_PANEL);
  if (ragged) pte_scaled_rest(s, rows, panels);
#endif
}

/* The table of a variant. */
#define PTE_ROTATE_I8(name)                                                                        \
  static uint32_t turn(size_t depth, const float *x, float *to) {                                  \
    return pte_turned_row(depth, x, to);                                                           \
  }                                                                                                \
  static void codes(size_t count, const float *x, uint32_t largest, int8_t *code, float *scale) {  \
    pte_row_codes(count, x, largest, code, scale);                                                 \
  }                                                                                                \
  static void scaled(const pte_scaled_i8 *s, size_t rows, size_t panels) {                         \
    pte_scaled_tile(s, rows, panels);                                                              \
  }                                                                                                \
  const pte_rotate_i8 name = {.turn = turn, .codes = codes, .scaled = scaled};

#endif
