#include "kernels/moving/place.h"

/* The longer way lies in the inner loop where it is the denser one of the target. */
static void put_grid(float *to, int64_t row_step, int64_t step, const float *from,
                     size_t from_stride, size_t rows, size_t columns) {
  if (step == 1 || row_step != 1) {
    for (size_t r = 0; r < rows; r++)
      pte_row_copy(to + (int64_t)r * row_step, step, from + r * from_stride, 1, (int64_t)columns,
                   sizeof *to);
  } else {
    for (size_t n = 0; n < columns; n++)
      pte_row_copy(to + (int64_t)n * step, 1, from + n, (int64_t)from_stride, (int64_t)rows,
                   sizeof *to);
  }
}

void pte_place_put(const pte_tensor *t, size_t row, size_t rows, size_t column, size_t columns,
                   const float *block, size_t block_stride) {
  unsigned last = t->rank - 1u;
  pte_rows lines = pte_rows_of(t, 0, last);
  float *to = (float *)t->data + (int64_t)column * t->stride[last];
  while (rows > 0) {
    size_t line = row / (size_t)lines.length, at = row % (size_t)lines.length;
    size_t count = (size_t)lines.length - at < rows ? (size_t)lines.length - at : rows;
    pte_coords coords = pte_coords_at((int64_t)line, lines.shape, lines.rank);
    int64_t offset =
        pte_coords_offset(&coords, lines.stride, lines.rank) + (int64_t)at * lines.step;
    put_grid(to + offset, lines.step, t->stride[last], block, block_stride, count, columns);
    row += count, rows -= count, block += count * block_stride;
  }
}
