/* Weights in panels of 16 rows (DESIGN section 5): their size, their check, and packing. */
#ifndef PTE_PANELS_H
#define PTE_PANELS_H

#include <string.h>

#include "core/kernel.h"
#include "kernels/variants.h"

static inline size_t pte_panel_count(size_t columns) {
  return columns / PTE_PANEL + (columns % PTE_PANEL != 0);
}

/* Rows are spread evenly over strips: a strip of one to three rows would wait for the latency of
 * the FMA. */
static inline size_t pte_strips(size_t rows) { return (rows + PTE_STRIP - 1) / PTE_STRIP; }
static inline size_t pte_strip_begin(size_t rows, size_t strip) {
  return rows * strip / pte_strips(rows);
}

/* For `check`: in[port] is a weight of `dtype` in panels of `groups` groups, in any storage format.
 * PTE_UNSUPPORTED: another element type. PTE_BAD_PROGRAM: other groups. */
static inline pte_status pte_panels_check(const pte_call *call, unsigned port, uint8_t dtype,
                                          int64_t groups) {
  const pte_tensor *w = call->in[port];
  if (w->layout != PTE_PANELS || w->dtype != dtype)
    return pte_kernel_fail(call, PTE_UNSUPPORTED, "element type of the weight", port, -1, w->dtype,
                           dtype);
  int64_t packed = w->groups == 0 ? 1 : w->groups;
  if (groups < 1 || packed != groups || w->shape[0] % groups != 0)
    return pte_kernel_fail(call, PTE_BAD_PROGRAM, "groups of the weight", port, -1, packed, groups);
  return PTE_OK;
}
static inline pte_status pte_weight_check(const pte_call *call, unsigned port, int64_t groups) {
  return pte_panels_check(call, port, PTE_F32, groups);
}

/* Writes panel[k][16] from `rows` <= 16 rows of w, whose element [i][j] lies at w + i * row_step +
 * j * step; zeros in the columns of rows that do not exist. */
static inline void pte_panel_pack(size_t rows, size_t k, const float *w, int64_t row_step,
                                  int64_t step, float *panel) {
  for (size_t j = 0; j < k; j++, w += step, panel += PTE_PANEL) {
    if (rows == PTE_PANEL && row_step == 1) memcpy(panel, w, PTE_PANEL * sizeof *panel);
    else
      for (size_t i = 0; i < PTE_PANEL; i++) panel[i] = i < rows ? w[(int64_t)i * row_step] : 0.0f;
  }
}

#endif
