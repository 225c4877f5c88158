#include "kernels/gemm/gemm_plain.h"

#include "kernels/moving/place.h"

bool pte_matrix_fill(const void *source, const pte_gemm_rows *rows) {
  const pte_matrix *s = source;
  const float *a = s->a + rows->group * s->group_step + rows->first * s->stride;
  pte_gemm_walk walk = pte_gemm_walk_begin(rows);
  for (size_t r = 0; r < rows->count; r++) *pte_gemm_walk_next(&walk) = a + r * s->stride;
  return true;
}

static const float *matrix_piece(const void *source, pte_gemm_piece *piece) {
  const pte_matrix *s = source;
  return s->a + piece->group * s->group_step + piece->first * s->stride;
}

pte_gemm_lines pte_matrix_lines(size_t rows, size_t run, size_t stride) {
  return (pte_gemm_lines){
      .width = rows, .taps = 1, .run = run, .row_stride = stride, .piece = matrix_piece};
}

const float *pte_plain_panels_read(const void *self, size_t panel, size_t k, size_t count,
                                   float *block) {
  const pte_plain_panels *s = self;
  (void)count, (void)block;
  return s->data + (panel * s->depth + k) * PTE_PANEL;
}

void pte_gemm_put(pte_gemm *g, const pte_tensor *y) {
  bool even = pte_place_even(y, &g->out_stride);
  g->out = y->data;
  g->place = even ? NULL : y;
}
