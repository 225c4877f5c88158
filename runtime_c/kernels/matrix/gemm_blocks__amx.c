/* Integer products on AMX: tdpbssd multiplies a block of 32 of sixteen rows by that of a panel, the
 * sums are finished by AVX-512. Codes become bytes once for all rows of a call. Fewer than sixteen
 * rows are the work of the variant for AVX-512 with VNNI. */
#if PTE_HAVE_AMX
#include "kernels/matrix/gemm_blocks__avx512vnni.h"
#include "kernels/matrix/tiles__amx.h"

#define INLINE static inline __attribute__((always_inline))

enum {
  MOST = PTE_I8_TALL / EDGE * EDGE, /* rows together */
  BLOCK_BYTES = PTE_I8_BLOCK * PTE_PANEL,
  PART = 32,  /* blocks that are read at a time, */
  ABREAST = 4 /* and multiplied before they are finished */
};

typedef int32_t sums[EDGE][PTE_PANEL];

#define MULTIPLY(i, x_register, w_register)                                                        \
  _tile_zero(i);                                                                                   \
  _tile_loadd(x_register, codes + (i) * PTE_I8_BLOCK, row_bytes);                                  \
  _tile_loadd(w_register, w + (i) * BLOCK_BYTES, STEP);                                            \
  _tile_dpbssd(i, x_register, w_register)

/* Four blocks of sixteen rows. */
INLINE void four_multiply(const int8_t *codes, size_t row_bytes, const int8_t *w, sums *sum) {
  SEEN;
  MULTIPLY(0, 4, 6);
  MULTIPLY(1, 5, 7);
  MULTIPLY(2, 4, 6);
  MULTIPLY(3, 5, 7);
  _tile_stored(0, sum[0], STEP);
  _tile_stored(1, sum[1], STEP);
  _tile_stored(2, sum[2], STEP);
  _tile_stored(3, sum[3], STEP);
  SEEN;
}
INLINE void one_multiply(const int8_t *codes, size_t row_bytes, const int8_t *w, sums *sum) {
  SEEN;
  MULTIPLY(0, 4, 6);
  _tile_stored(0, sum[0], STEP);
  SEEN;
}

/* out[16][16] += `count` blocks of sixteen rows times those of a panel; from +0 where `begins`. */
static void strip_run(bool begins, const pte_rows_i8 *x, size_t count, const int8_t *w,
                      const float *scales, float *out, size_t out_stride) {
  const size_t row_bytes = x->blocks * PTE_I8_BLOCK;
  _Alignas(64) sums sum[ABREAST];
  __m512 acc[EDGE];
#pragma GCC unroll 16
  for (size_t r = 0; r < EDGE; r++)
    acc[r] = begins ? _mm512_setzero_ps() : _mm512_loadu_ps(out + r * out_stride);
  for (size_t b = 0, some; b < count; b += some) {
    const int8_t *codes = x->codes + b * PTE_I8_BLOCK;
    some = count - b < ABREAST ? 1 : ABREAST;
    if (some == ABREAST) four_multiply(codes, row_bytes, w + b * BLOCK_BYTES, sum);
    else one_multiply(codes, row_bytes, w + b * BLOCK_BYTES, sum);
    for (size_t i = 0; i < some; i++) {
      const __m512 scale = _mm512_loadu_ps(scales + (b + i) * PTE_PANEL);
      const float *step = x->steps + b + i;
#pragma GCC unroll 16
      for (size_t r = 0; r < EDGE; r++)
        acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sum[i][r])),
                                 _mm512_mul_ps(_mm512_set1_ps(step[r * x->blocks]), scale), acc[r]);
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < EDGE; r++) _mm512_storeu_ps(out + r * out_stride, acc[r]);
}

INLINE pte_rows_i8 rows_from(const pte_rows_i8 *x, size_t row, size_t block) {
  const size_t at = row * x->blocks + block;
  return (pte_rows_i8){x->blocks, x->codes + at * PTE_I8_BLOCK, x->steps + at, x->starts + at};
}

/* Whole strips of rows times one panel. */
static void panel_run(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                      float *out, size_t out_stride) {
  _Alignas(64) int8_t codes[PART * BLOCK_BYTES];
  float scales[PART * PTE_PANEL];
  for (size_t b = 0, count; b < x->blocks; b += count) {
    count = x->blocks - b < PART ? x->blocks - b : PART;
    pte_blocks_read__avx512vnni(w, panel, b, count, codes, scales);
    for (size_t row = 0; row < rows; row += EDGE) {
      const pte_rows_i8 some = rows_from(x, row, b);
      strip_run(b == 0, &some, count, codes, scales, out + row * out_stride, out_stride);
    }
  }
}

static void panels_amx(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                       size_t count, float *out, size_t out_stride) {
  const size_t strips = rows / EDGE * EDGE;
  if (strips > 0 && x->blocks > 0) {
    tiles_shape(EDGE, PTE_I8_BLOCK);
    for (size_t p = 0; p < count; p++)
      panel_run(w, x, strips, panel + p, out + p * PTE_PANEL, out_stride);
    _tile_release();
  }
  const pte_rows_i8 rest = rows_from(x, strips, 0);
  if (strips < rows)
    pte_gemm_blocks__avx512vnni.panels(w, &rest, rows - strips, panel, count,
                                       out + strips * out_stride, out_stride);
}

const pte_gemm_blocks pte_gemm_blocks__amx = {panels_amx, pte_i8_quantize__avx512vnni,
                                              pte_i8_bias__avx512vnni, MOST};
#endif
