/* Resize along one axis: which elements of x an element of y reads, and with which weights. */
#ifndef PTE_RESIZE_AXIS_H
#define PTE_RESIZE_AXIS_H

#include "gen/ops.h"

typedef struct pte_resize_axis {
  int64_t in, out;
  double scale;
  double region_begin, region_end; /* tf_crop_and_resize */
  bool identity;
} pte_resize_axis;

/* [out][taps] elements of x, clipped into it, and weights; [out] whether the coordinate lies
 * outside the region. */
typedef struct pte_resize_taps {
  int64_t *index;
  float *weight;
  uint8_t *outside;
} pte_resize_taps;

/* Taps of one element of y: 1 for nearest, else even. */
int64_t pte_resize_tap_count(const pte_resize_attrs *attrs, const pte_resize_axis *axis);

/* Fills the tables. `line` has room for one line of taps in f64. false: the run is to end. */
bool pte_resize_find_taps(pte_pace *pace, const pte_resize_attrs *attrs,
                          const pte_resize_axis *axis, double *line, pte_resize_taps taps);

#endif
