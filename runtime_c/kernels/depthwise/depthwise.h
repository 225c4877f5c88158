/* Depthwise sums of pixels of a convolution: conv_depthwise, and the middle of conv_block. */
#ifndef PTE_DEPTHWISE_H
#define PTE_DEPTHWISE_H

#include "kernels/depthwise/depthwise_f32.h"
#include "kernels/gemm/finish.h"
#include "kernels/window/conv_window.h"

/* y[b, o, c] = sum over taps t, row-major, of x[b, o * stride + t * dilation - begin, c] * w[c, t],
 * finished. `w`, `taps` and `kernel` are given, the rest of its shape is pte_depthwise_shape's. */
typedef struct pte_depthwise {
  const pte_depthwise_f32 *kernel;
  pte_conv_window w;
  size_t channels, taps;
  size_t lines, inside[2]; /* of a window; pixels of a line from .. to that go together */
  const float *x, *weight;
  int64_t held;       /* line l of x, counted through all images, is number l % held at x */
  const float *zeros; /* a pixel of the padding */
  pte_finish_f32 finish;
} pte_depthwise;

/* Pixels first .. first + count that are computed together, into `out`, with room for the addresses
 * and steps of a window's taps. */
typedef struct pte_depthwise_band {
  size_t first, count;
  float *out;
  size_t out_stride;
  const float **line;
  size_t *step;
} pte_depthwise_band;

void pte_depthwise_shape(pte_depthwise *d);

/* Bytes of the addresses and steps, a multiple of 64; and a band's, which lie at `room`. */
bool pte_depthwise_room(const pte_depthwise *d, uint64_t *out_bytes);
static inline void pte_depthwise_aim(const pte_depthwise *d, char *room, pte_depthwise_band *k) {
  k->line = (const float **)(void *)room;
  k->step = (size_t *)(void *)(room + d->taps * sizeof(float *));
}

/* false: the run is to end. */
bool pte_depthwise_run(const pte_depthwise *d, pte_pace *pace, const pte_depthwise_band *k);

#endif
