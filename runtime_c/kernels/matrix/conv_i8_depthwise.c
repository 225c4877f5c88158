/* Depthwise convolutions (conv_quantized_plan.h) of int8, and lines of windows of 3 by 3. */
#include "kernels/matrix/conv_i8_depthwise.h"

#include "core/integer.h"

enum {
  WALKS = !PTE_CONV_SMALL, /* whose variants have none */
  SET = 64,                /* channels of a step */
  LONG_LINE = 1024,        /* windows of a line, where they are many more, */
  LINE_WORK = 8192,        /* of which so many channels are worth a task; */
  MANY_SETS = 3,           /* of a thread: it takes its own, of all lines, */
  GROUP = 8                /* so many at a time: their weights stay in L1 from line to line */
};

static const pte_conv_i8_plan *own_of(const pte_conv_plan *p) { return (const void *)p; }

void pte_conv_i8_taps_open(pte_conv_i8_plan *own) {
  pte_conv_plan *p = &own->shared;
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  own->pixels = pte_depthwise_i8_pick(p->call->cpu);
  own->walk = WALKS && own->pixels->walk != NULL && deep->kernel == 1 && high->kernel == 3 &&
              wide->kernel == 3 && wide->dilation == 1 && wide->spread == 1 && wide->stride <= 2;
  p->set_bytes = PTE_TAPS_BYTES(p->depth);
}

static pte_taps_i8 taps_of(const pte_conv_plan *p) {
  return (pte_taps_i8){p->depth, p->channels, pte_conv_kept_columns(p), pte_conv_kept_weights(p),
                       own_of(p)->walk};
}

static void i8_lay(const pte_conv_plan *p, size_t first, size_t count) {
  const pte_taps_i8 taps = taps_of(p);
  const int8_t *codes = (const int8_t *)p->call->in[1]->data + first * 4 * p->quads;
  own_of(p)->pixels->lay(&taps, first, count, codes);
}

static void i8_taps(const pte_conv_plan *p, size_t first, size_t end, const void *const *tap,
                    size_t pixels, size_t step, char *y) {
  const pte_taps_i8 taps = taps_of(p);
  own_of(p)->pixels->taps(&taps, first, end, (const int8_t *const *)tap, pixels, step, (void *)y);
}

/* --- lines ------------------------------------------------------------------------------------ */

typedef struct lines_run {
  const pte_conv_plan *plan;
  pte_taps_i8 taps;
  const int8_t *zeros; /* a pixel of x_zero */
} lines_run;

/* Channels first .. end of the windows of a line of y from `pixel` on, `count` of them. */
static bool walk_run(const lines_run *r, pte_pace *pace, const pte_conv_pixel *pixel, size_t count,
                     size_t first, size_t end, int8_t *y) {
  const pte_conv_plan *p = r->plan;
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
    own_of(p)->pixels->walk(&r->taps, c, c + some, &w);
  }
  return true;
}

/* Lines begin .. end of y. */
static bool walk_lines(const lines_run *r, pte_pace *pace, size_t begin, size_t end, size_t first,
                       size_t last) {
  const pte_conv_plan *p = r->plan;
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
  const lines_run *r = context;
  pte_pace pace = pte_call_pace(r->plan->call);
  (void)thread;
  (void)walk_lines(r, &pace, begin, end, 0, r->plan->channels);
}

/* Items are sets of channels. */
static void sets_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const lines_run *r = context;
  const pte_conv_plan *p = r->plan;
  const size_t lines = p->rows / (size_t)p->w.axis[2].out;
  pte_pace pace = pte_call_pace(p->call);
  (void)thread;
  for (size_t i = begin; i < end; i += GROUP) {
    const size_t first = i * SET, last = pte_least(p->channels, pte_least(end, i + GROUP) * SET);
    if (!walk_lines(r, &pace, 0, lines, first, last)) return;
  }
}

static bool i8_lines(const pte_conv_plan *p, const void *zeros) {
  lines_run r = {.plan = p, .taps = taps_of(p), .zeros = zeros};
  const size_t line = (size_t)p->w.axis[2].out, sets = pte_ceil_div(p->channels, SET);
  const size_t threads = p->call->threads;
  if (!own_of(p)->walk) return false;
  if (sets >= MANY_SETS * threads)
    pte_parallel(p->call, sets, pte_ceil_div(sets, threads), sets_task, &r);
  else
    pte_parallel(p->call, p->rows / line, 1 + LINE_WORK / (line * p->channels + 1), walk_task, &r);
  return true;
}

const pte_conv_taps pte_conv_i8_taps = {
    .set = SET, .more = 3, .lay = i8_lay, .run = i8_taps, .lines = WALKS ? i8_lines : NULL};
