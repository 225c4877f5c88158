/* The pointwise engine for AVX2 with FMA and F16C: the same source, vectorised by the compiler, the
 * same bits. */
#define VARIANT pte_pointwise__avx2
#include "kernels/pointwise/pointwise_steps.inc"

int64_t pte_pointwise_rare__avx2(const pte_step *s, const void *a, const void *b, void *y,
                                 size_t n) {
  return run_rare(s, a, b, y, n);
}

void pte_pointwise_turn__avx2(bool words, size_t rows, size_t columns, const void *x, size_t x_row,
                              void *y, size_t y_row) {
  turn(words, rows, columns, x, x_row, y, y_row);
}

void pte_pointwise_product__avx2(const pte_form *f, const pte_engine *e, const pte_walk *w,
                                 int64_t flat, size_t n) {
  product_tile(f, e, w, flat, n);
}
