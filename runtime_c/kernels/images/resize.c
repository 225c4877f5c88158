/* resize: ONNX Resize over the spatial axes of a channels-last tensor, separable, one axis after
 * the other from the last. Each element is a sum over its taps, sequential from +0; an axis that
 * stays as it is is left alone; nearest moves bits. A coordinate outside the region of
 * tf_crop_and_resize gives `extrapolation` on its axis. x, y dense, no aliasing. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/images/blend_f32.h"
#include "kernels/images/resize_axis.h"
#include "kernels/rows/rows.h"

enum { AXES = PTE_MAX_RANK - 2, COLUMNS = 65536 /* elements that are summed together */ };

typedef struct resize {
  const pte_call *call;
  const pte_resize_attrs *attrs;
  unsigned axes;
  pte_resize_axis axis[AXES];
  pte_resize_taps taps[AXES];
  int64_t tap_count[AXES];
  double *line;
  float *between[2];
} resize;

static void describe(const pte_call *call, resize *r) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  *r = (resize){.call = call, .attrs = call->attrs, .axes = x->rank - 2u};
  bool crop = r->attrs->coordinates == PTE_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
  for (unsigned i = 0; i < r->axes; i++) {
    pte_resize_axis *axis = &r->axis[i];
    *axis = (pte_resize_axis){.in = x->shape[i + 1], .out = y->shape[i + 1], .region_end = 1.0};
    axis->scale = axis->in > 0 ? (double)axis->out / (double)axis->in : 1.0;
    if (r->attrs->scales.count > 0) axis->scale = pte_call_float(call, r->attrs->scales, i);
    if (crop) {
      axis->region_begin = pte_call_float(call, r->attrs->region, i);
      axis->region_end = pte_call_float(call, r->attrs->region, r->axes + i);
    }
    bool whole = axis->region_begin == 0.0 && axis->region_end == 1.0;
    axis->identity = axis->in == axis->out && axis->scale == 1.0 && whole;
    r->tap_count[i] = axis->in > 0 && axis->out > 0 ? pte_resize_tap_count(r->attrs, axis) : 0;
  }
}

/* The scale must belong to the extents: out is scale * in, rounded down or to nearest. */
static pte_status check_axis(const pte_call *call, const resize *r, unsigned i) {
  const pte_resize_axis *axis = &r->axis[i];
  double out = axis->scale * (double)axis->in, span = 1 << 20;
  if (axis->out == 0) return PTE_OK;
  if (!(out >= 0.5 && out > (double)axis->out - 1.0 && out < (double)axis->out + 1.0))
    return pte_kernel_fail(call, PTE_BAD_PROGRAM, "extent does not follow from the scale", 128, i,
                           axis->out, axis->in);
  if (!(axis->region_begin > -span && axis->region_begin < span && axis->region_end > -span &&
        axis->region_end < span))
    return pte_kernel_fail(call, PTE_BAD_PROGRAM, "region out of range", 255, i, -1, 0);
  return PTE_OK;
}

static pte_status resize_check(const pte_call *call) {
  resize r;
  describe(call, &r);
  for (unsigned i = 0; i < r.axes; i++) PTE_TRY(check_axis(call, &r, i));
  return PTE_OK;
}

/* Takes `count` elements from the memory at `base`, from `*at` on; base NULL: only counts. */
static bool take(char *base, uint64_t *at, uint64_t count, uint64_t element_bytes, void **out) {
  uint64_t bytes;
  if (out != NULL) *out = base == NULL ? NULL : base + *at;
  return pte_mul(count, element_bytes, &bytes) && pte_add(*at, bytes, at) && pte_align(*at, 64, at);
}

/* Lays the tables out in `base`. */
static bool place_tables(resize *r, char *base, uint64_t *out_bytes) {
  uint64_t at = 0;
  for (unsigned i = r->axes; i-- > 0;) {
    uint64_t out = (uint64_t)r->axis[i].out, all;
    if (r->axis[i].identity) continue;
    if (!pte_mul((uint64_t)r->tap_count[i], out, &all) ||
        !take(base, &at, all, sizeof(int64_t), (void **)&r->taps[i].index) ||
        !take(base, &at, all, sizeof(float), (void **)&r->taps[i].weight) ||
        !take(base, &at, out, 1, (void **)&r->taps[i].outside))
      return false;
  }
  *out_bytes = at;
  return true;
}

/* Lays the values between the passes out in `base`; or, before these, a line of taps. */
static bool place_scratch(resize *r, char *base, uint64_t *out_bytes) {
  uint64_t at = 0, longest = 0, between[2] = {0, 0}, size = 1;
  const pte_tensor *x = r->call->in[0];
  for (unsigned i = 0; i < x->rank; i++)
    if (!pte_mul(size, (uint64_t)x->shape[i], &size)) return false;
  unsigned passes = 0;
  for (unsigned i = r->axes; i-- > 0;) {
    uint64_t taps = (uint64_t)r->tap_count[i], out = (uint64_t)r->axis[i].out;
    longest = taps > longest ? taps : longest;
    if (r->axis[i].identity || r->axis[i].in == 0) continue;
    if (!pte_mul(size / (uint64_t)r->axis[i].in, out, &size)) return false;
    if (size > between[passes % 2]) between[passes % 2] = size;
    passes++;
  }
  r->line = (double *)(void *)base;
  bool weighted = r->attrs->mode != PTE_RESIZE_MODE_NEAREST;
  for (unsigned i = 0; i < 2 && weighted && passes > i + 1; i++)
    if (!take(base, &at, between[i], sizeof(float), (void **)&r->between[i])) return false;
  if (!pte_mul(longest, sizeof(double), &longest)) return false;
  *out_bytes = longest > at ? longest : at;
  return true;
}

static pte_status resize_needs(const pte_call *call, pte_needs *out) {
  resize r;
  describe(call, &r);
  bool fits = place_scratch(&r, NULL, &out->scratch) && place_tables(&r, NULL, &out->kept) &&
              pte_add(out->kept, PTE_KEPT_BYTES(resize), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

/* One axis: x [outer][in][inner] to y [outer][out][inner]; items are (outer, out). */
typedef struct pass {
  const resize *r;
  const pte_blend_f32 *blend;
  const float *x;
  float *y;
  unsigned axis;
  int64_t inner;
} pass;

static void pass_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pass *p = context;
  const pte_resize_axis *axis = &p->r->axis[p->axis];
  const pte_resize_taps *taps = &p->r->taps[p->axis];
  int64_t count = p->r->tap_count[p->axis], item = (int64_t)begin;
  pte_pace pace = pte_call_pace(p->r->call);
  (void)thread;
  while (item < (int64_t)end) {
    int64_t outer = item / axis->out, j = item % axis->out, run = axis->out - j;
    run = run < (int64_t)end - item ? run : (int64_t)end - item;
    const float *x = p->x + outer * axis->in * p->inner;
    float *y = p->y + item * p->inner;
    const int64_t *index = taps->index + j * count;
    const float *weight = taps->weight + j * count;
    if (p->inner > COLUMNS) run = 1;
    for (int64_t c = 0, columns; c < p->inner; c += columns) {
      columns = p->inner - c < COLUMNS ? p->inner - c : COLUMNS;
      if (!p->blend->line(&pace, run, count, index, weight, columns, x + c, y + c)) return;
      for (int64_t i = 0; i < run; i++)
        for (int64_t k = 0; taps->outside[j + i] && k < columns; k++)
          y[i * p->inner + c + k] = (float)p->r->attrs->extrapolation;
    }
    item += run;
  }
}

static void run_passes(resize *r, pte_pace *pace) {
  const pte_tensor *x = r->call->in[0], *y = r->call->out[0];
  int64_t outer = pte_tensor_span(x, 0, r->axes + 1u), inner = x->shape[r->axes + 1];
  unsigned left = 0, done = 0;
  for (unsigned i = 0; i < r->axes; i++) left += !r->axis[i].identity;
  pass p = {.r = r, .blend = pte_blend_f32_pick(r->call->cpu), .x = x->data};
  for (unsigned i = r->axes; i-- > 0; inner *= r->axis[i].out) {
    outer /= r->axis[i].in;
    if (r->axis[i].identity) continue;
    p.axis = i;
    p.inner = inner;
    p.y = --left == 0 ? y->data : r->between[done % 2];
    pte_parallel(r->call, (size_t)(outer * r->axis[i].out), pte_grain(inner * 16), pass_task, &p);
    p.x = p.y;
    done++;
  }
  if (done == 0) (void)pte_row_move(pace, y->data, 1, x->data, 1, pte_tensor_count(y), 4);
}

/* Items are pixels of y. */
static void nearest_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const resize *r = context;
  const pte_tensor *x = r->call->in[0], *y = r->call->out[0];
  int64_t channels = x->shape[x->rank - 1];
  const float extrapolation = (float)r->attrs->extrapolation;
  pte_pace pace = pte_call_pace(r->call);
  (void)thread;
  pte_coords at = pte_coords_at((int64_t)begin, y->shape, r->axes + 1u);
  for (size_t item = begin; item < end; item++) {
    float *to = (float *)y->data + (int64_t)item * channels;
    int64_t from = at.at[0] * x->stride[0];
    bool outside = false;
    for (unsigned i = 0; i < r->axes; i++) {
      int64_t j = at.at[i + 1];
      from += (r->axis[i].identity ? j : r->taps[i].index[j]) * x->stride[i + 1];
      outside |= !r->axis[i].identity && r->taps[i].outside[j];
    }
    const float *pixel = outside ? &extrapolation : (const float *)x->data + from;
    if (!pte_row_move(&pace, to, 1, pixel, !outside, channels, sizeof *to)) return;
    pte_coords_next(&at, y->shape, r->axes + 1u);
  }
}

/* Taps count elements of x, not pixels, for passes over an axis. */
static bool scale_taps(resize *r, pte_pace *pace, unsigned axis, int64_t inner) {
  const int64_t taps = r->axis[axis].out * r->tap_count[axis];
  for (int64_t t = 0, end = 0; t < taps; t++) {
    if (t == end && (end += pte_pace_take(pace, taps - t, 1, 1)) == t) return false;
    r->taps[axis].index[t] *= inner;
  }
  return true;
}

static pte_status resize_keep(const pte_call *call) {
  resize *r = call->kept;
  uint64_t bytes;
  describe(call, r);
  if (!place_tables(r, (char *)call->kept + PTE_KEPT_BYTES(resize), &bytes) ||
      !place_scratch(r, call->scratch, &bytes))
    return PTE_NO_MEMORY;
  if (pte_tensor_count(call->out[0]) == 0) return PTE_OK;
  const pte_tensor *x = call->in[0];
  int64_t inner = x->shape[r->axes + 1];
  pte_pace pace = pte_call_pace(call);
  for (unsigned i = r->axes; i-- > 0; inner *= r->axis[i].out) {
    if (r->axis[i].identity) continue;
    if (!pte_resize_find_taps(&pace, r->attrs, &r->axis[i], r->line, r->taps[i]))
      return PTE_CANCELLED;
    if (r->attrs->mode != PTE_RESIZE_MODE_NEAREST && !scale_taps(r, &pace, i, inner))
      return PTE_CANCELLED;
  }
  return PTE_OK;
}

static pte_status resize_run(const pte_call *call) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  resize *r = call->kept;
  uint64_t bytes;
  if (pte_tensor_count(y) == 0) return PTE_OK;
  pte_pace pace = pte_call_pace(call);
  r->call = call;
  if (!place_scratch(r, call->scratch, &bytes)) return PTE_NO_MEMORY;
  if (r->attrs->mode != PTE_RESIZE_MODE_NEAREST) {
    run_passes(r, &pace);
    return PTE_OK;
  }
  size_t pixels = (size_t)pte_tensor_span(y, 0, r->axes + 1u);
  pte_parallel(call, pixels, pte_grain(x->shape[x->rank - 1] * 8), nearest_task, r);
  return PTE_OK;
}

const pte_kernel pte_resize_kernel = {
    .check = resize_check, .needs = resize_needs, .keep = resize_keep, .run = resize_run};
