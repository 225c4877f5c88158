/* Windows that slide over the spatial axes of a channels-last tensor: what the pools share. */
#ifndef PTE_WINDOW_H
#define PTE_WINDOW_H

#include "core/integer.h"
#include "kernels/rows/rows.h"

#define PTE_WINDOW_AXES (PTE_MAX_RANK - 2)

typedef struct pte_window {
  const int64_t *kernel, *stride, *dilation, *begin; /* one a spatial axis */
  int64_t in[PTE_WINDOW_AXES], out[PTE_WINDOW_AXES];
  int64_t pixels_in, pixels_out, channels;
  unsigned axes;
} pte_window;

/* The taps of one window that lie inside x: first, first + dilation, ... on each axis. */
typedef struct pte_taps {
  int64_t first[PTE_WINDOW_AXES], count[PTE_WINDOW_AXES], total;
} pte_taps;

/* `lists`: kernel, stride, dilation, begin. */
static inline pte_window pte_window_of(const pte_call *call, const pte_tensor *y,
                                       const pte_range *lists) {
  const pte_tensor *x = call->in[0];
  pte_window w = {
      .axes = x->rank - 2u, .channels = x->shape[x->rank - 1], .pixels_in = 1, .pixels_out = 1};
  w.kernel = pte_call_ints(call, lists[0]);
  w.stride = pte_call_ints(call, lists[1]);
  w.dilation = pte_call_ints(call, lists[2]);
  w.begin = pte_call_ints(call, lists[3]);
  for (unsigned i = 0; i < w.axes; i++) {
    w.pixels_in *= w.in[i] = x->shape[i + 1];
    w.pixels_out *= w.out[i] = y->shape[i + 1];
  }
  return w;
}

/* How many of at, at + step, ... (`count` of them) lie in 0..limit; `*out_first`: the first that
 * does. */
static inline int64_t pte_taps_inside(int64_t at, int64_t step, int64_t count, int64_t limit,
                                      int64_t *out_first) {
  int64_t skip = at < 0 ? -at : 0, end = limit > at ? limit - at : 0;
  if (step != 1) skip = pte_ceil_div_i64(skip, step), end = pte_ceil_div_i64(end, step);
  *out_first = at + skip * step;
  end = end < count ? end : count;
  return end > skip ? end - skip : 0;
}

/* In place: copied by vectors, what was just written by words would be waited for. */
static inline void pte_window_taps(const pte_window *w, const pte_coords *out, pte_taps *taps) {
  taps->total = 1;
  for (unsigned i = 0; i < w->axes; i++) {
    int64_t at = out->at[i] * w->stride[i] - w->begin[i];
    taps->count[i] = pte_taps_inside(at, w->dilation[i], w->kernel[i], w->in[i], &taps->first[i]);
    taps->total *= taps->count[i];
  }
}

/* Pixel of x under the tap at `coords`, row-major; and in column-major numbering of the spatial
 * axes. */
static inline int64_t pte_window_pixel(const pte_window *w, const pte_taps *taps,
                                       const pte_coords *coords) {
  int64_t pixel = 0;
  for (unsigned i = 0; i < w->axes; i++)
    pixel = pixel * w->in[i] + taps->first[i] + coords->at[i] * w->dilation[i];
  return pixel;
}
static inline int64_t pte_window_pixel_column(const pte_window *w, const pte_taps *taps,
                                              const pte_coords *coords) {
  int64_t pixel = 0;
  for (unsigned i = w->axes; i-- > 0;)
    pixel = pixel * w->in[i] + taps->first[i] + coords->at[i] * w->dilation[i];
  return pixel;
}

#ifdef PTE_SMALL_BUFFERS /* where code is dear, too: each window and tap by itself */
enum { PTE_WINDOWS_BESIDE = 0 };
#else
enum { PTE_WINDOWS_BESIDE = 1 };
#endif

enum { PTE_WINDOW_CHUNK = 64, PTE_WINDOW_CHANNELS = 4096 }; /* channels that are taken together */

/* Elementary operations of one tap over `channels`: its place comes before them. */
enum { PTE_TAP_PLACE = 8 };
static inline int64_t pte_tap_cost(int64_t channels) { return channels + PTE_TAP_PLACE; }

/* Offsets of taps from the window's first, in elements: the same for all windows with as many. */
typedef struct pte_offsets {
  int64_t count[PTE_WINDOW_AXES]; /* of the taps that `at` has all of; 0: of none */
  int64_t at[PTE_WINDOW_CHUNK];
} pte_offsets;

/* The window's first tap, in elements. */
static inline int64_t pte_window_start(const pte_window *w, const pte_taps *taps) {
  int64_t pixel = 0;
  for (unsigned i = 0; i < w->axes; i++) pixel = pixel * w->in[i] + taps->first[i];
  return pixel * w->channels;
}

/* Offsets of the next taps from `coords` on: at most PTE_WINDOW_CHUNK of the `left` that are left.
 * Returns how many. */
static inline int64_t pte_window_offsets(const pte_window *w, const pte_taps *taps, int64_t left,
                                         pte_coords *coords, pte_offsets *o) {
  int64_t count = left < PTE_WINDOW_CHUNK ? left : PTE_WINDOW_CHUNK;
  bool whole = count == taps->total, known = whole;
  for (unsigned i = 0; i < w->axes; i++) known = known && o->count[i] == taps->count[i];
  if (known) return count;
  for (int64_t t = 0, pixel = 0; t < count; t++) {
    if (PTE_WINDOWS_BESIDE && t > 0 && coords->at[w->axes - 1u] > 0) { /* beside the one before */
      pixel += w->dilation[w->axes - 1u];
    } else {
      pixel = 0;
      for (unsigned i = 0; i < w->axes; i++)
        pixel = pixel * w->in[i] + coords->at[i] * w->dilation[i];
    }
    o->at[t] = pixel * w->channels;
    pte_coords_next(coords, taps->count, w->axes);
  }
  for (unsigned i = 0; i < w->axes; i++) o->count[i] = whole ? taps->count[i] : 0;
  return count;
}

#endif
