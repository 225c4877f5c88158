/* The family of rows_f32: reductions, softmax and norms of rows. */
#ifndef PTE_ROWS_F32_H
#define PTE_ROWS_F32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/variant.h"

struct pte_pace; /* core/watch.h */

enum { PTE_ROW_BLOCK = 64 }; /* columns that are reduced side by side */

/* Rows of `n` elements, dense: y = (x - mean) / sqrt(mean of its squares + epsilon) * gain + bias;
 * not `centred`: the mean is 0. gain, bias, y, and mean and scale, of a row each, may be NULL. */
typedef struct pte_norm {
  int64_t rows, n;
  const float *x, *gain, *bias;
  float epsilon, *y, *mean, *scale; /* scale: 1 / sqrt(variance + epsilon) */
  bool centred;
} pte_norm;

/* Sums in 16 lanes: element i belongs to lane i mod 16. `kind`: PTE_REDUCE_KIND_... (mean sums). */
typedef struct pte_rows_f32 {
  /* These three look at the run's watch; false: the run is to end. y[n] dense; x may be y where
   * step is 1 */
  bool (*softmax)(struct pte_pace *pace, int64_t n, const float *x, int64_t step, float *y,
                  bool log);
  bool (*layer_norm)(struct pte_pace *pace, const pte_norm *norm);
  bool (*rms_norm)(struct pte_pace *pace, const pte_norm *norm);
  /* Joins x[n] into lanes[16], x[0] into lane `phase`; `tree` joins the lanes. */
  void (*fold)(uint32_t kind, int64_t n, const float *x, int64_t phase, float *lanes);
  float (*tree)(uint32_t kind, float *lanes);
  /* The same for up to PTE_ROW_BLOCK columns side by side, rows `step` apart:
   * lanes[16][PTE_ROW_BLOCK]. */
  void (*fold_columns)(uint32_t kind, int64_t n, const float *x, int64_t step, int64_t columns,
                       int64_t phase, float *lanes);
  void (*tree_columns)(uint32_t kind, float *lanes); /* all PTE_ROW_BLOCK of them */
} pte_rows_f32;

PTE_FAMILY(rows_f32)

#endif
