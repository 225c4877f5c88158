/* conv_i8: convolutions (conv_quantized_plan.h) of int8 in and out, sums in int32 that wraps. */
#include <string.h>

#include "core/integer.h"
#include "kernels/matrix/conv_i8_depthwise.h"
#include "kernels/matrix/conv_quantized.h"
#include "kernels/panels.h"

enum {
  SMALL = PTE_CONV_SMALL,
  MANY_ROWS = 16, /* that pay for looking at weights (the variant's `pairs`), */
  MANY_QUADS = 12 /* and quads, for looking at either */
};

static const pte_conv_i8_plan *own_of(const pte_conv_plan *p) { return (const void *)p; }

static void i8_open(pte_conv_plan *p) {
  pte_conv_i8_plan *own = (void *)p;
  const pte_gemm_static *kernel = pte_gemm_static_pick(p->call->cpu);
  p->plan_bytes = PTE_KEPT_BYTES(*own);
  own->pixels = NULL, own->walk = false;
  if (p->depthwise) pte_conv_i8_taps_open(own);
  else if (!SMALL && kernel->low != NULL && p->rows >= MANY_ROWS && p->quads >= MANY_QUADS &&
           p->quads <= PTE_TILE_QUADS)
    kernel = p->numbers.x_zero == INT8_MIN ? kernel->low : kernel->near;
  own->kernel = kernel;
  own->peaks = SMALL ? 0 : pte_peaks_count(kernel, p->quads);
  p->most_panels = kernel->most_panels, p->widened = kernel->widened;
  p->unit_rows = 1; /* tiles of a block have about as many each */
  p->zeros = kernel->settle != NULL;
  p->more_rows = own->peaks != 0 ? 2 : 1; /* peaks, of which pairs take one */
  p->settles = !SMALL && own->peaks == 0; /* else they are those of strips that begin with zeros */
  p->enter = kernel->enter, p->leave = kernel->leave;
}

static void i8_gather(const pte_conv_plan *p, const pte_gather *g) { own_of(p)->kernel->gather(g); }

static void i8_complete(const pte_conv_plan *p, pte_rescale_columns *c, const int8_t *shifts) {
  own_of(p)->kernel->columns(c, shifts);
  if (!SMALL && !c->narrow) pte_rescale_lift(c);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Panels side by side of a group, and what follows their sums. */
typedef struct panel_set {
  size_t count;
  const pte_rescale_columns *columns;
  pte_rescale_columns own[PTE_BESIDE];
  int32_t *bias; /* of the columns, where the variant settles them */
  bool narrow;
  size_t zeros;     /* as in the plan, where columns are not settled */
  pte_tile_i8 tile; /* what is the same for all rows */
  _Alignas(64) int32_t sum[PTE_SUMS][PTE_PANEL];
} panel_set;

/* Columns of the set's own, which the variant settles, or which a thread has settled with its first
 * block. */
static void columns_settle(const pte_conv_plan *p, const pte_conv_block *b, size_t panel,
                           panel_set *set) {
  char *there = p->settled_bytes == 0 ? NULL : pte_conv_there(p, b->share) + panel;
  pte_rescale_columns *own = there == NULL ? set->own : pte_conv_settled(p, b->share) + panel;
  if (there != NULL && *there != 0) set->zeros = 0;
  else if (set->columns != own) memcpy(own, set->columns, set->count * sizeof *own);
  if (there != NULL) *there = 1;
  set->columns = own, set->bias = own->bias;
}

static void panels_open(const pte_conv_plan *p, const pte_conv_block *b, size_t panel,
                        panel_set *set) {
  const size_t column = panel * PTE_PANEL, bytes = p->quads * (4 * PTE_PANEL);
  const size_t lanes = pte_least(p->columns - column, set->count * PTE_PANEL);
  set->zeros = pte_conv_zeros(p), set->bias = NULL, set->narrow = true;
  set->columns = pte_conv_columns(p, b->group, panel, set->count, set->own);
  if (pte_conv_zeros(p) != 0) columns_settle(p, b, panel, set);
  for (size_t i = 0; i < set->count; i++) set->narrow = set->narrow && set->columns[i].narrow;
  set->tile = (pte_tile_i8){.panel = (const int8_t *)p->call->in[1]->data +
                                     (b->group * p->panels + panel) * bytes,
                            .quads = p->quads,
                            .row_bytes = p->row_bytes,
                            .panel_bytes = bytes,
                            .start = set->columns[0].bias,
                            .start_panel = sizeof *set->columns / sizeof *set->columns->bias,
                            .columns = set->columns,
                            .sum = set->sum,
                            .y = (int8_t *)p->call->out[0]->data +
                                 b->first * p->columns * p->groups + b->group * p->columns + column,
                            .y_stride = p->columns * p->groups,
                            .lanes = lanes - (set->count - 1) * PTE_PANEL};
}

/* Rows of a block, of zeros too, in tiles of about as many each: few would wait for latency. */
typedef struct strips {
  size_t count, each, more;
} strips;

static strips strips_of(const pte_conv_plan *p, size_t rows) {
  const size_t count = pte_ceil_div(rows, own_of(p)->kernel->most_rows);
  return (strips){count, rows / count, rows % count};
}

static size_t peaks_each(const pte_conv_plan *p) { return SMALL ? 0 : own_of(p)->peaks; }

/* They lie behind the rows, and pairs of a panel behind them. */
static uint32_t *peaks_of(const pte_conv_plan *p, const pte_conv_block *b) {
  return (uint32_t *)(void *)(b->x + b->rows * p->row_bytes);
}

static bool peaks_fill(const pte_conv_plan *p, pte_pace *pace, const pte_conv_block *b) {
  const strips s = strips_of(p, b->rows + pte_conv_zeros(p));
  const char *x = b->x - pte_conv_zeros(p) * p->row_bytes;
  uint32_t *peaks = peaks_of(p, b);
  for (size_t i = 0, strip; i < s.count; i++, x += strip * p->row_bytes) {
    strip = s.each + (i < s.more);
    if (!pte_pace_go(pace, (int64_t)(strip * p->quads))) return false;
    own_of(p)->kernel->peaks(strip, p->quads, x, p->row_bytes, peaks);
    peaks += peaks_each(p);
  }
  return true;
}

/* The tile at `t` as far as one goes at a time: sums wrap, so that parts add up to the whole.
 * `settle`: the first row is one of zeros, and y has the rows after it. */
static bool tile_parts(const pte_conv_plan *p, pte_pace *pace, panel_set *set, bool settle,
                       size_t rows, pte_tile_i8 t) {
  const int32_t nothing[PTE_PANEL] = {0};
  const pte_gemm_static *kernel = own_of(p)->kernel;
  void (*wide)(const int32_t *, const pte_rescale_columns *, size_t, int8_t *) =
      kernel->wide != NULL ? kernel->wide : pte_rescale_row;
  if (settle) t.start = nothing, t.start_panel = 0;
  for (size_t q = 0; q == 0 || q < p->quads; q += PTE_TILE_QUADS) {
    t.quads = pte_least(p->quads - q, PTE_TILE_QUADS);
    if (!pte_pace_go(pace, (int64_t)(rows * set->count * PTE_PANEL * (t.quads + 1)))) return false;
    t.columns = set->narrow && !settle && q + t.quads == p->quads ? set->columns : NULL;
    kernel->tile(rows, set->count, &t);
    t.next += t.quads * t.next_step, t.x += t.quads * 4 * p->widened,
        t.panel += t.quads * (4 * PTE_PANEL);
    t.start = set->sum[0], t.start_row = set->count * PTE_PANEL, t.start_panel = PTE_PANEL;
  }
  if (settle) {
    kernel->settle(rows--, set->count, set->bias, set->tile.start_panel, set->sum);
    t.start += set->count * PTE_PANEL, t.quads = 0, t.columns = set->columns;
    if (set->narrow && rows > 0) kernel->tile(rows, set->count, &t);
  }
  for (size_t i = 0; !set->narrow && i < rows * set->count; i++) {
    size_t m = i / set->count, panel = i % set->count;
    wide(set->sum[i + settle * set->count], set->columns + panel,
         panel + 1 < set->count ? PTE_PANEL : t.lanes, t.y + m * t.y_stride + panel * PTE_PANEL);
  }
  return true;
}

static bool tile_run(const pte_conv_plan *p, pte_pace *pace, panel_set *set, bool settle,
                     size_t rows) {
  if (settle || !set->narrow || p->quads > PTE_TILE_QUADS)
    return tile_parts(p, pace, set, settle, rows, set->tile);
  if (!pte_pace_go(pace, (int64_t)(rows * set->count * PTE_PANEL * (p->quads + 1)))) return false;
  own_of(p)->kernel->tile(rows, set->count, &set->tile);
  return true;
}

/* A row of zeros before the block's rows where the variant wants one. */
static bool i8_panels(const pte_conv_plan *p, pte_pace *pace, const pte_conv_block *b, size_t panel,
                      size_t count) {
  const size_t peaks = peaks_each(p);
  panel_set set;
  set.count = count;
  if (b->fresh && peaks != 0 && !peaks_fill(p, pace, b)) return false;
  panels_open(p, b, panel, &set);
  const strips s = strips_of(p, b->rows + set.zeros);
  pte_tile_i8 *t = &set.tile;
  uint32_t *pairs = peaks_of(p, b) + s.count * peaks;
  t->peaks = peaks_of(p, b), t->pairs = pairs;
  if (peaks != 0) own_of(p)->kernel->pairs(p->quads, t->panel, pairs);
  /* The panels after these, evenly over all strips. */
  t->next_step = pte_ceil_div(count * (4 * PTE_PANEL), s.count);
  t->next = t->panel + count * t->panel_bytes;
  t->x = b->x - set.zeros * p->row_bytes;
  for (size_t i = 0, strip; i < s.count; i++, t->peaks += peaks) {
    strip = s.each + (i < s.more);
    const bool settle = !SMALL && i < set.zeros;
    if (!tile_run(p, pace, &set, settle, strip)) return false;
    t->next += p->quads * t->next_step, t->x += strip * p->row_bytes;
    t->y += (strip - settle) * t->y_stride;
  }
  return true;
}

/* --- the operator ----------------------------------------------------------------------------- */

static const pte_conv_element element = {
    .bytes = sizeof(int8_t),
    .open = i8_open,
    .gather = i8_gather,
    .complete = i8_complete,
    .panels = i8_panels,
    .taps = &pte_conv_i8_taps,
};

static pte_conv_given given_of(const pte_call *call) {
  const pte_conv_i8_attrs *a = call->attrs;
  return (pte_conv_given){&element, PTE_CONV_LISTS(a, a->spread), PTE_CONV_NUMBERS(a)};
}

static pte_status conv_i8_needs(const pte_call *call, pte_needs *out) {
  const pte_conv_given given = given_of(call);
  pte_conv_i8_plan p;
  return pte_conv_quantized_needs(call, &given, &p.shared, out);
}

static pte_status conv_i8_keep(const pte_call *call) {
  const pte_conv_given given = given_of(call);
  return pte_conv_quantized_keep(call, &given);
}

const pte_kernel pte_conv_i8_kernel = {.needs = conv_i8_needs,
                                       .keep = conv_i8_keep,
                                       .run = pte_conv_quantized_run,
                                       .reads = 0x1e /* all but x */};
