/* grid_sample: y at pixel o is x interpolated where grid[o] points; grid[.., 0] runs along the last
 * spatial axis, -1 .. 1 across x. Coordinates and weights in f32; the sum over the taps inside x,
 * row-major, from +0. A NaN coordinate counts as far outside. x [b, *i, c], grid [b, *o, r], y [b,
 * *o, c] dense, 1 to 3 spatial axes, no aliasing. Sources: Jaderberg et al. 2015; ONNX GridSample
 * (padding before and at the taps, nearest rounds first), but cubic with border as PyTorch and
 * onnxruntime have it: at the taps alone; Keys 1981. */
#include "core/math.h"
#include "gen/ops.h"
#include "kernels/images/blend_f32.h"
#include "kernels/rows/rows.h"

enum {
  AXES = 3,
  WIDEST = 4,
  MOST_TAPS = WIDEST * WIDEST * WIDEST,
  COLUMNS = 65536 /* channels that are summed together */
};

typedef struct grid_sample {
  const pte_call *call;
  const pte_grid_sample_attrs *attrs;
  const pte_blend_f32 *blend;
  unsigned axes;
  int64_t pixels; /* of y, in one image */
} grid_sample;

/* The taps along one axis: offsets in elements of x, or -1 for a zero; weights. */
typedef struct axis_taps {
  int64_t at[WIDEST];
  float weight[WIDEST];
  int count;
} axis_taps;

/* Mirrors x at the borders until it lies within. */
static float reflect(float x, float low, float high) {
  float span = high - low;
  if (!(span > 0)) return low;
  float away = x < low ? low - x : x - high;
  if (!(away > 0)) return x;
  float turns = pte_floor(away / span), rest = away - turns * span;
  bool even = turns - 2.0f * pte_floor(turns * 0.5f) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

static float clamp(float x, float low, float high) {
  return !(x > low) ? low : x > high ? high : x;
}

/* The element that tap `index` reads, or -1. */
static int64_t place_tap(const grid_sample *g, float index, int64_t extent) {
  float last = (float)(extent - 1);
  bool corners = g->attrs->align_corners != 0;
  if (g->attrs->padding == PTE_GRID_SAMPLE_PADDING_ZEROS && !(index >= 0 && index <= last))
    return -1;
  if (g->attrs->padding == PTE_GRID_SAMPLE_PADDING_REFLECTION)
    index = reflect(index, corners ? 0.0f : -0.5f, corners ? last : last + 0.5f);
  int64_t at = (int64_t)clamp(index, 0.0f, last);
  return at < extent ? at : extent - 1;
}

static void cubic_weights(float x, float *weight) {
  const float a = -0.75f;
  float far = x + 1.0f, near = 1.0f - x, end = 2.0f - x;
  weight[0] = ((a * far - 5.0f * a) * far + 8.0f * a) * far - 4.0f * a;
  weight[1] = ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
  weight[2] = ((a + 2.0f) * near - (a + 3.0f)) * near * near + 1.0f;
  weight[3] = ((a * end - 5.0f * a) * end + 8.0f * a) * end - 4.0f * a;
}

static axis_taps find_taps(const grid_sample *g, float normal, int64_t extent) {
  axis_taps taps = {.count = 1, .weight = {1.0f}};
  float length = (float)extent, last = length - 1.0f;
  bool corners = g->attrs->align_corners != 0,
       nearest = g->attrs->mode == PTE_GRID_SAMPLE_MODE_NEAREST;
  float x = corners ? (normal + 1.0f) / 2.0f * last : ((normal + 1.0f) * length - 1.0f) / 2.0f;
  if (nearest) x = pte_nearest(x);
  float low = corners ? 0.0f : -0.5f, high = corners ? last : last + 0.5f;
  bool beyond = x < low || x > high; /* what lies within is left to the taps */
  bool cubic = g->attrs->mode == PTE_GRID_SAMPLE_MODE_CUBIC; /* each tap is clamped by itself */
  if (beyond && !cubic && g->attrs->padding == PTE_GRID_SAMPLE_PADDING_BORDER)
    x = clamp(x, 0.0f, last);
  if (g->attrs->padding == PTE_GRID_SAMPLE_PADDING_REFLECTION) x = reflect(x, low, high);
  x = clamp(x, -3.0f, length + 3.0f); /* no tap of what lies beyond is inside */
  float left = pte_floor(x);
  if (nearest) {
    taps.at[0] = place_tap(g, x, extent);
    return taps;
  }
  taps.count = cubic ? 4 : 2;
  for (int t = 0; t < taps.count; t++) taps.at[t] = place_tap(g, left + (float)(t - cubic), extent);
  if (cubic) cubic_weights(x - left, taps.weight);
  else taps.weight[0] = 1.0f - (x - left), taps.weight[1] = x - left;
  return taps;
}

/* All combinations of the axes' taps that lie inside; returns their number. */
static int64_t join_taps(const grid_sample *g, const axis_taps *axis, const int64_t *stride,
                         int64_t *offset, float *weight) {
  int64_t found = 0, total = 1;
  for (unsigned i = 0; i < g->axes; i++) total *= axis[i].count;
  for (int64_t flat = 0; flat < total; flat++) {
    int64_t rest = flat, at = 0;
    float product = 1.0f;
    bool inside = true;
    for (unsigned i = g->axes; i-- > 0; rest /= axis[i].count) {
      int64_t t = rest % axis[i].count;
      inside &= axis[i].at[t] >= 0;
      at += axis[i].at[t] * stride[i];
      product *= axis[i].weight[t];
    }
    if (!inside) continue;
    offset[found] = at;
    weight[found++] = product;
  }
  return found;
}

static void grid_sample_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const grid_sample *g = context;
  const pte_tensor *x = g->call->in[0];
  int64_t channels = x->shape[x->rank - 1], offset[MOST_TAPS];
  bool nearest = g->attrs->mode == PTE_GRID_SAMPLE_MODE_NEAREST;
  float weight[MOST_TAPS];
  axis_taps axis[AXES];
  pte_pace pace = pte_call_pace(g->call);
  (void)thread;
  for (int64_t item = (int64_t)begin; item < (int64_t)end; item++) {
    const float *normal = (const float *)g->call->in[1]->data + item * g->axes;
    const float *image = (const float *)x->data + item / g->pixels * x->stride[0];
    float *y = (float *)g->call->out[0]->data + item * channels;
    for (unsigned i = 0; i < g->axes; i++)
      axis[i] = find_taps(g, normal[g->axes - 1 - i], x->shape[i + 1]);
    int64_t taps = join_taps(g, axis, x->stride + 1, offset, weight);
    if (nearest && taps == 1) {
      if (!pte_row_move(&pace, y, 1, image + offset[0], 1, channels, sizeof *y)) return;
      continue;
    }
    for (int64_t c = 0; c < channels; c += COLUMNS) {
      int64_t count = channels - c < COLUMNS ? channels - c : COLUMNS;
      if (!g->blend->line(&pace, 1, taps, offset, weight, count, image + c, y + c)) return;
    }
  }
}

static pte_status grid_sample_run(const pte_call *call) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  if (pte_tensor_count(y) == 0) return PTE_OK;
  grid_sample g = {.call = call,
                   .attrs = call->attrs,
                   .blend = pte_blend_f32_pick(call->cpu),
                   .axes = x->rank - 2u};
  g.pixels = pte_tensor_span(y, 1, y->rank - 1u);
  size_t items = (size_t)(y->shape[0] * g.pixels);
  pte_parallel(call, items, pte_grain(x->shape[x->rank - 1] * 20 + 64), grid_sample_task, &g);
  return PTE_OK;
}

const pte_kernel pte_grid_sample_kernel = {.run = grid_sample_run};
