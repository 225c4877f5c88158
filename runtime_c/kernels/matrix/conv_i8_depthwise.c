/* conv_i8 of groups of one channel and one column each: channels are multiplied as they lie in a
 * pixel, 64 at a time, by weights that are laid out for that. */
#include "kernels/matrix/conv_i8_depthwise.h"

#include "core/integer.h"
#include "core/size.h"
#include "kernels/rows/rows.h"
#include "kernels/window/conv_gather.h"

enum {
  WALKS = !PTE_CONV_I8_SMALL, /* whose variants have none */
  TASK_WORK = 131072,         /* products that are worth a task, in sixteens */
  SET = 64,                   /* channels of a step, */
  MOST_PIXELS = 64,           /* and pixels; */
  LONG_LINE = 1024,           /* of a line, where they are many more, */
  LINE_WORK = 8192,           /* of which so many channels are worth a task; */
  MANY_SETS = 3,              /* of a thread: it takes its own, of all lines, */
  GROUP = 8                   /* so many at a time: their weights stay in L1 from line to line */
};

/* All channels are one group, which variants take 64 at a time. */
bool pte_conv_i8_plan_depthwise(pte_conv_i8_plan *p) {
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  p->pixels = pte_depthwise_i8_pick(p->call->cpu);
  p->walk = WALKS && p->pixels->walk != NULL && deep->kernel == 1 && high->kernel == 3 &&
            wide->kernel == 3 && wide->dilation == 1 && wide->spread == 1 && wide->stride <= 2;
  const size_t sets = pte_ceil_div(p->groups, SET);
  p->channels = p->groups, p->groups = 1;
  p->share_bytes = pte_ceil_div((p->depth + 3) * sizeof(int8_t *), 64) * 64;
  return pte_mul(PTE_TAPS_BYTES(p->depth), sets, &p->weight_bytes) &&
         pte_mul(SET / PTE_PANEL * sizeof(pte_rescale_columns), sets, &p->column_bytes) &&
         pte_align(p->column_bytes, 64, &p->column_bytes) &&
         pte_align(p->channels, 64, &p->line_bytes);
}

typedef struct depthwise_run {
  const pte_conv_i8_plan *plan;
  pte_taps_i8 taps;
  const int8_t *zeros; /* a pixel of x_zero */
  char *shares;
} depthwise_run;

static pte_taps_i8 taps_of(const pte_conv_i8_plan *p) {
  pte_rescale_columns *columns = pte_conv_i8_kept_columns(p);
  return (pte_taps_i8){p->depth, p->channels, columns, (char *)columns + p->column_bytes, p->walk};
}

bool pte_conv_i8_depthwise_keep(const pte_conv_i8_plan *p, pte_pace *pace) {
  const pte_taps_i8 taps = taps_of(p);
  pte_rescale_columns *columns = pte_conv_i8_kept_columns(p);
  for (size_t c = 0; c < p->channels; c += SET) {
    const size_t count = pte_least(SET, p->channels - c);
    if (!pte_pace_go(pace, (int64_t)((p->depth + 4) * SET))) return false;
    for (size_t i = 0; i < SET; i += PTE_PANEL)
      pte_conv_i8_columns(p, c + i, i < count ? pte_least(PTE_PANEL, count - i) : 0,
                          &columns[(c + i) / PTE_PANEL]);
    p->pixels->lay(&taps, c, count, (const int8_t *)p->call->in[1]->data + c * 4 * p->quads);
  }
  return true;
}

/* Where the taps of `pixel` read, and three times more the last. */
static void taps_fill(const depthwise_run *r, const int8_t *image, const pte_conv_pixel *pixel,
                      const int8_t **tap) {
  const pte_conv_i8_plan *p = r->plan;
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  for (int64_t d = 0; d < deep->kernel; d++) {
    int64_t z = pte_conv_place(deep, pixel->at[0], d);
    for (int64_t i = 0; i < high->kernel; i++) {
      int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel->at[1], i);
      for (int64_t j = 0; j < wide->kernel; j++) {
        int64_t x = y < 0 ? -1 : pte_conv_place(wide, pixel->at[2], j);
        int64_t place = ((z * high->in + y) * wide->in + x) * p->w.channels;
        *tap++ = x < 0 ? r->zeros : image + place;
      }
    }
  }
  for (unsigned i = 0; i < 3; i++) tap[i] = tap[-1];
}

/* Pixels side by side whose taps lie `step` further each, some channels at a time. */
static bool taps_run(const depthwise_run *r, pte_pace *pace, const int8_t *const *tap,
                     size_t pixels, size_t step, int8_t *y) {
  const pte_conv_i8_plan *p = r->plan;
  for (size_t c = 0, some; c < p->channels; c += some) {
    int64_t cost = (int64_t)(p->depth * pixels);
    some = (size_t)pte_pace_take(pace, (int64_t)(p->channels - c), cost, SET);
    if (some == 0) return false;
    p->pixels->taps(&r->taps, c, c + some, tap, pixels, step, y);
  }
  return true;
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  const pte_conv_i8_plan *p = r->plan;
  const pte_conv_axis *axis = p->w.axis;
  const int64_t image = axis[0].in * axis[1].in * axis[2].in * p->w.channels;
  const int8_t **tap = (const int8_t **)(void *)(r->shares + p->share_bytes * thread);
  int8_t *y = (int8_t *)p->call->out[0]->data + begin * p->channels;
  pte_pace pace = pte_call_pace(p->call);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, begin);
  for (size_t i = begin, some; i < end; i += some, y += some * p->channels) {
    const int8_t *x = (const int8_t *)p->call->in[0]->data + pixel.batch * image;
    some = pte_most(
        1, pte_least(pte_least(pte_conv_windows_inside(&p->w, &pixel), MOST_PIXELS), end - i));
    if (!pte_pace_go(&pace, (int64_t)p->depth)) return;
    taps_fill(r, x, &pixel, tap);
    if (!taps_run(r, &pace, tap, some, (size_t)axis[2].stride * p->channels, y)) return;
    pixel.at[2] += (int64_t)some - 1; /* they lie in one line */
    pte_conv_pixel_next(&p->w, &pixel);
  }
}

/* Channels first .. end of the windows of a line of y from `pixel` on, `count` of them. */
static bool walk_run(const depthwise_run *r, pte_pace *pace, const pte_conv_pixel *pixel,
                     size_t count, size_t first, size_t end, int8_t *y) {
  const pte_conv_i8_plan *p = r->plan;
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  const int64_t place = pixel->at[2] * wide->stride - wide->begin;
  const int64_t z = pte_conv_place(deep, pixel->at[0], 0);
  pte_walk_i8 w = {.zeros = r->zeros, .outputs = count, .stride = (size_t)wide->stride, .y = y};
  w.from = place < 0 ? -place : 0, w.to = wide->in - place;
  for (int64_t l = 0; l < 3; l++) {
    int64_t at = z < 0 || w.to <= w.from ? -1 : pte_conv_place(high, pixel->at[1], l);
    int64_t line = ((pixel->batch * deep->in + z) * high->in + at) * wide->in + place + w.from;
    w.line[l] = at < 0 ? r->zeros : (const int8_t *)p->call->in[0]->data + line * p->w.channels;
    w.step[l] = at < 0 ? 0 : p->channels;
  }
  for (size_t c = first, some; c < end; c += some) {
    int64_t cost = (int64_t)(p->depth * count);
    some = (size_t)pte_pace_take(pace, (int64_t)(end - c), cost, SET);
    if (some == 0) return false;
    p->pixels->walk(&r->taps, c, c + some, &w);
  }
  return true;
}

/* Lines begin .. end of y. */
static bool walk_lines(const depthwise_run *r, pte_pace *pace, size_t begin, size_t end,
                       size_t first, size_t last) {
  const pte_conv_i8_plan *p = r->plan;
  const size_t width = (size_t)p->w.axis[2].out;
  int8_t *y = (int8_t *)p->call->out[0]->data;
  for (size_t i = begin * width, some; i < end * width; i += some) {
    const pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, i);
    some = pte_least(width - (size_t)pixel.at[2], LONG_LINE);
    if (!walk_run(r, pace, &pixel, some, first, last, y + i * p->channels)) return false;
  }
  return true;
}

/* Items are lines of y. */
static void walk_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  pte_pace pace = pte_call_pace(r->plan->call);
  (void)thread;
  (void)walk_lines(r, &pace, begin, end, 0, r->plan->channels);
}

/* Items are sets of channels. */
static void sets_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  const pte_conv_i8_plan *p = r->plan;
  const size_t lines = p->rows / (size_t)p->w.axis[2].out;
  pte_pace pace = pte_call_pace(p->call);
  (void)thread;
  for (size_t i = begin; i < end; i += GROUP) {
    const size_t first = i * SET, last = pte_least(p->channels, pte_least(end, i + GROUP) * SET);
    if (!walk_lines(r, &pace, 0, lines, first, last)) return;
  }
}

pte_status pte_conv_i8_depthwise(const pte_conv_i8_plan *p) {
  int8_t *zeros = p->call->scratch;
  depthwise_run r = {
      .plan = p, .taps = taps_of(p), .zeros = zeros, .shares = (char *)zeros + p->line_bytes};
  const size_t line = (size_t)p->w.axis[2].out, sets = pte_ceil_div(p->channels, SET);
  const size_t threads = p->call->threads;
  pte_pace pace = pte_call_pace(p->call);
  if (!pte_row_move(&pace, zeros, 1, &(int8_t){(int8_t)p->attrs->x_zero}, 0, (int64_t)p->channels,
                    1))
    return PTE_CANCELLED;
  if (WALKS && p->walk && sets >= MANY_SETS * threads)
    pte_parallel(p->call, sets, pte_ceil_div(sets, threads), sets_task, &r);
  else if (WALKS && p->walk)
    pte_parallel(p->call, p->rows / line, 1 + LINE_WORK / (line * p->channels + 1), walk_task, &r);
  else
    pte_parallel(p->call, p->rows, 1 + 4 * TASK_WORK / (p->depth * p->channels + 1), depthwise_task,
                 &r);
  return PTE_OK;
}
