/* max_pool: the maximum of each window, channels last; the first of equals, a NaN wins, padding
 * never does; an empty window gives the type's lowest and index -1. x, y [b, *spatial, c] dense, no
 * aliasing. */
#include "core/kept.h"
#include "gen/ops.h"
#include "kernels/images/pool_f32.h"
#include "kernels/images/window.h"
#include "kernels/pointwise/codes_i8.h"

typedef struct max_pool {
  const pte_call *call;
  const pte_pool_f32 *variant;
  const pte_codes_i8 *codes;
  pte_window window;
  bool channel_major, column_major;
} max_pool;

#define BETTER(a, b) ((a) > (b) || ((a) != (a) && (b) == (b)))

/* `index` may be NULL. */
#define MAX_ROWS(name, type, lowest)                                                               \
  static void start_##name(type *restrict y, int64_t *restrict index, int64_t count) {             \
    for (int64_t c = 0; c < count; c++) y[c] = lowest;                                             \
    for (int64_t c = 0; index != NULL && c < count; c++) index[c] = -1;                            \
  }                                                                                                \
  static void max_##name(type *restrict y, const type *restrict x, int64_t count) {                \
    for (int64_t c = 0; c < count; c++) y[c] = BETTER(x[c], y[c]) ? x[c] : y[c];                   \
  }                                                                                                \
  static void max_at_##name(type *restrict y, int64_t *restrict index, const type *restrict x,     \
                            int64_t count, int64_t at) {                                           \
    for (int64_t c = 0; c < count; c++) {                                                          \
      bool better = index[c] < 0 || BETTER(x[c], y[c]);                                            \
      y[c] = better ? x[c] : y[c];                                                                 \
      index[c] = better ? at : index[c];                                                           \
    }                                                                                              \
  }

MAX_ROWS(f32, float, -(float)__builtin_inff())
MAX_ROWS(f64, double, -__builtin_inf())
MAX_ROWS(i64, int64_t, INT64_MIN)
MAX_ROWS(i8, int8_t, INT8_MIN)

#define WINDOW(name, type)                                                                         \
  static bool window_##name(const max_pool *p, pte_pace *pace, const pte_taps *taps,               \
                            int64_t count, const type *x, type *y, int64_t *index) {               \
    const pte_window *w = &p->window;                                                              \
    pte_coords coords = {{0}};                                                                     \
    start_##name(y, index, count);                                                                 \
    for (int64_t tap = 0; tap < taps->total; tap++) {                                              \
      if (!pte_pace_go(pace, pte_tap_cost(count))) return false;                                   \
      int64_t pixel = pte_window_pixel(w, taps, &coords);                                          \
      int64_t at = p->column_major ? pte_window_pixel_column(w, taps, &coords) : pixel;            \
      if (index == NULL) max_##name(y, x + pixel * w->channels, count);                            \
      else max_at_##name(y, index, x + pixel * w->channels, count, at);                            \
      pte_coords_next(&coords, taps->count, w->axes);                                              \
    }                                                                                              \
    return true;                                                                                   \
  }

WINDOW(f32, float)
WINDOW(f64, double)
WINDOW(i64, int64_t)
WINDOW(i8, int8_t)

/* How many windows from `out` on, along the last axis, have as many taps, their own all inside x.
 */
static int64_t windows_alike(const pte_window *w, const pte_taps *taps, const pte_coords *out) {
  if (w->axes == 0 || taps->total == 0) return 1;
  const unsigned last = w->axes - 1;
  if (taps->count[last] < w->kernel[last]) return 1;
  const int64_t end = taps->first[last] + (w->kernel[last] - 1) * w->dilation[last];
  const int64_t inside = (w->in[last] - 1 - end) / w->stride[last] + 1;
  const int64_t left = w->out[last] - out->at[last];
  return inside < left ? inside : left;
}

/* Some taps of windows side by side, `first` of all of them. */
static bool windows_f32(const max_pool *p, pte_pace *pace, const pte_larger_i8 *l, const float *x,
                        float *y) {
  const int64_t channels = (int64_t)l->channels;
  for (size_t i = 0; i < l->windows; i++, x += l->x_step, y += l->y_step) {
    if (l->first) start_f32(y, NULL, channels);
    if (pace->watch != NULL && !pte_pace_go(pace, l->taps * pte_tap_cost(channels))) return false;
    p->variant->larger(l->taps, l->offset, channels, x, y);
  }
  return true;
}

static bool windows_i8(const max_pool *p, pte_pace *pace, pte_larger_i8 *l, const int8_t *x,
                       int8_t *y) {
  const size_t windows = l->windows;
  for (size_t left = windows; left > 0; left -= l->windows) {
    const int64_t cost = l->taps * pte_tap_cost((int64_t)l->channels);
    l->windows = (size_t)pte_pace_take(pace, (int64_t)left, cost, 1);
    if (l->windows == 0) return false;
    l->x = x, l->y = y;
    p->codes->larger(l);
    x += l->windows * l->x_step, y += l->windows * l->y_step;
  }
  l->windows = windows;
  return true;
}

/* How windows side by side share columns of taps, which variants of codes know some ways of. */
static uint8_t shared_by(const pte_window *w) {
  const unsigned last = w->axes - 1;
  if (w->kernel[last] != 3 || w->stride[last] > 2 || w->dilation[last] != 1) return 0;
  return w->stride[last] == 1 ? PTE_SHARED_3_1 : PTE_SHARED_3_2;
}

/* f32 and i8 without indices: what networks ask for. `windows` side by side, which are alike. */
static bool windows_only(const max_pool *p, pte_pace *pace, const pte_taps *taps, pte_offsets *o,
                         int64_t channels, int64_t windows, const void *x, void *y) {
  const pte_window *w = &p->window;
  const bool codes = PTE_DTYPE_KEPT(PTE_I8) && p->call->in[0]->dtype == PTE_I8;
  const int64_t step = windows > 1 ? w->stride[w->axes - 1] * w->channels : 0;
  pte_larger_i8 l = {.windows = (size_t)windows,
                     .channels = (size_t)channels,
                     .x_step = (size_t)step,
                     .y_step = (size_t)w->channels,
                     .offset = o->at,
                     .first = true};
  if (taps->total == 0) { /* one alone: others have all of theirs */
    if (codes) start_i8(y, NULL, channels);
    else start_f32(y, NULL, channels);
    return pte_pace_go(pace, pte_tap_cost(channels));
  }
  if (PTE_WINDOWS_BESIDE && codes && windows > 1 && taps->total <= PTE_WINDOW_CHUNK)
    l.shared = shared_by(w);
  const int64_t start = pte_window_start(w, taps);
  pte_coords coords = {{0}};
  for (int64_t left = taps->total; left > 0; left -= l.taps, l.first = false) {
    l.taps = pte_window_offsets(w, taps, left, &coords, o);
    if (!(codes ? windows_i8(p, pace, &l, (const int8_t *)x + start, y)
                : windows_f32(p, pace, &l, (const float *)x + start, y)))
      return false;
  }
  return true;
}

/* From the pixel within an image to ONNX's flat index. */
static void number_indices(const max_pool *p, int64_t batch, int64_t c, int64_t end,
                           int64_t *index) {
  const pte_window *w = &p->window;
  for (; c < end; c++) {
    if (index[c] < 0) continue;
    if (p->channel_major) index[c] += (batch * w->channels + c) * w->pixels_in;
    else index[c] = (batch * w->pixels_in + index[c]) * w->channels + c;
  }
}

/* Channels c .. end of one window, or of `windows` that are alike; `index` may be NULL. */
static bool window_channels(const max_pool *p, pte_pace *pace, const pte_taps *taps, pte_offsets *o,
                            int64_t c, int64_t end, int64_t windows, const char *x, char *y,
                            int64_t *index) {
  unsigned dtype = p->call->in[0]->dtype, bytes = pte_dtype_bits(dtype) / 8;
  const void *from = x + c * bytes;
  char *best = y + c * bytes;
  int64_t *to = index == NULL ? NULL : index + c, count = end - c;
  if ((dtype == PTE_F32 || dtype == PTE_I8) && to == NULL)
    return windows_only(p, pace, taps, o, count, windows, from, best);
  if (!pte_pace_go(pace, pte_tap_cost(count))) return false;
  const bool integers =
      PTE_DTYPE_KEPT(PTE_I64); /* indices are; f32 and i8 are here with them alone */
  switch (dtype) {
  case PTE_F32: return integers && window_f32(p, pace, taps, count, from, (void *)best, to);
  case PTE_F64:
    return PTE_DTYPE_KEPT(PTE_F64) && window_f64(p, pace, taps, count, from, (void *)best, to);
  case PTE_I8: return integers && window_i8(p, pace, taps, count, from, (void *)best, to);
  default: return integers && window_i64(p, pace, taps, count, from, (void *)best, to);
  }
}

static void max_pool_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const max_pool *p = context;
  const pte_tensor *x = p->call->in[0], *y = p->call->out[0], *index = p->call->out[1];
  const pte_window *w = &p->window;
  int64_t first = (int64_t)begin, image = w->pixels_in * w->channels;
  pte_coords out = pte_coords_at(first % w->pixels_out, w->out, w->axes);
  pte_pace pace = pte_call_pace(p->call);
  pte_taps taps;
  pte_offsets offsets[1 + PTE_WINDOWS_BESIDE] = {{.count = {0}}}; /* at lines' ends, and within */
  const bool only = index == NULL && (x->dtype == PTE_F32 || x->dtype == PTE_I8);
  (void)thread;
  for (int64_t i = first, alike; i < (int64_t)end; i += alike) {
    pte_window_taps(w, &out, &taps);
    int64_t batch = i / w->pixels_out;
    int64_t *to = index != NULL ? (int64_t *)index->data + i * w->channels : NULL;
    char *from = pte_element(x, batch * image), *best = pte_element(y, i * w->channels);
    alike = PTE_WINDOWS_BESIDE && only ? windows_alike(w, &taps, &out) : 1;
    if (alike > (int64_t)end - i) alike = (int64_t)end - i;
    for (int64_t c = 0, stop; c < w->channels; c = stop) {
      stop = w->channels - c < PTE_WINDOW_CHANNELS ? w->channels : c + PTE_WINDOW_CHANNELS;
      pte_offsets *o = &offsets[PTE_WINDOWS_BESIDE && alike > 1];
      if (!window_channels(p, &pace, &taps, o, c, stop, alike, from, best, to)) return;
      if (to != NULL) number_indices(p, batch, c, stop, to);
    }
    if (PTE_WINDOWS_BESIDE && w->axes > 0)
      out.at[w->axes - 1] += alike - 1; /* they lie in one line */
    pte_coords_next(&out, w->out, w->axes);
  }
}

static pte_status max_pool_run(const pte_call *call) {
  const pte_max_pool_attrs *a = call->attrs;
  const pte_tensor *y = call->out[0];
  max_pool p = {
      .call = call, .channel_major = a->channel_major != 0, .column_major = a->column_major != 0};
  p.variant = pte_pool_f32_pick(call->cpu);
  if (PTE_DTYPE_KEPT(PTE_I8)) p.codes = pte_codes_i8_pick(call->cpu);
  p.window =
      pte_window_of(call, y, (const pte_range[]){a->kernel, a->stride, a->dilation, a->begin});
  if (pte_tensor_count(y) == 0) return PTE_OK;
  pte_parallel(call, (size_t)(y->shape[0] * p.window.pixels_out), pte_grain(p.window.channels * 36),
               max_pool_task, &p);
  return PTE_OK;
}

const pte_kernel pte_max_pool_kernel = {.run = max_pool_run};
