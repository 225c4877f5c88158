/* conv_depthwise: y[b, o, c] = sum over taps t, row-major, of x[b, o * stride + t * dilation -
 * begin, c] * w[c, t] (+ bias[c]), then the epilogue. x dense, y of any strides, channels last; w
 * as taps [c/16][t][16]; no aliasing. Each sum is one fused chain from +0 in which padding takes
 * part as zeros, never skipped.
 *
 * Pixels of a line whose windows lie between the ends of x's lines go together: each tap of theirs
 * is one address and a step. The others, at the left and right edges, go one by one. */
#include <string.h>

#include "core/size.h"
#include "gen/ops.h"
#include "kernels/matrix/conv_window.h"
#include "kernels/matrix/epilogue.h"
#include "kernels/matrix/finish.h"
#include "kernels/matrix/panels.h"
#include "kernels/moving/place.h"

enum {
  BAND = 32768,      /* elements of a band of pixels, about: a part of L2 */
  GROUP = 32,        /* channels of a group, at least and a multiple of that */
  TASK_WORK = 65536, /* products that are worth a band */
  FEW_TAPS = 4096    /* windows of more go one by one, by channels: eight pixels, a group and these
                        are PTE_CHUNK steps */
};

typedef struct depthwise_plan {
  const pte_call *call;
  const pte_depthwise_f32 *kernel;
  pte_conv_window w;
  size_t pixels, channels, taps, bands, band_unit, band_pixels;
  size_t lines, inside[2]; /* of a window; pixels of a line from .. to that go together */
  float *out;
  size_t out_stride;
  const pte_tensor *place; /* NULL, or where results go that are not even */
  /* scratch: the epilogue's, one pixel of zeros, and for each thread addresses, steps and a block
   */
  uint64_t epilogue_bytes, zeros_bytes, table_bytes, share_bytes;
  const float *zeros;
  char *shares;
  pte_finish_f32 finish;
  const pte_engine *epilogue; /* NULL: the finish is all */
} depthwise_plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

static pte_conv_lists lists_of(const pte_conv_depthwise_attrs *a) {
  return (pte_conv_lists){
      a->kernel, a->stride, a->dilation, a->begin, a->end, {0, 0}
  };
}

/* Bands of pixels, about four for each thread where they are worth it; of whole lines, where there
 * are enough. */
static void plan_bands(depthwise_plan *p, size_t threads) {
  size_t work = p->channels * p->taps * p->pixels / TASK_WORK + 1;
  size_t wanted = threads <= 1 ? 1 : least(4 * threads, work);
  p->bands = most(ceil_div(p->pixels, BAND / (p->channels + 1) + 1), 1);
  p->bands = ceil_div(p->bands, wanted) * wanted;
  size_t width = most((size_t)p->w.axis[2].out, 1);
  p->band_unit = p->pixels / width >= p->bands ? width : 1;
  p->band_pixels = ceil_div(p->pixels / p->band_unit, p->bands) * p->band_unit;
}

static void plan_inside(depthwise_plan *p) {
  const pte_conv_axis *wide = &p->w.axis[2];
  int64_t from = wide->begin <= 0 ? 0 : (wide->begin + wide->stride - 1) / wide->stride;
  int64_t last = wide->in - 1 - (wide->kernel - 1) * wide->dilation + wide->begin;
  int64_t to = last < 0 || p->taps > FEW_TAPS ? 0 : last / wide->stride + 1;
  if (to > wide->out) to = wide->out;
  p->inside[0] = (size_t)(from < to ? from : to), p->inside[1] = (size_t)to;
  p->lines = (size_t)(p->w.axis[0].kernel * p->w.axis[1].kernel);
}

static pte_status plan_of(const pte_call *call, depthwise_plan *p) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  const pte_conv_lists lists = lists_of(a);
  const pte_tensor *y = call->out[0];
  *p = (depthwise_plan){.call = call, .kernel = pte_depthwise_f32_pick(call->cpu)};
  p->w = pte_conv_window_of(call, &lists);
  p->pixels = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  p->channels = (size_t)p->w.channels;
  p->taps = (size_t)call->in[1]->shape[1];
  plan_bands(p, call->threads);
  plan_inside(p);
  p->out = y->data;
  if (!pte_place_even(y, &p->out_stride)) p->place = y, p->out_stride = p->channels;
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &p->epilogue_bytes));
  uint64_t block = 0;
  bool fits = pte_mul(p->channels, sizeof(float), &p->zeros_bytes) &&
              pte_mul(p->place == NULL ? 0 : p->band_pixels, p->zeros_bytes, &block) &&
              pte_align(block, 64, &block) && pte_align(p->zeros_bytes, 64, &p->zeros_bytes) &&
              pte_mul(p->taps, sizeof(float *) + sizeof(size_t), &p->table_bytes) &&
              pte_align(p->table_bytes, 64, &p->table_bytes) &&
              pte_add(p->table_bytes, block, &p->share_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

/* Pixels first .. first + count that are computed together, into the result or the thread's block,
 * with room for the addresses and steps of a window's taps. */
typedef struct band {
  size_t first, count;
  float *out;
  size_t out_stride;
  const float **line;
  size_t *step;
} band;

/* A band's part of one line of y: pixels from .. end of the line, the first of them number `at` of
 * the band. Begin with `pixel` alone. */
typedef struct piece {
  pte_conv_pixel pixel;
  size_t at, from, end;
} piece;

static piece piece_first(const depthwise_plan *p, const band *k) {
  piece r = {.pixel = pte_conv_pixel_at(&p->w, k->first)};
  r.from = (size_t)r.pixel.at[2];
  r.end = least((size_t)p->w.axis[2].out, r.from + k->count);
  return r;
}

/* false: that was the last one. */
static bool piece_next(const depthwise_plan *p, const band *k, piece *r) {
  r->at += r->end - r->from;
  if (r->at == k->count) return false;
  r->pixel.at[2] = p->w.axis[2].out - 1;
  pte_conv_pixel_next(&p->w, &r->pixel);
  r->from = 0, r->end = least((size_t)p->w.axis[2].out, k->count - r->at);
  return true;
}

/* Whether the variant takes this part of a line with its edges. */
static bool is_whole(const depthwise_plan *p, const piece *r) {
  const pte_conv_axis *wide = &p->w.axis[2];
  const int64_t end = (wide->out - 1) * wide->stride + wide->kernel - wide->begin;
  return p->kernel->whole != NULL && p->taps <= FEW_TAPS && r->end - r->from >= PTE_WHOLE &&
         wide->kernel == 3 && wide->dilation == 1 && wide->stride <= 2 && wide->begin <= 1 &&
         end <= wide->in + 1;
}

/* Where the lines of a window start that reads its first column at `place`; or, where `place` is
 * none, each tap of the window of pixel `at`. */
static size_t addresses_fill(const depthwise_plan *p, const band *k, const piece *r, int64_t place,
                             bool taps, int64_t at) {
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  const int64_t channels = p->w.channels, columns = taps ? wide->kernel : 1;
  const float *x = p->call->in[0]->data;
  size_t count = 0;
  for (int64_t d = 0; d < deep->kernel; d++) {
    int64_t z = pte_conv_place(deep, r->pixel.at[0], d);
    for (int64_t i = 0; i < high->kernel; i++) {
      int64_t y = z < 0 ? -1 : pte_conv_place(high, r->pixel.at[1], i);
      int64_t line = ((r->pixel.batch * deep->in + z) * high->in + y) * wide->in;
      for (int64_t j = 0; j < columns; j++, count++) {
        if (taps) place = pte_conv_place(wide, at, j);
        bool read = y >= 0 && place >= 0;
        k->line[count] = read ? x + (line + place) * channels : p->zeros;
        k->step[count] = read ? (size_t)channels : 0;
      }
    }
  }
  return count;
}

/* Sums of `pixels` from number `at` of the band on. */
static bool sums_run(const depthwise_plan *p, pte_pace *pace, const band *k, size_t at,
                     pte_depthwise_row_f32 *s) {
  const pte_finish_f32 finish = pte_finish_at(&p->finish, k->first + at, 0);
  s->finish = &finish, s->weight = p->call->in[1]->data;
  s->stride = (size_t)p->w.axis[2].stride, s->dilation = (size_t)p->w.axis[2].dilation;
  s->out = k->out + at * k->out_stride, s->out_stride = k->out_stride;
  if (!pte_pace_go(pace, (int64_t)(s->pixels * (s->end - s->first) * p->taps))) return false;
  if (s->width > 0) p->kernel->whole(s);
  else p->kernel->row(s);
  return true;
}

/* Channels first .. end of pieces of lines: the pixels that go together. */
static bool inside_run(const depthwise_plan *p, pte_pace *pace, const band *k, size_t first,
                       size_t end) {
  const pte_conv_axis *wide = &p->w.axis[2];
  const size_t reach = most(PTE_CHUNK / (GROUP * p->taps), 8);
  piece r = piece_first(p, k);
  do {
    const bool whole = is_whole(p, &r);
    const size_t to = whole ? r.end : least(r.end, p->inside[1]);
    for (size_t from = whole ? r.from : most(r.from, p->inside[0]), next; from < to; from = next) {
      next = to - from >= reach + PTE_WHOLE ? from + reach : to;
      pte_depthwise_row_f32 s = {.line = k->line, .step = k->step, .first = first, .end = end};
      s.pixels = next - from, s.taps = (size_t)wide->kernel;
      s.column = (ptrdiff_t)((int64_t)from * wide->stride - wide->begin);
      if (whole) s.width = (size_t)wide->in;
      s.lines = addresses_fill(p, k, &r, whole ? 0 : (int64_t)s.column, false, 0);
      if (!sums_run(p, pace, k, r.at + from - r.from, &s)) return false;
    }
  } while (piece_next(p, k, &r));
  return true;
}

/* All channels of the other pixels. */
static bool edges_run(const depthwise_plan *p, pte_pace *pace, const band *k) {
  const size_t some = most(PTE_CHUNK / p->taps / PTE_PANEL, 1) * PTE_PANEL;
  piece r = piece_first(p, k);
  do {
    for (size_t i = is_whole(p, &r) ? r.end : r.from; i < r.end; i++) {
      if (i == most(p->inside[0], r.from) && i < p->inside[1]) i = least(p->inside[1], r.end);
      if (i == r.end) break;
      pte_depthwise_row_f32 s = {.line = k->line, .step = k->step, .taps = 1, .pixels = 1};
      s.lines = addresses_fill(p, k, &r, 0, true, (int64_t)i);
      for (s.first = 0; s.first < p->channels; s.first = s.end) {
        s.end = least(p->channels, s.first + some);
        if (!sums_run(p, pace, k, r.at + i - r.from, &s)) return false;
      }
    }
  } while (piece_next(p, k, &r));
  return true;
}

/* Channels that go together: as many as a look at the watch allows. What fewer of them save in L1
 * is less than what each piece of a line costs anew. */
static size_t group_of(const depthwise_plan *p, const band *k) {
  const size_t pixels = least((size_t)p->w.axis[2].out, k->count);
  return most(PTE_CHUNK / p->taps / pixels / GROUP, 1) * GROUP;
}

static bool band_run(const depthwise_plan *p, pte_pace *pace, const band *k) {
  const size_t group = group_of(p, k);
  for (size_t c = 0; c < p->channels; c += group)
    if (!inside_run(p, pace, k, c, least(p->channels, c + group))) return false;
  return edges_run(p, pace, k);
}

/* What follows the sums: the epilogue, dense rows as one span, and the way to a place that is not
 * even. */
static bool band_finish(const depthwise_plan *p, pte_pace *pace, const band *k, uint32_t thread) {
  size_t rows = k->count, span = p->channels;
  if (k->out_stride == p->channels) rows = 1, span = k->count * p->channels;
  for (size_t m = 0; p->epilogue != NULL && m < rows; m++) {
    if (!pte_pace_go(pace, (int64_t)span * p->epilogue->step_count)) return false;
    pte_epilogue_run(p->epilogue, thread, (int64_t)(k->first + m), 0, (int64_t)span,
                     k->out + m * k->out_stride);
  }
  for (size_t at = 0, count; p->place != NULL && at < p->channels; at += count) {
    count = (size_t)pte_pace_take(pace, (int64_t)(p->channels - at), (int64_t)k->count, 16);
    if (count == 0) return false;
    pte_place_put(p->place, k->first, k->count, at, count, k->out + at, k->out_stride);
  }
  return true;
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_plan *p = context;
  char *scratch = p->shares + p->share_bytes * thread;
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const size_t units = p->pixels / p->band_unit;
    band k = {.first = units * i / p->bands * p->band_unit, .out_stride = p->out_stride};
    k.count = units * (i + 1) / p->bands * p->band_unit - k.first;
    k.line = (const float **)(void *)scratch;
    k.step = (size_t *)(void *)(scratch + p->taps * sizeof(float *));
    k.out = p->place != NULL ? (float *)(void *)(scratch + p->table_bytes)
                             : p->out + k.first * p->out_stride;
    if (k.count == 0) continue;
    if (!band_run(p, &pace, &k) || !band_finish(p, &pace, &k, thread)) return;
  }
}

static pte_status conv_depthwise_scratch(const pte_call *call, uint64_t *out_bytes) {
  depthwise_plan p;
  uint64_t shares, bytes;
  PTE_TRY(plan_of(call, &p));
  bool fits = pte_mul(p.share_bytes, call->threads, &shares) &&
              pte_add(p.zeros_bytes, p.epilogue_bytes, &bytes) && pte_add(bytes, shares, out_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_depthwise_run(const pte_call *call) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  depthwise_plan p;
  PTE_TRY(plan_of(call, &p));
  if (p.pixels == 0 || p.channels == 0) return PTE_OK;
  char *zeros = (char *)call->scratch + p.epilogue_bytes;
  pte_pace pace = pte_call_pace(call);
  static const float zero = 0;
  if (!pte_row_move(&pace, zeros, 1, &zero, 0, (int64_t)p.zeros_bytes / 4, 4)) return PTE_CANCELLED;
  p.zeros = (const float *)(const void *)zeros;
  p.shares = zeros + p.zeros_bytes;
  if (!pte_finish_of(call, a->steps, 3, &p.finish))
    p.epilogue = pte_epilogue_open(call, a->steps, 3, call->scratch);
  pte_parallel(call, p.bands, 1, depthwise_task, &p);
  return pte_epilogue_close(p.epilogue, call);
}

const pte_kernel pte_conv_depthwise_kernel = {.scratch = conv_depthwise_scratch,
                                              .run = conv_depthwise_run};
