#include "kernels/window/conv_window.h"

#include "kernels/panels.h"

static int64_t list_at(const pte_call *call, pte_range list, uint32_t i, int64_t otherwise) {
  return list.count == 0 ? otherwise : pte_call_ints(call, list)[i];
}

bool pte_conv_is_matrix(const pte_conv_window *w) {
  for (unsigned i = 0; i < PTE_CONV_AXES; i++) {
    const pte_conv_axis *axis = &w->axis[i];
    if (axis->kernel != 1 || axis->stride != 1 || axis->begin != 0 || axis->spread != 1 ||
        axis->in != axis->out)
      return false;
  }
  return true;
}

pte_conv_window pte_conv_window_of(const pte_call *call, const pte_conv_lists *lists) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  pte_conv_window w = {.batch = x->shape[0], .channels = x->shape[x->rank - 1]};
  uint32_t axes = x->rank - 2u;
  for (uint32_t i = 0; i < PTE_CONV_AXES; i++) w.axis[i] = (pte_conv_axis){1, 1, 1, 1, 1, 0, 1};
  for (uint32_t i = 0; i < axes; i++)
    w.axis[PTE_CONV_AXES - axes + i] = (pte_conv_axis){
        .in = x->shape[i + 1],
        .out = y->shape[i + 1],
        .kernel = list_at(call, lists->kernel, i, 1),
        .stride = list_at(call, lists->stride, i, 1),
        .dilation = list_at(call, lists->dilation, i, 1),
        .begin = list_at(call, lists->begin, i, 0),
        .spread = list_at(call, lists->spread, i, 1),
    };
  return w;
}

/* The taps along the last axis; `line` is where it starts, NULL where all read zeros. */
static void fill_line(const pte_conv_window *w, const float *line, const float *zeros, int64_t at,
                      const float **slot) {
  const pte_conv_axis *axis = &w->axis[2];
  int64_t place = at * axis->stride - axis->begin, span = (axis->kernel - 1) * axis->dilation;
  bool whole = axis->spread == 1 && place >= 0 && place + span < axis->in;
  int64_t step = line == NULL ? 0 : axis->dilation * w->channels;
  if (whole || line == NULL) {
    const float *address = line == NULL ? zeros : line + place * w->channels;
    for (int64_t j = 0; j < axis->kernel; j++, slot += PTE_STRIP, address += step) *slot = address;
    return;
  }
  for (int64_t j = 0; j < axis->kernel; j++, slot += PTE_STRIP) {
    place = pte_conv_place(axis, at, j);
    *slot = place < 0 ? zeros : line + place * w->channels;
  }
}

void pte_conv_fill(const pte_conv_window *w, const float *image, const float *zeros,
                   const pte_conv_pixel *pixel, const float **slot) {
  const pte_conv_axis *deep = &w->axis[0], *high = &w->axis[1], *wide = &w->axis[2];
  for (int64_t d = 0; d < deep->kernel; d++) {
    int64_t z = pte_conv_place(deep, pixel->at[0], d);
    for (int64_t i = 0; i < high->kernel; i++, slot += wide->kernel * PTE_STRIP) {
      int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel->at[1], i);
      const float *line = y < 0 ? NULL : image + (z * high->in + y) * wide->in * w->channels;
      fill_line(w, line, zeros, pixel->at[2], slot);
    }
  }
}
