/* average_pool: the mean of each window, channels last. The sum starts at +0 and runs over the taps
 * inside x in row-major order; then one division by their number or, counting padding, by the
 * number of taps inside x padded by begin and end. x, y [b, *spatial, c] dense, no aliasing. */
#include "gen/ops.h"
#include "kernels/images/pool_f32.h"
#include "kernels/images/window.h"

typedef struct average_pool {
  const pte_call *call;
  const pte_pool_f32 *variant;
  pte_window window;
  const int64_t *end;
  bool count_padding;
} average_pool;

static float divisor_of(const average_pool *p, const pte_taps *taps, const pte_coords *out) {
  const pte_window *w = &p->window;
  int64_t total = 1, first;
  if (!p->count_padding) return (float)taps->total;
  for (unsigned i = 0; i < w->axes; i++) {
    int64_t at = out->at[i] * w->stride[i], limit = w->begin[i] + w->in[i] + p->end[i];
    total *= pte_taps_inside(at, w->dilation[i], w->kernel[i], limit, &first);
  }
  return (float)total;
}

/* Channels from `c` on: the sum over all taps, then the division. false: the run is to end. */
static bool window_mean(const average_pool *p, pte_pace *pace, const pte_taps *taps, pte_offsets *o,
                        float divisor, int64_t c, const float *x, float *y) {
  const pte_window *w = &p->window;
  int64_t count = w->channels - c < PTE_WINDOW_CHANNELS ? w->channels - c : PTE_WINDOW_CHANNELS;
  pte_coords coords = {{0}};
  memset(y + c, 0, (size_t)count * sizeof *y);
  if (taps->total > 0) x += pte_window_start(w, taps);
  for (int64_t left = taps->total, some; left > 0; left -= some) {
    some = pte_window_offsets(w, taps, left, &coords, o);
    if (!pte_pace_go(pace, some * pte_tap_cost(count))) return false;
    p->variant->sum(some, o->at, count, x + c, y + c);
  }
  for (int64_t end = c + count; c < end; c++) y[c] /= divisor;
  return pte_pace_go(pace, pte_tap_cost(count));
}

static void average_pool_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const average_pool *p = context;
  const pte_window *w = &p->window;
  int64_t first = (int64_t)begin, image = w->pixels_in * w->channels;
  pte_coords out = pte_coords_at(first % w->pixels_out, w->out, w->axes);
  pte_pace pace = pte_call_pace(p->call);
  pte_taps taps;
  pte_offsets offsets = {.count = {0}};
  (void)thread;
  for (int64_t i = first; i < (int64_t)end; i++) {
    const float *x = (const float *)p->call->in[0]->data + i / w->pixels_out * image;
    float *y = (float *)p->call->out[0]->data + i * w->channels;
    pte_window_taps(w, &out, &taps);
    float divisor = divisor_of(p, &taps, &out);
    for (int64_t c = 0; c < w->channels; c += PTE_WINDOW_CHANNELS)
      if (!window_mean(p, &pace, &taps, &offsets, divisor, c, x, y)) return;
    pte_coords_next(&out, w->out, w->axes);
  }
}

static pte_status average_pool_run(const pte_call *call) {
  const pte_average_pool_attrs *a = call->attrs;
  const pte_tensor *y = call->out[0];
  average_pool p = {
      .call = call, .end = pte_call_ints(call, a->end), .count_padding = a->count_padding != 0};
  p.variant = pte_pool_f32_pick(call->cpu);
  p.window =
      pte_window_of(call, y, (const pte_range[]){a->kernel, a->stride, a->dilation, a->begin});
  if (pte_tensor_count(y) == 0) return PTE_OK;
  size_t pixels = (size_t)(y->shape[0] * p.window.pixels_out);
  pte_parallel(call, pixels, pte_grain(p.window.channels * 36), average_pool_task, &p);
  return PTE_OK;
}

const pte_kernel pte_average_pool_kernel = {.run = average_pool_run};
