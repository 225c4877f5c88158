#include "kernels/window/conv_gather.h"

#include <string.h>

#include "core/kept.h"

char *pte_conv_gather_padding(const pte_conv_gather *g, size_t count, char *to) {
  if (!PTE_DTYPE_KEPT(PTE_I16) || g->bytes == 1) memset(to, (int)g->padding, count);
  else
    for (size_t i = 0; i < count; i++) ((int16_t *)(void *)to)[i] = (int16_t)g->padding;
  return to + count * g->bytes;
}

/* The taps along the last axis; `line` is where it starts, NULL where all of it is padding. */
static char *gather_line(const pte_conv_gather *g, const char *line, int64_t at, char *to) {
  const pte_conv_axis *axis = &g->w->axis[2];
  const size_t pixel = (size_t)g->w->channels * g->bytes, part = g->channels * g->bytes;
  const int64_t begin = at * axis->stride - axis->begin;
  if (line == NULL) return pte_conv_gather_padding(g, (size_t)axis->kernel * g->channels, to);
  if (part == pixel && axis->dilation == 1 && axis->spread == 1 && begin + axis->kernel > 0 &&
      begin < axis->in) {
    const int64_t before = begin < 0 ? -begin : 0, end = begin + axis->kernel;
    const int64_t after = end > axis->in ? end - axis->in : 0;
    const size_t inside = (size_t)(axis->kernel - before - after) * pixel;
    to = pte_conv_gather_padding(g, (size_t)before * g->channels, to);
    memcpy(to, line + (size_t)(begin + before) * pixel, inside);
    return pte_conv_gather_padding(g, (size_t)after * g->channels, to + inside);
  }
  for (int64_t j = 0; j < axis->kernel; j++) {
    const int64_t place = pte_conv_place(axis, at, j);
    if (place < 0) to = pte_conv_gather_padding(g, g->channels, to);
    else memcpy(to, line + (size_t)place * pixel, part), to += part;
  }
  return to;
}

void pte_conv_gather_window(const pte_conv_gather *g, const char *image,
                            const pte_conv_pixel *pixel, char *to) {
  const pte_conv_axis *deep = &g->w->axis[0], *high = &g->w->axis[1], *wide = &g->w->axis[2];
  const int64_t line_bytes = wide->in * g->w->channels * (int64_t)g->bytes;
  for (int64_t d = 0; d < deep->kernel; d++) {
    const int64_t z = pte_conv_place(deep, pixel->at[0], d);
    for (int64_t i = 0; i < high->kernel; i++) {
      const int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel->at[1], i);
      const char *line = y < 0 ? NULL : image + (z * high->in + y) * line_bytes;
      to = gather_line(g, line, pixel->at[2], to);
    }
  }
}

size_t pte_conv_windows_inside(const pte_conv_window *w, const pte_conv_pixel *pixel) {
  const pte_conv_axis *wide = &w->axis[2];
  for (unsigned i = 0; i < PTE_CONV_AXES; i++) {
    const pte_conv_axis *axis = &w->axis[i];
    const int64_t place = pixel->at[i] * axis->stride - axis->begin;
    if (axis->spread > 1 || place < 0 || place + (axis->kernel - 1) * axis->dilation >= axis->in)
      return 0;
  }
  const int64_t span = (wide->kernel - 1) * wide->dilation + 1;
  const int64_t last = (wide->in - span + wide->begin) / wide->stride;
  return (size_t)((last < wide->out ? last + 1 : wide->out) - pixel->at[2]);
}
