/* The family of blend_f32: weighted sums of pixels, of resize and grid_sample. */
#ifndef PTE_BLEND_F32_H
#define PTE_BLEND_F32_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/variant.h"

struct pte_pace; /* core/watch.h */

typedef struct pte_blend_f32 {
  /* y[j][c] = sum over t of weight[j][t] * x[offset[j][t] + c], sequential and fused from +0;
   * j < pixels, t < taps, c < count; nothing aliases y. Looks at the run's watch between taps;
   * false: the run is to end */
  bool (*line)(struct pte_pace *pace, int64_t pixels, int64_t taps, const int64_t *offset,
               const float *weight, int64_t count, const float *x, float *y);
} pte_blend_f32;

PTE_FAMILY(blend_f32)

#endif
