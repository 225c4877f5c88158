/* Integer products in plain C: this file defines the bits. */
#include "kernels/gemm_int8/gemm_blocks.h"

/* The code of element k of row n of a panel, as an integer. */
static int32_t integer_at(const pte_stored *w, size_t panel, size_t k, size_t n) {
  const size_t step = pte_format_bits(w->format) == 8 ? 4 : 8;
  size_t place = panel * w->steps + k / step;
  uint32_t byte = w->codes[place * 64 + n * 4 + k % 4];
  if (step == 4) return pte_i8_integer(w->format, byte);
  uint32_t code = k % 8 < 4 ? byte & 15 : byte >> 4;
  if (pte_format_bits(w->format) == 4) return pte_i8_integer(w->format, code);
  size_t high = (panel * w->steps / 2 + k / 16) * 64 + n * 4 + k % 4;
  code |= (uint32_t)(w->high[high] >> (k % 16 / 4 * 2) & 3) << 4;
  return pte_i8_integer(w->format, code);
}

static void block_add(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                      size_t b, size_t count, float (*acc)[PTE_PANEL]) {
  const size_t scales = (panel * w->blocks + pte_i8_scale_at(w, b)) * PTE_PANEL;
  for (size_t n = 0; n < PTE_PANEL; n++) {
    int32_t t[PTE_I8_BLOCK];
    const float scale = pte_i8_scale(w, scales + n);
    for (size_t i = 0; i < count; i++) t[i] = integer_at(w, panel, b * PTE_I8_BLOCK + i, n);
    for (size_t r = 0; r < rows; r++) {
      const int8_t *code = x->codes + (r * x->blocks + b) * PTE_I8_BLOCK;
      int32_t sum = 0;
      for (size_t i = 0; i < count; i++) sum += code[i] * t[i];
      acc[r][n] = pte_fma((float)sum, x->steps[r * x->blocks + b] * scale, acc[r][n]);
    }
  }
}

static void panels_portable(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                            size_t count, float *out, size_t out_stride) {
  for (size_t p = 0; p < count; p++) {
    float acc[PTE_I8_ROWS][PTE_PANEL] = {{0}};
    for (size_t b = 0; b < x->blocks; b++) {
      size_t left = w->depth - b * PTE_I8_BLOCK;
      block_add(w, x, rows, panel + p, b, left < PTE_I8_BLOCK ? left : PTE_I8_BLOCK, acc);
    }
    for (size_t r = 0; r < rows; r++)
      memcpy(out + r * out_stride + p * PTE_PANEL, acc[r], sizeof acc[r]);
  }
}

const pte_gemm_blocks pte_gemm_blocks__portable = {panels_portable, pte_i8_quantize, NULL,
                                                   PTE_I8_ROWS};
