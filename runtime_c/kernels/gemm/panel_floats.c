#include "kernels/gemm/panel_floats.h"

pte_floats pte_floats_of(const pte_stored *s) {
  if (pte_panel_codes(s->format) == PTE_FORMAT_E4M3)
    return (pte_floats){4, 0x87f00000u, 0x7f, s->many_misses, 0x1p120f};
  return (pte_floats){3, 0x8fe00000u, 0x7c, s->many_misses, 0x1p112f};
}

/* As many panels side by side as a tile has, each a run of its own; then those that are left. Rows
 * and panels that there are too few of are done again. */
bool pte_floats_few(const pte_floats_way *ways, const pte_stored *s, size_t panel, size_t count,
                    const pte_few_f32 *few) {
  const size_t scale_row = s->scale_bytes * PTE_PANEL;
  pte_floats_tile t = {.f = pte_floats_of(s),
                       .depth = s->depth,
                       .block = s->block < s->depth ? s->block : s->depth,
                       .scale_bytes = s->scale_bytes};
  for (size_t row = 0, rows; row < few->rows; row += rows) {
    const pte_floats_way *way = ways;
    while (way->rows < few->rows - row && way[1].rows != 0) way++;
    const size_t panels = way->panels;
    rows = way->rows;
    const size_t apart = count / panels;
    for (size_t m = 0; m < rows; m++)
      t.x[m] = few->x + (row + m < few->rows ? row + m : few->rows - 1) * few->row_stride;
    for (size_t i = 0; i < apart + (apart * panels < count); i++) {
      size_t place[PTE_FLOATS_SUMS];
      for (size_t p = 0; p < panels; p++) {
        place[p] = i < apart ? i + p * apart : apart * panels + p;
        if (place[p] >= count) place[p] = count - 1;
        t.codes[p] = s->codes + (panel + place[p]) * s->steps * 64;
        t.scales[p] = s->scales + (panel + place[p]) * s->blocks * scale_row;
      }
      if (!way->run(&t)) return false;
      for (size_t m = 0; m < rows && row + m < few->rows; m++)
        for (size_t p = 0; p < panels; p++)
          memcpy(few->out + (row + m) * few->out_stride + place[p] * PTE_PANEL,
                 t.sums[m * panels + p], sizeof *t.sums);
    }
  }
  return true;
}
