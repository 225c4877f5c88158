/* Windows of a convolution over 1 to 3 spatial axes of a channels-last tensor, always as three
 * axes: missing ones come first, with extent 1. */
#ifndef PTE_CONV_WINDOW_H
#define PTE_CONV_WINDOW_H

#include "core/kernel.h"

enum { PTE_CONV_AXES = 3 };

typedef struct pte_conv_axis {
  int64_t in, out, kernel, stride, dilation, begin, spread;
} pte_conv_axis;

typedef struct pte_conv_window {
  pte_conv_axis axis[PTE_CONV_AXES];
  int64_t batch, channels;
} pte_conv_window;

/* The lists of a conv's attributes; spread with count 0 is all ones. */
typedef struct pte_conv_lists {
  pte_range kernel, stride, dilation, begin, spread;
} pte_conv_lists;

#define PTE_CONV_LISTS(a, spread)                                                                  \
  ((pte_conv_lists){(a)->kernel, (a)->stride, (a)->dilation, (a)->begin, spread})
#define PTE_NO_SPREAD ((pte_range){0, 0})

pte_conv_window pte_conv_window_of(const pte_call *call, const pte_conv_lists *lists);

/* Elements of an image. */
static inline int64_t pte_conv_image(const pte_conv_window *w) {
  return w->axis[0].in * w->axis[1].in * w->axis[2].in * w->channels;
}

/* Stride 1, no padding, one tap: rows of a matrix. */
bool pte_conv_is_matrix(const pte_conv_window *w);

/* Where tap `tap` of output `at` reads on this axis, or -1: a zero of the padding or between spread
 * elements. */
static inline int64_t pte_conv_place(const pte_conv_axis *axis, int64_t at, int64_t tap) {
  int64_t place = at * axis->stride + tap * axis->dilation - axis->begin;
  if (place < 0) return -1;
  if (axis->spread > 1) {
    if (place % axis->spread != 0) return -1;
    place /= axis->spread;
  }
  return place < axis->in ? place : -1;
}

/* An output pixel: batch, then the three axes. */
typedef struct pte_conv_pixel {
  int64_t batch, at[PTE_CONV_AXES];
} pte_conv_pixel;

static inline pte_conv_pixel pte_conv_pixel_at(const pte_conv_window *w, size_t index) {
  pte_conv_pixel pixel;
  for (unsigned i = PTE_CONV_AXES; i-- > 0; index /= (size_t)w->axis[i].out)
    pixel.at[i] = (int64_t)(index % (size_t)w->axis[i].out);
  pixel.batch = (int64_t)index;
  return pixel;
}

static inline void pte_conv_pixel_next(const pte_conv_window *w, pte_conv_pixel *pixel) {
  for (unsigned i = PTE_CONV_AXES; i-- > 0;) {
    if (++pixel->at[i] < w->axis[i].out) return;
    pixel->at[i] = 0;
  }
  pixel->batch++;
}

/* Stores where each tap of `pixel` reads, PTE_STRIP pointers apart: in its image, which starts at
 * `image`, or at `zeros`. */
void pte_conv_fill(const pte_conv_window *w, const float *image, const float *zeros,
                   const pte_conv_pixel *pixel, const float **slot);

#endif
