#include "kernels/gemm/panel_pack.h"

#include <string.h>

#include "kernels/panels.h"

static void part_pack(size_t rows, size_t k, const float *w, int64_t row_step, int64_t step,
                      float *panel) {
  for (size_t j = 0; j < k; j++, w += step, panel += PTE_PANEL) {
    if (rows == PTE_PANEL && row_step == 1) memcpy(panel, w, PTE_PANEL * sizeof *panel);
    else
      for (size_t i = 0; i < PTE_PANEL; i++) panel[i] = i < rows ? w[(int64_t)i * row_step] : 0.0f;
  }
}

bool pte_panel_pack(pte_pace *pace, size_t rows, size_t k, const float *w, int64_t row_step,
                    int64_t step, float *panel) {
  for (size_t at = 0, count; at < k; at += count) {
    count = (size_t)pte_pace_take(pace, (int64_t)(k - at), PTE_PANEL, 1);
    if (count == 0) return false;
    part_pack(rows, count, w + (int64_t)at * step, row_step, step, panel + at * PTE_PANEL);
  }
  return true;
}
