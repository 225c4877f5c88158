/* conv_i16: convolutions (conv_quantized_plan.h) of int16 in and out.
 *
 * Sums wrap in int32. Where the program says `wide` they are exact: parts of K that int32 holds
 * whatever the data are added in int64, which saturates to int32 in the end. */
#include <string.h>

#include "core/integer.h"
#include "kernels/gemm_int8/gemm_i16.h"
#include "kernels/gemm_int8/gemm_static_lines.h"
#include "kernels/matrix/conv_quantized.h"
#include "kernels/panels.h"
#include "kernels/requantize/rescale_i16.h"

enum { EXACT_QUADS = 127 /* whose products int32 holds, any of them */ };

typedef struct conv_i16_plan {
  pte_conv_plan shared;
  const pte_gemm_i16 *kernel;
  bool wide;
} conv_i16_plan;

static const conv_i16_plan *own_of(const pte_conv_plan *p) { return (const void *)p; }

static void i16_open(pte_conv_plan *p) {
  conv_i16_plan *own = (void *)p;
  own->kernel = pte_gemm_i16_pick(p->call->cpu);
  own->wide = ((const pte_conv_i16_attrs *)p->call->attrs)->wide != 0;
  p->plan_bytes = PTE_KEPT_BYTES(*own);
  p->most_panels = own->kernel->most_panels, p->widened = sizeof(int16_t);
  p->unit_rows = PTE_TALL; /* whole tiles of all variants */
  p->as_is = true;
  p->set_bytes = (p->depth + 1) / 2 * 2 * PTE_BLOCK_I16 * sizeof(int16_t);
}

/* As they are. */
static void i16_gather(const pte_conv_plan *p, const pte_gather *g) {
  const int8_t *x = g->x;
  char *row = g->to;
  for (size_t i = 0; i < g->windows; i++, x += g->step, row += g->row_bytes) {
    memset(row + (4 * p->quads - 4) * sizeof(int16_t), 0, 4 * sizeof(int16_t));
    for (size_t l = 0; l < g->lines; l++)
      pte_i8_line(g->bytes, x + l * g->pitch, row + l * g->bytes, 0);
  }
}

static void i16_complete(const pte_conv_plan *p, pte_rescale_columns *c, const int8_t *shifts) {
  (void)p;
  pte_rescale_i16_complete(c, shifts);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Panels side by side of a group, and what follows their sums. */
typedef struct panel_set {
  size_t count; /* panels that exist */
  pte_tile_i16 tile;
  pte_rescale_columns columns[PTE_BESIDE];
  _Alignas(64) int32_t start[PTE_BESIDE][PTE_PANEL];
  int32_t sum[PTE_STRIP * PTE_BESIDE][PTE_PANEL];
  int64_t exact[PTE_STRIP * PTE_BESIDE][PTE_PANEL];
} panel_set;

static void panels_open(const pte_conv_plan *p, size_t group, size_t panel, panel_set *s) {
  const size_t column = panel * PTE_PANEL, bytes = p->quads * (4 * PTE_PANEL);
  const pte_rescale_columns *columns = pte_conv_columns(p, group, panel, s->count, s->columns);
  if (columns != s->columns) memcpy(s->columns, columns, s->count * sizeof *columns);
  if (s->count < p->most_panels) s->columns[1] = s->columns[0];
  memset(s->start, 0, sizeof s->start);
  for (size_t i = 0; i < s->count && !own_of(p)->wide; i++)
    memcpy(s->start[i], s->columns[i].bias, sizeof s->start[i]);
  s->tile = (pte_tile_i16){
      .panel = (const int8_t *)p->call->in[1]->data + (group * p->panels + panel) * bytes,
      .panel_bytes = s->count > 1 ? bytes : 0, /* or the one again */
      .row = p->row_bytes / sizeof(int16_t),
      .sum = s->sum,
      .y_stride = p->columns * p->groups,
      .lanes = pte_least(p->columns - column, s->count * PTE_PANEL),
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
static bool rows_run(const pte_conv_plan *p, pte_pace *pace, panel_set *s, size_t rows,
                     const int16_t *x, int16_t *y) {
  const pte_gemm_i16 *kernel = own_of(p)->kernel;
  const size_t beside = p->most_panels;
  const bool wide = own_of(p)->wide;
  const size_t part = wide ? EXACT_QUADS : PTE_TILE_QUADS;
  pte_tile_i16 t = s->tile;
  t.x = x, t.y = y, t.start = (const int32_t (*)[PTE_PANEL])s->start;
  if (wide) memset(s->exact, 0, sizeof s->exact);
  for (size_t q = 0; q == 0 || q < p->quads; q += part) {
    t.quads = pte_least(p->quads - q, part);
    if (!pte_pace_go(pace, (int64_t)(rows * s->count * PTE_PANEL * (t.quads + 1)))) return false;
    const bool last = q + t.quads == p->quads && !wide;
    t.columns = last ? s->columns : NULL;
    kernel->tile(rows, &t);
    t.x += 4 * t.quads, t.panel += t.quads * (4 * PTE_PANEL);
    if (wide)
      for (size_t i = 0; i < rows * beside; i++)
        for (size_t n = 0; n < PTE_PANEL; n++) s->exact[i][n] += s->sum[i][n];
    else t.start = (const int32_t (*)[PTE_PANEL])s->sum, t.start_row = beside;
  }
  if (wide) {
    exact_take(s, rows * beside, beside, s->sum);
    t.quads = 0, t.start = (const int32_t (*)[PTE_PANEL])s->sum, t.start_row = beside;
    t.columns = s->columns;
    kernel->tile(rows, &t);
  }
  return true;
}

static bool i16_panels(const pte_conv_plan *p, pte_pace *pace, const pte_conv_block *b,
                       size_t panel, size_t count) {
  const size_t all = p->columns * p->groups, tall = own_of(p)->kernel->most_rows;
  const int16_t *x = (const int16_t *)(const void *)b->x;
  int16_t *y =
      (int16_t *)p->call->out[0]->data + b->first * all + b->group * p->columns + panel * PTE_PANEL;
  panel_set s;
  s.count = count;
  panels_open(p, b->group, panel, &s);
  for (size_t rows = b->rows, strip; rows > 0; rows -= strip) {
    strip = rows >= tall ? tall : rows >= tall / 2 ? tall / 2 : 1;
    if (!rows_run(p, pace, &s, strip, x, y)) return false;
    x += strip * s.tile.row, y += strip * all;
  }
  return true;
}

/* --- depthwise -------------------------------------------------------------------------------- */

static pte_taps_i16 taps_of(const pte_conv_plan *p) {
  return (pte_taps_i16){pte_conv_kept_columns(p), pte_conv_kept_weights(p), p->depth, p->channels};
}

/* In blocks of the variant. */
static void i16_lay(const pte_conv_plan *p, size_t first, size_t count) {
  const pte_gemm_i16 *kernel = own_of(p)->kernel;
  const size_t block = kernel->block, even = p->depth + p->depth % 2;
  int16_t *to = (int16_t *)pte_conv_kept_weights(p) + first * even;
  memset(to, 0, PTE_BLOCK_I16 * even * sizeof *to);
  for (size_t i = 0; i < count; i++) {
    const int8_t *code = (const int8_t *)p->call->in[1]->data +
                         ((first + i) / PTE_PANEL * p->quads * PTE_PANEL + i % PTE_PANEL) * 4;
    int16_t *own = to + i / block * block * even;
    for (size_t k = 0; k < p->depth; k++)
      own[pte_tap_word(kernel->pairs, block, k, i % block)] = code[k / 4 * (4 * PTE_PANEL) + k % 4];
  }
}

/* Channels first .. end of a pixel, exact. */
static void taps_exact(const pte_gemm_i16 *kernel, const pte_taps_i16 *t, size_t first, size_t end,
                       const int16_t *const *tap, size_t at, int16_t *y) {
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

static void i16_taps(const pte_conv_plan *p, size_t first, size_t end, const void *const *tap,
                     size_t pixels, size_t step, char *y) {
  const pte_gemm_i16 *kernel = own_of(p)->kernel;
  const pte_taps_i16 t = taps_of(p);
  const int16_t *const *x = (const int16_t *const *)tap;
  int16_t *to = (void *)y;
  if (!own_of(p)->wide) {
    kernel->taps(&t, first, end, x, pixels, step, to);
    return;
  }
  for (size_t i = 0; i < pixels; i++)
    taps_exact(kernel, &t, first, end, x, i * step, to + i * p->channels);
}

/* --- the operator ----------------------------------------------------------------------------- */

static const pte_conv_taps taps = {
    .set = PTE_BLOCK_I16, .more = 1, .lay = i16_lay, .run = i16_taps};

static const pte_conv_element element = {.bytes = sizeof(int16_t),
                                         .open = i16_open,
                                         .gather = i16_gather,
                                         .complete = i16_complete,
                                         .panels = i16_panels,
                                         .taps = &taps};

static pte_conv_given given_of(const pte_call *call) {
  const pte_conv_i16_attrs *a = call->attrs;
  return (pte_conv_given){&element, PTE_CONV_LISTS(a, PTE_NO_SPREAD), PTE_CONV_NUMBERS(a)};
}

static pte_status conv_i16_needs(const pte_call *call, pte_needs *out) {
  const pte_conv_given given = given_of(call);
  conv_i16_plan p;
  return pte_conv_quantized_needs(call, &given, &p.shared, out);
}

static pte_status conv_i16_keep(const pte_call *call) {
  const pte_conv_given given = given_of(call);
  return pte_conv_quantized_keep(call, &given);
}

const pte_kernel pte_conv_i16_kernel = {.needs = conv_i16_needs,
                                        .keep = conv_i16_keep,
                                        .run = pte_conv_quantized_run,
                                        .reads = 0x1e /* all but x */};
