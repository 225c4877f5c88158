#include "kernels/conv_window.h"

#include "core/size.h"

typedef struct list_rule {
  pte_range range;
  int64_t least;
  const char *name;
} list_rule;

/* At most 2^31 - 1 in magnitude, so that products of two and sums of a few fit in 64 bits. */
static pte_status check_list(const pte_call *call, const list_rule *rule, uint32_t axes) {
  if (rule->range.count != axes)
    return pte_kernel_fail(call, PTE_BAD_PROGRAM, rule->name, 255, -1, rule->range.count, axes);
  const int64_t *list = pte_call_ints(call, rule->range);
  for (uint32_t i = 0; i < axes; i++)
    if (list[i] < rule->least || list[i] > INT32_MAX)
      return pte_kernel_fail(call, PTE_BAD_PROGRAM, rule->name, 255, i, list[i], rule->least);
  return PTE_OK;
}

static int64_t list_at(const pte_call *call, pte_range list, uint32_t i, int64_t otherwise) {
  return list.count == 0 ? otherwise : pte_call_ints(call, list)[i];
}

static pte_status check_extent(const pte_call *call, const pte_conv_lists *l, uint32_t i) {
  int64_t in = call->in[0]->shape[i + 1], out = call->out[0]->shape[i + 1];
  if (in > INT32_MAX || out > INT32_MAX)
    return pte_kernel_fail(call, PTE_UNSUPPORTED, "spatial extent above 2^31", 0, i, in, INT32_MAX);
  int64_t spread = list_at(call, l->spread, i, 1), whole = in == 0 ? 0 : (in - 1) * spread + 1;
  int64_t span = (list_at(call, l->kernel, i, 1) - 1) * list_at(call, l->dilation, i, 1) + 1;
  int64_t room = whole + list_at(call, l->begin, i, 0) + list_at(call, l->end, i, 0) - span;
  int64_t expected = room < 0 ? 0 : room / list_at(call, l->stride, i, 1) + 1;
  if (out == expected) return PTE_OK;
  return pte_kernel_fail(call, PTE_BAD_PROGRAM, "output extent", 128, i, out, expected);
}

pte_status pte_conv_window_check(const pte_call *call, const pte_conv_lists *lists) {
  uint32_t rank = call->in[0]->rank;
  if (rank < 3 || rank > 2 + PTE_CONV_AXES || call->out[0]->rank != rank)
    return pte_kernel_fail(call, PTE_UNSUPPORTED, "spatial axes", 0, -1, (int64_t)rank - 2,
                           PTE_CONV_AXES);
  const list_rule rules[] = {
      {lists->kernel,   1,          "kernel, one entry a spatial axis"  },
      {lists->stride,   1,          "stride, one entry a spatial axis"  },
      {lists->dilation, 1,          "dilation, one entry a spatial axis"},
      {lists->begin,    -INT32_MAX, "begin, one entry a spatial axis"   },
      {lists->end,      -INT32_MAX, "end, one entry a spatial axis"     },
      {lists->spread,   1,          "spread, one entry a spatial axis"  },
  };
  for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
    if (i < 5 || lists->spread.count != 0) PTE_TRY(check_list(call, &rules[i], rank - 2));
  for (uint32_t i = 0; i < rank - 2; i++) PTE_TRY(check_extent(call, lists, i));
  return PTE_OK;
}

pte_status pte_conv_taps(const pte_call *call, pte_range kernel, int64_t *out_taps) {
  int64_t taps = 1;
  for (uint32_t i = 0; i < kernel.count; i++) {
    taps *= pte_call_ints(call, kernel)[i]; /* each at most 2^31 */
    if (taps > INT32_MAX)
      return pte_kernel_fail(call, PTE_UNSUPPORTED, "taps of the kernel", 255, i, taps, INT32_MAX);
  }
  *out_taps = taps;
  return PTE_OK;
}

pte_status pte_conv_depth_check(const pte_call *call, pte_range kernel, int64_t groups) {
  const pte_tensor *x = call->in[0], *w = call->in[1];
  int64_t taps, channels = x->shape[x->rank - 1];
  uint64_t depth;
  PTE_TRY(pte_conv_taps(call, kernel, &taps));
  if (channels % groups != 0)
    return pte_kernel_fail(call, PTE_BAD_PROGRAM, "channels a group", 0, -1, channels, groups);
  if (!pte_mul((uint64_t)taps, (uint64_t)(channels / groups), &depth) ||
      depth != (uint64_t)w->shape[1])
    return pte_kernel_fail(call, PTE_BAD_PROGRAM, "k of the weight is taps x channels of a group",
                           1, -1, w->shape[1], taps);
  return PTE_OK;
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
