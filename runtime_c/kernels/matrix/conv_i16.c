/* conv_i16: y[b, o, n] = rescale(bias[n] + sum over taps t, then channels c of the group, of x[b, o
 * * stride + t * dilation - begin, c] * w[n, t, c]), int16 in and out, w int8 in panels as of
 * conv_i8. x and y dense, channels last; no aliasing. Padding is x_zero.
 *
 * Sums wrap in int32. Where the program says `wide` they are exact: parts of K that int32 holds
 * whatever the data are added in int64, which saturates to int32 in the end.
 *
 * Rows of windows are gathered a block at a time, unless they lie in x as they are, and each set of
 * panels passes over them while they are in the cache. */
#include "core/integer.h"
#include "core/machine.h"
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/gemm_int8/gemm_i16.h"
#include "kernels/panels.h"
#include "kernels/requantize/rescale_i16.h"
#include "kernels/requantize/shifts.h"
#include "kernels/window/conv_gather.h"

enum {
#ifdef PTE_SMALL_BUFFERS /* a machine with some tens of KB of memory */
  BLOCK_WORDS = 512,
  KEEPS = 0,
#else
  BLOCK_WORDS = 131072, /* of a block's rows, about */
  KEEPS = 1,            /* columns of all panels */
#endif
  BLOCK_ROWS = 192,
  EXACT_QUADS = 127, /* whose products int32 holds, any of them */
  TASK_WORK = 65536, /* products that are worth a task, in sixteens */
  MANY_TAPS = 8192,  /* a depthwise convolution has fewer (as the row says) */
  MOST_PIXELS = 64   /* that it takes at a time */
};

typedef struct conv_i16_plan {
  const pte_call *call;
  const pte_conv_i16_attrs *attrs;
  const pte_gemm_i16 *kernel;
  pte_conv_window w;
  size_t groups, rows, columns, channels, depth, quads, panels; /* but for rows, of one group */
  size_t block_rows, row_blocks, column_blocks;
  size_t row; /* elements between rows of a block */
  bool in_place, depthwise;
  uint64_t share_bytes;                /* a thread's */
  uint64_t weight_bytes, column_bytes; /* kept behind the plan, columns first */
  uint64_t zeros_bytes;                /* depthwise: a pixel of x_zero, before the shares */
} conv_i16_plan;

static pte_rescale_columns *kept_columns(const conv_i16_plan *p) {
  return pte_call_behind(p->call, PTE_KEPT_BYTES(*p));
}

static bool plan_of(const pte_call *call, conv_i16_plan *p) {
  const pte_conv_i16_attrs *a = call->attrs;
  const pte_conv_lists lists = PTE_CONV_LISTS(a, PTE_NO_SPREAD);
  const pte_tensor *y = call->out[0], *w = call->in[1];
  *p = (conv_i16_plan){.call = call, .attrs = a, .kernel = pte_gemm_i16_pick(call->cpu)};
  p->w = pte_conv_window_of(call, &lists);
  p->groups = (size_t)a->groups;
  p->rows = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  p->columns = (size_t)w->shape[0] / p->groups;
  p->channels = (size_t)p->w.channels / p->groups;
  p->depth = (size_t)w->shape[1];
  p->quads = pte_ceil_div(p->depth, 4);
  p->panels = pte_panel_count(p->columns);
  p->depthwise = p->groups > 1 && p->channels == 1 && p->columns == 1 && p->depth < MANY_TAPS;
  if (p->depthwise) {
    const uint64_t blocks = pte_ceil_div(p->groups, PTE_BLOCK_I16);
    p->channels = p->groups, p->groups = 1;
    p->share_bytes = (p->depth + 1) * sizeof(int16_t *) / 64 * 64 + 64;
    p->column_bytes = blocks * (PTE_BLOCK_I16 / PTE_PANEL) * sizeof(pte_rescale_columns);
    return pte_align(p->column_bytes, 64, &p->column_bytes) &&
           pte_mul(blocks, PTE_BLOCK_I16 * sizeof(int16_t), &p->zeros_bytes) &&
           pte_mul(blocks, (p->depth + 1) / 2 * 2 * PTE_BLOCK_I16 * sizeof(int16_t),
                   &p->weight_bytes);
  }
  p->in_place = p->depth % 4 == 0 && pte_conv_is_matrix(&p->w);
  p->row = 4 * p->quads + 16;
  if (pte_machine_same_set(pte_call_machine(call), p->row * sizeof(int16_t))) p->row += 32;
  const size_t threads = call->threads <= 1 ? 1 : 4 * (size_t)call->threads;
  const size_t work =
      pte_tasks_worth(p->depth * PTE_PANEL * p->rows, p->panels * p->groups, TASK_WORK);
  const size_t wanted = pte_least(threads, work + 1);
  size_t fit = pte_most(BLOCK_WORDS / p->row, PTE_STRIP);
  fit = pte_least(fit,
                  p->in_place ? pte_most(pte_ceil_div(p->rows, wanted), BLOCK_ROWS) : BLOCK_ROWS);
  p->row_blocks = pte_most(pte_ceil_div(p->rows, fit), 1);
  p->block_rows = pte_ceil_div(p->rows, p->row_blocks);
  p->column_blocks =
      pte_most(1, pte_least(pte_ceil_div(p->panels, PTE_BESIDE),
                            pte_ceil_div(wanted, pte_most(1, p->row_blocks * p->groups))));
  return pte_mul(KEEPS ? p->panels : 0, p->groups * sizeof(pte_rescale_columns),
                 &p->column_bytes) &&
         pte_mul(p->row * sizeof(int16_t), p->in_place ? 0 : p->block_rows, &p->share_bytes) &&
         pte_align(p->share_bytes, 64, &p->share_bytes);
}

/* --- rows ------------------------------------------------------------------------------------- */

static pte_conv_gather gather_of(const conv_i16_plan *p) {
  return (pte_conv_gather){&p->w, p->channels, sizeof(int16_t), p->attrs->x_zero};
}

static int64_t image_words(const conv_i16_plan *p) {
  return p->w.axis[0].in * p->w.axis[1].in * p->w.axis[2].in * p->w.channels;
}

/* Rows first .. first + count of a group. */
static bool rows_fill(const conv_i16_plan *p, pte_pace *pace, size_t group, size_t first,
                      size_t count, int16_t *to) {
  const int16_t *x = (const int16_t *)p->call->in[0]->data + group * p->channels;
  const pte_conv_gather gather = gather_of(p);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, first);
  for (size_t r = 0; r < count && p->depth > 0; r++, to += p->row) {
    if (!pte_pace_go(pace, (int64_t)p->depth)) return false;
    memset(to + 4 * p->quads - 4, 0, 4 * sizeof *to);
    pte_conv_gather_window(&gather, (const char *)(x + pixel.batch * image_words(p)), &pixel,
                           (char *)to);
    pte_conv_pixel_next(&p->w, &pixel);
  }
  return true;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Columns `column` .. + `count` of all groups. */
static void columns_read(const conv_i16_plan *p, size_t column, size_t count,
                         pte_rescale_columns *c) {
  const pte_conv_i16_attrs *a = p->attrs;
  const pte_tensor *const *in = p->call->in;
  int8_t shift[PTE_PANEL];
  memset(c, 0, sizeof *c);
  pte_shifts_read((const int8_t *)in[4]->data + column, count, shift);
  c->zero = (int32_t)a->y_zero, c->low = (int32_t)a->low, c->high = (int32_t)a->high;
  if (count > 0) {
    memcpy(c->bias, (const int32_t *)in[2]->data + column, count * sizeof *c->bias);
    memcpy(c->multiplier, (const int32_t *)in[3]->data + column, count * sizeof *c->multiplier);
  }
  pte_rescale_i16_complete(c, shift);
}

/* Panels side by side of a group, and what follows their sums. */
typedef struct panel_set {
  size_t column, count; /* of the first panel; panels that exist */
  pte_tile_i16 tile;
  pte_rescale_columns columns[PTE_BESIDE];
  _Alignas(64) int32_t start[PTE_BESIDE][PTE_PANEL];
  int32_t sum[PTE_STRIP * PTE_BESIDE][PTE_PANEL];
  int64_t exact[PTE_STRIP * PTE_BESIDE][PTE_PANEL];
} panel_set;

static void panels_open(const conv_i16_plan *p, size_t group, size_t panel, panel_set *s) {
  s->count = pte_least(p->kernel->most_panels, p->panels - panel);
  s->column = panel * PTE_PANEL;
  memset(s->start, 0, sizeof s->start);
  for (size_t i = 0; i < s->count; i++) {
    const size_t column = s->column + i * PTE_PANEL;
    pte_rescale_columns *c = &s->columns[i];
    if (KEEPS) *c = kept_columns(p)[group * p->panels + panel + i];
    else columns_read(p, group * p->columns + column, pte_least(PTE_PANEL, p->columns - column), c);
    if (!p->attrs->wide) memcpy(s->start[i], c->bias, sizeof c->bias);
  }
  if (s->count < p->kernel->most_panels) s->columns[1] = s->columns[0];
  const size_t bytes = p->quads * (4 * PTE_PANEL);
  s->tile = (pte_tile_i16){
      .panel = (const int8_t *)p->call->in[1]->data + (group * p->panels + panel) * bytes,
      .panel_bytes = s->count > 1 ? bytes : 0, /* or the one again */
      .row = p->in_place ? (size_t)p->w.channels : p->row,
      .sum = s->sum,
      .y_stride = p->columns * p->groups,
      .lanes = pte_least(p->columns - s->column, s->count * PTE_PANEL),
  };
}

/* Bias and sums, saturated. */
static void exact_take(const panel_set *s, size_t sums, size_t panels, int32_t (*to)[PTE_PANEL]) {
  for (size_t i = 0; i < sums; i++)
    for (size_t n = 0; n < PTE_PANEL; n++) {
      const int64_t v = s->exact[i][n] + s->columns[i % panels].bias[n];
      to[i][n] = (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
    }
}

/* Rows from x on, as far as one goes at a time. */
static bool rows_run(const conv_i16_plan *p, pte_pace *pace, panel_set *s, size_t rows,
                     const int16_t *x, int16_t *y) {
  const size_t beside = p->kernel->most_panels;
  const size_t part = p->attrs->wide ? EXACT_QUADS : PTE_TILE_QUADS;
  pte_tile_i16 t = s->tile;
  t.x = x, t.y = y, t.start = (const int32_t (*)[PTE_PANEL])s->start;
  if (p->attrs->wide) memset(s->exact, 0, sizeof s->exact);
  for (size_t q = 0; q == 0 || q < p->quads; q += part) {
    t.quads = pte_least(p->quads - q, part);
    if (!pte_pace_go(pace, (int64_t)(rows * s->count * PTE_PANEL * (t.quads + 1)))) return false;
    const bool last = q + t.quads == p->quads && !p->attrs->wide;
    t.columns = last ? s->columns : NULL;
    p->kernel->tile(rows, &t);
    t.x += 4 * t.quads, t.panel += t.quads * (4 * PTE_PANEL);
    if (p->attrs->wide)
      for (size_t i = 0; i < rows * beside; i++)
        for (size_t n = 0; n < PTE_PANEL; n++) s->exact[i][n] += s->sum[i][n];
    else t.start = (const int32_t (*)[PTE_PANEL])s->sum, t.start_row = beside;
  }
  if (p->attrs->wide) {
    exact_take(s, rows * beside, beside, s->sum);
    t.quads = 0, t.start = (const int32_t (*)[PTE_PANEL])s->sum, t.start_row = beside;
    t.columns = s->columns;
    p->kernel->tile(rows, &t);
  }
  return true;
}

/* All rows of a block times panels from `panel` on; columns past the last are in the panel only. */
static bool panels_run(const conv_i16_plan *p, pte_pace *pace, size_t group, size_t first,
                       size_t rows, size_t panel, const int16_t *x) {
  const size_t all = p->columns * p->groups, tall = p->kernel->most_rows;
  panel_set s;
  panels_open(p, group, panel, &s);
  int16_t *y = (int16_t *)p->call->out[0]->data + first * all + group * p->columns + s.column;
  for (size_t strip; rows > 0; rows -= strip, x += strip * s.tile.row, y += strip * all) {
    strip = rows >= tall ? tall : rows >= tall / 2 ? tall / 2 : 1;
    if (!rows_run(p, pace, &s, strip, x, y)) return false;
  }
  return true;
}

static void conv_i16_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const conv_i16_plan *p = context;
  const size_t beside = p->kernel->most_panels, sets = pte_ceil_div(p->panels, beside);
  int16_t *block = (int16_t *)(void *)((char *)p->call->scratch + p->share_bytes * thread);
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const size_t band = i / p->column_blocks, part = i % p->column_blocks;
    const size_t group = band / p->row_blocks, first = band % p->row_blocks * p->block_rows;
    if (first >= p->rows) continue; /* the blocks before took all */
    const size_t rows = pte_least(p->block_rows, p->rows - first);
    const int16_t *x = block;
    if (p->in_place)
      x = (const int16_t *)p->call->in[0]->data + first * (size_t)p->w.channels + group * p->depth;
    else if (!rows_fill(p, &pace, group, first, rows, block)) return;
    const size_t last = sets * (part + 1) / p->column_blocks;
    for (size_t set = sets * part / p->column_blocks; set < last; set++)
      if (!panels_run(p, &pace, group, first, rows, set * beside, x)) return;
  }
}

/* --- depthwise -------------------------------------------------------------------------------- */

typedef struct depthwise_run {
  const conv_i16_plan *plan;
  pte_taps_i16 taps;
  const int16_t *zeros; /* a pixel of x_zero */
  char *shares;
} depthwise_run;

/* Weights of `count` channels from c on, of one block of the variant. */
static void weights_lay(const conv_i16_plan *p, size_t c, size_t count, int16_t *to) {
  const size_t block = p->kernel->block, even = p->depth + p->depth % 2;
  memset(to, 0, even * block * sizeof *to);
  for (size_t i = 0; i < count; i++) {
    const int8_t *code = (const int8_t *)p->call->in[1]->data +
                         ((c + i) / PTE_PANEL * p->quads * PTE_PANEL + (c + i) % PTE_PANEL) * 4;
    for (size_t k = 0; k < p->depth; k++)
      to[pte_tap_word(p->kernel->pairs, block, k, i)] = code[k / 4 * (4 * PTE_PANEL) + k % 4];
  }
}

static bool weights_fill(const conv_i16_plan *p, pte_pace *pace, int16_t *weight,
                         pte_rescale_columns *columns) {
  const size_t block = p->kernel->block, even = p->depth + p->depth % 2;
  for (size_t c = 0; c < p->channels; c += block, weight += even * block) {
    const size_t count = pte_least(block, p->channels - c);
    if (!pte_pace_go(pace, (int64_t)((p->depth + 4) * block))) return false;
    for (size_t i = 0; i < block; i += PTE_PANEL, columns++)
      columns_read(p, c + i, i < count ? pte_least(PTE_PANEL, count - i) : 0, columns);
    weights_lay(p, c, count, weight);
  }
  return true;
}

/* Where the taps of `pixel` read, and once more the last. */
static void taps_fill(const depthwise_run *r, const int16_t *image, const pte_conv_pixel *pixel,
                      const int16_t **tap) {
  const conv_i16_plan *p = r->plan;
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  for (int64_t d = 0; d < deep->kernel; d++) {
    const int64_t z = pte_conv_place(deep, pixel->at[0], d);
    for (int64_t i = 0; i < high->kernel; i++) {
      const int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel->at[1], i);
      for (int64_t j = 0; j < wide->kernel; j++) {
        const int64_t x = y < 0 ? -1 : pte_conv_place(wide, pixel->at[2], j);
        const int64_t place = ((z * high->in + y) * wide->in + x) * p->w.channels;
        *tap++ = x < 0 ? r->zeros : image + place;
      }
    }
  }
  tap[0] = tap[-1];
}

/* Channels first .. end of a pixel, exact. */
static void taps_exact(const depthwise_run *r, size_t first, size_t end, const int16_t *const *tap,
                       size_t at, int16_t *y) {
  const pte_taps_i16 *t = &r->taps;
  const pte_gemm_i16 *kernel = r->plan->kernel;
  const size_t block = kernel->block, even = t->taps + t->taps % 2;
  for (size_t c = first; c < end; c++) {
    const pte_rescale_columns *columns = t->columns + c / PTE_PANEL;
    const int16_t *weight = t->weight + c / block * block * even;
    int64_t v = columns->bias[c % PTE_PANEL];
    for (size_t k = 0; k < t->taps; k++)
      v += tap[k][at + c] * weight[pte_tap_word(kernel->pairs, block, k, c % block)];
    v = v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v;
    y[c] = pte_rescale_i16((int32_t)v, columns, c % PTE_PANEL);
  }
}

/* Pixels side by side whose taps lie `step` further each, some channels at a time. */
static bool taps_run(const depthwise_run *r, pte_pace *pace, const int16_t *const *tap,
                     size_t pixels, size_t step, int16_t *y) {
  const conv_i16_plan *p = r->plan;
  for (size_t c = 0, some; c < p->channels; c += some) {
    const int64_t cost = (int64_t)(p->depth * pixels);
    some = (size_t)pte_pace_take(pace, (int64_t)(p->channels - c), cost, PTE_BLOCK_I16);
    if (some == 0) return false;
    if (!p->attrs->wide) p->kernel->taps(&r->taps, c, c + some, tap, pixels, step, y);
    else
      for (size_t i = 0; i < pixels; i++)
        taps_exact(r, c, c + some, tap, i * step, y + i * p->channels);
  }
  return true;
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  const conv_i16_plan *p = r->plan;
  const int16_t **tap = (const int16_t **)(void *)(r->shares + p->share_bytes * thread);
  int16_t *y = (int16_t *)p->call->out[0]->data + begin * p->channels;
  pte_pace pace = pte_call_pace(p->call);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, begin);
  for (size_t i = begin, some; i < end; i += some, y += some * p->channels) {
    const int16_t *x = (const int16_t *)p->call->in[0]->data + pixel.batch * image_words(p);
    some = pte_most(
        1, pte_least(pte_least(pte_conv_windows_inside(&p->w, &pixel), MOST_PIXELS), end - i));
    if (!pte_pace_go(&pace, (int64_t)p->depth)) return;
    taps_fill(r, x, &pixel, tap);
    if (!taps_run(r, &pace, tap, some, (size_t)p->w.axis[2].stride * p->channels, y)) return;
    pixel.at[2] += (int64_t)some - 1; /* they lie in one line */
    pte_conv_pixel_next(&p->w, &pixel);
  }
}

static const int16_t *kept_weights(const conv_i16_plan *p) {
  return (const int16_t *)(const void *)((char *)kept_columns(p) + p->column_bytes);
}

static pte_status run_depthwise(const conv_i16_plan *p, pte_pace *pace) {
  int16_t *zeros = p->call->scratch;
  depthwise_run r = {
      .plan = p,
      .taps = {kept_columns(p), kept_weights(p), p->depth, p->channels},
      .zeros = zeros,
      .shares = (char *)zeros + p->zeros_bytes
  };
  const pte_conv_gather gather = gather_of(p);
  for (size_t c = 0, some; c < p->channels; c += some) {
    some = (size_t)pte_pace_take(pace, (int64_t)(p->channels - c), 1, 1);
    if (some == 0) return PTE_CANCELLED;
    (void)pte_conv_gather_padding(&gather, some, (char *)(zeros + c));
  }
  pte_parallel(p->call, p->rows, 1 + 4 * TASK_WORK / (p->depth * p->channels + 1), depthwise_task,
               &r);
  return PTE_OK;
}

/* --- the operator ----------------------------------------------------------------------------- */

static pte_status conv_i16_needs(const pte_call *call, pte_needs *out) {
  conv_i16_plan p;
  const bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, &out->scratch) &&
                    pte_add(out->scratch, p.zeros_bytes, &out->scratch) &&
                    pte_add(p.weight_bytes, p.column_bytes, &out->kept) &&
                    pte_add(out->kept, PTE_KEPT_BYTES(p), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static bool columns_keep(const conv_i16_plan *p, pte_pace *pace) {
  pte_rescale_columns *c = kept_columns(p);
  for (size_t group = 0; KEEPS && group < p->groups; group++)
    for (size_t column = 0; column < p->columns; column += PTE_PANEL, c++) {
      if (!pte_pace_go(pace, 4 * PTE_PANEL)) return false;
      columns_read(p, group * p->columns + column, pte_least(PTE_PANEL, p->columns - column), c);
    }
  return true;
}

static pte_status conv_i16_keep(const pte_call *call) {
  conv_i16_plan *p = call->kept;
  pte_pace pace = pte_call_pace(call);
  if (!plan_of(call, p)) return PTE_NO_MEMORY;
  PTE_TRY(pte_shifts_check(call, &pace));
  if (p->rows == 0 || p->columns == 0) return PTE_OK;
  pte_rescale_columns *columns = kept_columns(p);
  const bool kept =
      p->depthwise ? weights_fill(p, &pace, (void *)((char *)columns + p->column_bytes), columns)
                   : columns_keep(p, &pace);
  return kept ? PTE_OK : PTE_CANCELLED;
}

static pte_status conv_i16_run(const pte_call *call) {
  conv_i16_plan *p = call->kept;
  pte_pace pace = pte_call_pace(call);
  p->call = call;
  if (p->rows == 0 || p->columns == 0) return PTE_OK;
  if (p->depthwise) return run_depthwise(p, &pace);
  pte_parallel(call, p->groups * p->row_blocks * p->column_blocks, 1, conv_i16_task, p);
  return PTE_OK;
}

const pte_kernel pte_conv_i16_kernel = {.needs = conv_i16_needs,
                                        .keep = conv_i16_keep,
                                        .run = conv_i16_run,
                                        .reads = 0x1e /* all but x */};
