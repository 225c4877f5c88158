/* conv_i8: y[b, o, n] = rescale(bias[n] + sum over taps t, then channels c of the group, of x[b, o
 * * stride + t * dilation - begin, c] * w[n, t, c]), int8 in and out (rescale.h), sums in int32
 * that wraps. x and y dense, channels last; w int8 in panels [n/16][k/4][16][4] of each group, of
 * all of them together where each is a channel; no aliasing.
 * Padding, and what spreads x, is x_zero.
 *
 * A block of windows is gathered into rows of K bytes (im2col, a block at a time), which each panel
 * then passes over while they are in the cache. Every sum is exact, so nothing depends on order. */
#include <string.h>

#include "core/integer.h"
#include "core/machine.h"
#include "core/size.h"
#include "gen/layout.h"
#include "kernels/matrix/conv_i8_depthwise.h"
#include "kernels/matrix/conv_i8_plan.h"
#include "kernels/panels.h"
#include "kernels/requantize/shifts.h"
#include "kernels/rows/rows.h"
#include "kernels/window/conv_gather.h"

enum {
  SMALL = PTE_CONV_I8_SMALL,
  BLOCK_BYTES = SMALL ? 1024 : 131072, /* of gathered rows, about, */
  FEW_BYTES = SMALL ? 1024 : 524288,   /* but this for FEW_ROWS: weights come far for each block */
  FEW_ROWS = 64,
  HEAD_BYTES = 64, /* of a thread's share */
  BLOCK_ROWS = 192,
  TASK_WORK = 131072, /* products that are worth a task, in sixteens */
  MANY_ROWS = 16,     /* that pay for looking at weights (the variant's `pairs`), */
  MANY_QUADS = 12,    /* and quads, for looking at either */
  MANY_TAPS = 8192    /* of a depthwise channel: fewer are summed in one piece (as the row says) */
};

/* Blocks of rows, all about as large, as many for each thread, then blocks of columns where threads
 * would idle, as many for each, too. */
static void plan_blocks(pte_conv_i8_plan *p, size_t threads) {
  size_t row = 4 * p->quads + 1, sets = pte_ceil_div(p->panels, p->kernel->most_panels);
  size_t fit = pte_most(BLOCK_BYTES / row, pte_least(FEW_ROWS, FEW_BYTES / row));
  fit = pte_most(pte_least(fit, BLOCK_ROWS), PTE_TALL) - p->zeros;
  size_t work = pte_tasks_worth(p->depth * PTE_PANEL * p->rows, p->panels * p->groups, TASK_WORK);
  size_t wanted = threads <= 1 ? 1 : pte_least(4 * threads, work + 1);
  p->row_blocks = pte_most(pte_ceil_div(p->rows, fit), 1);
  if (p->row_blocks > 1 && wanted > 1)
    p->row_blocks = pte_ceil_div(p->row_blocks, threads) * threads;
  p->block_rows = pte_ceil_div(p->rows, p->row_blocks);
  const size_t bands = p->row_blocks * p->groups;
  p->column_blocks = pte_most(1, pte_least(sets, pte_ceil_div(wanted, pte_most(1, bands))));
  if (bands % threads == 0 || p->column_blocks < threads)
    return; /* each has as many, or one none */
  p->column_blocks -= p->column_blocks % threads;
  p->odd_sets = sets % threads != 0;
}

/* Bytes of columns of all panels, and of those that a thread settles more than once: of some
 * variants; peaks are those of strips that begin with a row of zeros. */
static bool plan_columns(pte_conv_i8_plan *p) {
  const bool settles = p->row_blocks > 1 && p->groups == 1 && p->peaks == 0;
  return pte_mul(p->panels, p->groups * sizeof(pte_rescale_columns), &p->column_bytes) &&
         pte_mul(settles ? p->panels : 0, sizeof(pte_rescale_columns) + 1, &p->settled_bytes) &&
         pte_align(p->settled_bytes, 64, &p->settled_bytes);
}

static bool plan_of(const pte_call *call, pte_conv_i8_plan *p) {
  const pte_conv_i8_attrs *a = call->attrs;
  const pte_conv_lists lists = PTE_CONV_LISTS(a, a->spread);
  const pte_tensor *y = call->out[0], *w = call->in[1];
  *p = (pte_conv_i8_plan){.call = call, .attrs = a, .kernel = pte_gemm_static_pick(call->cpu)};
  p->w = pte_conv_window_of(call, &lists);
  p->groups = (size_t)a->groups;
  p->rows = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  p->columns = (size_t)w->shape[0] / p->groups;
  p->channels = (size_t)p->w.channels / p->groups;
  p->depth = (size_t)w->shape[1];
  p->quads = pte_ceil_div(p->depth, 4);
  p->panels = pte_panel_count(p->columns);
  p->matrix = pte_conv_is_matrix(&p->w);
  p->depthwise = p->groups > 1 && p->channels == 1 && p->columns == 1 && p->depth < MANY_TAPS;
  if (p->depthwise) return pte_conv_i8_plan_depthwise(p);
  if (p->kernel->low != NULL && p->rows >= MANY_ROWS && p->quads >= MANY_QUADS &&
      p->quads <= PTE_TILE_QUADS)
    p->kernel = a->x_zero == INT8_MIN ? p->kernel->low : p->kernel->near;
  uint64_t rows = 8 * (p->quads + 8) + 64; /* of any variant's, with peaks; pairs take one */
  p->row_bytes = (4 * p->quads * p->kernel->widened + 63) / 64 * 64;
  if (pte_machine_same_set(pte_call_machine(call), p->row_bytes)) p->row_bytes += 64;
  p->zeros = p->kernel->settle != NULL;
  p->peaks = pte_peaks_count(p->kernel, p->quads);
  plan_blocks(p, call->threads);
  if (!SMALL && !plan_columns(p)) return false;
  return pte_align(p->depth, 64, &p->line_bytes) &&
         pte_mul(rows, p->block_rows + 1 + (p->peaks != 0), &rows) && pte_align(rows, 64, &rows) &&
         pte_add(rows, p->settled_bytes, &rows) &&
         pte_add(rows, p->line_bytes + HEAD_BYTES, &p->share_bytes);
}

/* --- rows
 * ------------------------------------------------------------------------------------------------------
 */

static pte_conv_gather gather_of(const pte_conv_i8_plan *p) {
  return (pte_conv_gather){&p->w, p->channels, sizeof(int8_t), p->attrs->x_zero};
}

/* How many windows from `pixel` on are runs of lines, which the variant gathers itself. */
static size_t inside_of(const pte_conv_i8_plan *p, const pte_conv_pixel *pixel) {
  const pte_conv_axis *axis = p->w.axis;
  if (p->groups > 1 || axis[0].kernel > 1 || axis[2].dilation > 1) return 0;
  return pte_conv_windows_inside(&p->w, pixel);
}

/* Rows first .. first + count of a group at `to`; `line` holds one of them before. */
static bool rows_fill(const pte_conv_i8_plan *p, pte_pace *pace, size_t group, size_t first,
                      size_t count, char *to, int8_t *line) {
  const pte_conv_axis *axis = p->w.axis;
  const int8_t *x = (const int8_t *)p->call->in[0]->data + group * p->channels;
  const int64_t wide = axis[2].in * p->w.channels, image = axis[0].in * axis[1].in * wide;
  const pte_conv_gather gather = gather_of(p);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, first);
  if (p->depth == 0) return true; /* nor is there scratch for rows */
  for (size_t r = 0, some; r < count; r += some, to += some * p->row_bytes) {
    size_t inside = p->matrix ? count - r : pte_least(inside_of(p, &pixel), count - r);
    some = (size_t)pte_pace_take(pace, (int64_t)pte_most(inside, 1), (int64_t)p->depth, 1);
    if (some == 0) return false;
    pte_gather g = {.windows = some, .lines = 1, .to = to, .row_bytes = p->row_bytes};
    if (p->matrix) {
      g.x = x + (first + r) * (size_t)p->w.channels;
      g.step = (size_t)p->w.channels, g.bytes = p->depth;
    } else if (inside > 0) {
      int64_t y = pixel.at[1] * axis[1].stride - axis[1].begin;
      int64_t z = pixel.at[0] * axis[0].stride - axis[0].begin;
      int64_t place = pixel.at[2] * axis[2].stride - axis[2].begin;
      g.x = x + pixel.batch * image + (z * axis[1].in + y) * wide + place * p->w.channels;
      g.step = (size_t)(axis[2].stride * p->w.channels);
      g.lines = (size_t)axis[1].kernel, g.pitch = (size_t)(axis[1].dilation * wide);
      g.bytes = (size_t)axis[2].kernel * p->channels;
    } else {
      pte_conv_gather_window(&gather, (const char *)x + pixel.batch * image, &pixel, (char *)line);
      g.x = line, g.bytes = p->depth;
    }
    p->kernel->gather(&g);
    if (p->matrix) continue;
    pixel.at[2] += (int64_t)some - 1; /* they lie in one line */
    pte_conv_pixel_next(&p->w, &pixel);
  }
  return true;
}

/* A row of zeros in the variant's form. */
static bool zeros_fill(const pte_conv_i8_plan *p, pte_pace *pace, char *to, int8_t *line) {
  if (p->depth == 0) return true;
  if (!pte_pace_go(pace, (int64_t)p->depth)) return false;
  memset(line, 0, p->depth);
  p->kernel->gather(&(pte_gather){
      .x = line, .windows = 1, .lines = 1, .bytes = p->depth, .to = to, .row_bytes = p->row_bytes});
  return true;
}

/* --- sums
 * ------------------------------------------------------------------------------------------------------
 */

void pte_conv_i8_columns(const pte_conv_i8_plan *p, size_t column, size_t count,
                         pte_rescale_columns *c) {
  const pte_conv_i8_attrs *a = p->attrs;
  const pte_tensor *const *in = p->call->in;
  const int32_t *bias = (const int32_t *)in[2]->data + column;
  const int32_t *multiplier = (const int32_t *)in[3]->data + column;
  int8_t shift[PTE_PANEL];
  pte_shifts_read((const int8_t *)in[4]->data + column, count, shift);
  c->zero = (int32_t)a->y_zero, c->low = (int32_t)a->low, c->high = (int32_t)a->high;
  if (count == PTE_PANEL) {
    memcpy(c->bias, bias, sizeof c->bias);
    memcpy(c->multiplier, multiplier, sizeof c->multiplier);
  } else {
    memset(c->bias, 0, sizeof c->bias), memset(c->multiplier, 0, sizeof c->multiplier);
    memcpy(c->bias, bias, count * sizeof *bias);
    memcpy(c->multiplier, multiplier, count * sizeof *multiplier);
  }
  p->kernel->columns(c, shift);
  if (!SMALL && !c->narrow) pte_rescale_lift(c);
}

/* Panels side by side of a group, and what follows their sums. */
typedef struct panel_set {
  size_t column, count; /* of the first panel; panels */
  const int8_t *codes;
  const pte_rescale_columns *columns;
  pte_rescale_columns own[PTE_BESIDE];
  int32_t *bias; /* of the columns, where the variant settles them */
  bool narrow;
  size_t zeros; /* as in the plan, where columns are not settled */
  uint32_t *pairs;
  pte_tile_i8 tile; /* what is the same for all rows */
  _Alignas(64) int32_t sum[PTE_SUMS][PTE_PANEL];
} panel_set;

/* Columns that a thread has settled with its first block, and which panels they are there of. */
static pte_rescale_columns *settled_of(const pte_conv_i8_plan *p, char *share) {
  return (void *)(share + p->share_bytes - p->settled_bytes);
}
static char *there_of(const pte_conv_i8_plan *p, char *share) {
  return (char *)(settled_of(p, share) + p->panels);
}

/* Columns of the set's own: of a variant that settles them, or of a build that keeps none. */
static pte_rescale_columns *columns_own(const pte_conv_i8_plan *p, size_t group, size_t panel,
                                        char *share, panel_set *set) {
  char *there = p->settled_bytes == 0 ? NULL : there_of(p, share) + panel;
  pte_rescale_columns *own = there == NULL ? set->own : settled_of(p, share) + panel;
  if (there != NULL && *there != 0) set->zeros = 0;
  else if (!SMALL)
    memcpy(own, pte_conv_i8_kept_columns(p) + group * p->panels + panel, set->count * sizeof *own);
  else
    for (size_t i = 0; i < set->count; i++) {
      const size_t column = set->column + i * PTE_PANEL;
      pte_conv_i8_columns(p, group * p->columns + column, pte_least(PTE_PANEL, p->columns - column),
                          own + i);
    }
  if (there != NULL) *there = 1;
  return own;
}

static void columns_open(const pte_conv_i8_plan *p, size_t group, size_t panel, char *share,
                         panel_set *set) {
  set->zeros = p->zeros, set->bias = NULL;
  if (!SMALL && p->zeros == 0) {
    set->columns = pte_conv_i8_kept_columns(p) + group * p->panels + panel;
  } else {
    pte_rescale_columns *own = columns_own(p, group, panel, share, set);
    set->columns = own, set->bias = own->bias;
  }
  set->narrow = true;
  for (size_t i = 0; i < set->count; i++) set->narrow = set->narrow && set->columns[i].narrow;
}

static void panels_open(const pte_conv_i8_plan *p, size_t group, size_t panel, char *share,
                        panel_set *set) {
  set->column = panel * PTE_PANEL;
  set->codes = (const int8_t *)p->call->in[1]->data +
               (group * p->panels + panel) * p->quads * (4 * PTE_PANEL);
  columns_open(p, group, panel, share, set);
  if (p->peaks != 0) p->kernel->pairs(p->quads, set->codes, set->pairs);
  const size_t lanes = pte_least(p->columns - set->column, set->count * PTE_PANEL);
  set->tile = (pte_tile_i8){.panel = set->codes,
                            .quads = p->quads,
                            .row_bytes = p->row_bytes,
                            .panel_bytes = p->quads * (4 * PTE_PANEL),
                            .start = set->columns[0].bias,
                            .start_panel = sizeof *set->columns / sizeof *set->columns->bias,
                            .columns = set->columns,
                            .sum = set->sum,
                            .y_stride = p->columns * p->groups,
                            .lanes = lanes - (set->count - 1) * PTE_PANEL,
                            .pairs = set->pairs};
}

/* Rows of a block, of zeros too, in tiles of about as many each: few would wait for latency. */
typedef struct strips {
  size_t count, each, more;
} strips;

static strips strips_of(const pte_conv_i8_plan *p, size_t rows) {
  const size_t count = pte_ceil_div(rows, p->kernel->most_rows);
  return (strips){count, rows / count, rows % count};
}

/* They lie behind the rows, and pairs of a panel behind them. */
static uint32_t *peaks_of(const pte_conv_i8_plan *p, size_t rows, char *block) {
  return (uint32_t *)(void *)(block + (rows + p->zeros) * p->row_bytes);
}

static bool peaks_fill(const pte_conv_i8_plan *p, pte_pace *pace, size_t rows, char *block) {
  const strips s = strips_of(p, rows + p->zeros);
  uint32_t *peaks = peaks_of(p, rows, block);
  for (size_t i = 0, strip; i < s.count; i++, block += strip * p->row_bytes, peaks += p->peaks) {
    strip = s.each + (i < s.more);
    if (!pte_pace_go(pace, (int64_t)(strip * p->quads))) return false;
    p->kernel->peaks(strip, p->quads, block, p->row_bytes, peaks);
  }
  return true;
}

/* The tile at `t` as far as one goes at a time: sums wrap, so that parts add up to the whole.
 * `settle`: the first row is one of zeros, and y has the rows after it. */
static bool tile_parts(const pte_conv_i8_plan *p, pte_pace *pace, panel_set *set, bool settle,
                       size_t rows, pte_tile_i8 t) {
  static const int32_t nothing[PTE_PANEL];
  void (*wide)(const int32_t *, const pte_rescale_columns *, size_t, int8_t *) =
      p->kernel->wide != NULL ? p->kernel->wide : pte_rescale_row;
  if (settle) t.start = nothing, t.start_panel = 0;
  for (size_t q = 0; q == 0 || q < p->quads; q += PTE_TILE_QUADS) {
    t.quads = pte_least(p->quads - q, PTE_TILE_QUADS);
    if (!pte_pace_go(pace, (int64_t)(rows * set->count * PTE_PANEL * (t.quads + 1)))) return false;
    t.columns = set->narrow && !settle && q + t.quads == p->quads ? set->columns : NULL;
    p->kernel->tile(rows, set->count, &t);
    t.next += t.quads * t.next_step, t.x += t.quads * 4 * p->kernel->widened,
        t.panel += t.quads * (4 * PTE_PANEL);
    t.start = set->sum[0], t.start_row = set->count * PTE_PANEL, t.start_panel = PTE_PANEL;
  }
  if (settle) {
    p->kernel->settle(rows--, set->count, set->bias, set->tile.start_panel, set->sum);
    t.start += set->count * PTE_PANEL, t.quads = 0, t.columns = set->columns;
    if (set->narrow && rows > 0) p->kernel->tile(rows, set->count, &t);
  }
  for (size_t i = 0; !set->narrow && i < rows * set->count; i++) {
    size_t m = i / set->count, panel = i % set->count;
    wide(set->sum[i + settle * set->count], set->columns + panel,
         panel + 1 < set->count ? PTE_PANEL : t.lanes, t.y + m * t.y_stride + panel * PTE_PANEL);
  }
  return true;
}

static bool tile_run(const pte_conv_i8_plan *p, pte_pace *pace, panel_set *set, bool settle,
                     size_t rows) {
  if (settle || !set->narrow || p->quads > PTE_TILE_QUADS)
    return tile_parts(p, pace, set, settle, rows, set->tile);
  if (!pte_pace_go(pace, (int64_t)(rows * set->count * PTE_PANEL * (p->quads + 1)))) return false;
  p->kernel->tile(rows, set->count, &set->tile);
  return true;
}

/* All rows of the block, a row of zeros before them where the variant wants one, times `count`
 * panels from `panel` on; columns past the last exist in the panel only. */
static bool panels_run(const pte_conv_i8_plan *p, pte_pace *pace, size_t group, size_t first,
                       size_t rows, size_t panel, size_t count, char *share) {
  const size_t all = p->columns * p->groups;
  char *block = share + HEAD_BYTES + p->line_bytes;
  uint32_t *peaks = peaks_of(p, rows, block);
  panel_set set;
  set.count = count;
  set.pairs = peaks + strips_of(p, rows + p->zeros).count * p->peaks;
  panels_open(p, group, panel, share, &set);
  const strips s = strips_of(p, rows + set.zeros);
  pte_tile_i8 *t = &set.tile;
  t->y = (int8_t *)p->call->out[0]->data + first * all + group * p->columns + set.column;
  /* The panels after these, evenly over all strips. */
  t->next_step = pte_ceil_div(set.count * (4 * PTE_PANEL), s.count);
  t->next = set.codes + set.count * p->quads * (4 * PTE_PANEL);
  t->x = block + (p->zeros - set.zeros) * p->row_bytes, t->peaks = peaks;
  for (size_t i = 0, strip; i < s.count; i++, t->peaks += p->peaks) {
    strip = s.each + (i < s.more);
    const bool settle = i < set.zeros;
    if (!tile_run(p, pace, &set, settle, strip)) return false;
    t->next += p->quads * t->next_step, t->x += strip * p->row_bytes;
    t->y += (strip - settle) * all;
  }
  return true;
}

/* The first panel of a block of columns. */
static size_t part_begin(const pte_conv_i8_plan *p, size_t part) {
  const size_t beside = p->kernel->most_panels, sets = pte_ceil_div(p->panels, beside);
  if (!SMALL && p->odd_sets) return p->panels * part / p->column_blocks;
  return pte_least(p->panels, sets * part / p->column_blocks * beside);
}

/* A thread's: which band its rows are, SIZE_MAX of none; a line; the rows. A thread has many tasks
 * of a band. */
static size_t *share_of(const pte_conv_i8_plan *p, uint32_t thread) {
  return (size_t *)(void *)((char *)p->call->scratch + p->share_bytes * thread);
}

static void bands_run(const pte_conv_i8_plan *p, size_t begin, size_t end, uint32_t thread) {
  size_t *filled = share_of(p, thread);
  char *line = (char *)filled + HEAD_BYTES, *block = line + p->line_bytes;
  pte_pace pace = pte_call_pace(p->call);
  if (*filled == SIZE_MAX && p->zeros != 0 && !zeros_fill(p, &pace, block, (int8_t *)line)) return;
  for (size_t i = begin; i < end; i++) {
    size_t band = i / p->column_blocks, part = i % p->column_blocks;
    size_t group = band / p->row_blocks, first = band % p->row_blocks * p->block_rows;
    if (first >= p->rows) continue; /* the blocks before took all */
    size_t rows = pte_least(p->block_rows, p->rows - first);
    char *to = block + p->zeros * p->row_bytes;
    if (band != *filled) {
      *filled = SIZE_MAX;
      if (!rows_fill(p, &pace, group, first, rows, to, (int8_t *)line)) return;
      if (p->peaks != 0 && !peaks_fill(p, &pace, rows, block)) return;
      *filled = band;
    }
    const size_t last = part_begin(p, part + 1);
    for (size_t at = part_begin(p, part), count; at < last; at += count) {
      count = pte_least(p->kernel->most_panels, last - at);
      if (!panels_run(p, &pace, group, first, rows, at, count, (char *)filled)) return;
    }
  }
}

static void conv_i8_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_conv_i8_plan *p = context;
  if (p->kernel->enter != NULL) p->kernel->enter();
  bands_run(p, begin, end, thread);
  if (p->kernel->leave != NULL) p->kernel->leave();
}

/* --- the operator
 * ---------------------------------------------------------------------------------------------- */

static pte_status conv_i8_needs(const pte_call *call, pte_needs *out) {
  pte_conv_i8_plan p;
  bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, &out->scratch) &&
              (!p.depthwise || pte_add(out->scratch, p.line_bytes, &out->scratch)) &&
              pte_add(p.weight_bytes, p.column_bytes, &out->kept) &&
              pte_add(out->kept, PTE_KEPT_BYTES(p), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

/* Columns of all panels. */
static bool columns_keep(const pte_conv_i8_plan *p, pte_pace *pace) {
  pte_rescale_columns *c = pte_conv_i8_kept_columns(p);
  for (size_t group = 0; !SMALL && group < p->groups; group++)
    for (size_t column = 0; column < p->columns; column += PTE_PANEL, c++) {
      if (!pte_pace_go(pace, 4 * PTE_PANEL)) return false;
      pte_conv_i8_columns(p, group * p->columns + column, pte_least(PTE_PANEL, p->columns - column),
                          c);
    }
  return true;
}

static pte_status conv_i8_keep(const pte_call *call) {
  pte_conv_i8_plan *p = call->kept;
  pte_pace pace = pte_call_pace(call);
  if (!plan_of(call, p)) return PTE_NO_MEMORY;
  PTE_TRY(pte_shifts_check(call, &pace));
  if (p->rows == 0 || p->columns == 0) return PTE_OK;
  const bool kept = p->depthwise ? pte_conv_i8_depthwise_keep(p, &pace) : columns_keep(p, &pace);
  return kept ? PTE_OK : PTE_CANCELLED;
}

static pte_status conv_i8_run(const pte_call *call) {
  pte_conv_i8_plan *p = call->kept;
  p->call = call;
  if (p->rows == 0 || p->columns == 0) return PTE_OK;
  if (p->depthwise) return pte_conv_i8_depthwise(p);
  for (uint32_t i = 0; i < call->threads; i++) {
    *share_of(p, i) = SIZE_MAX;
    if (!SMALL && p->settled_bytes != 0) memset(there_of(p, (char *)share_of(p, i)), 0, p->panels);
  }
  pte_parallel(call, p->groups * p->row_blocks * p->column_blocks, 1, conv_i8_task, p);
  return PTE_OK;
}

const pte_kernel pte_conv_i8_kernel = {.needs = conv_i8_needs,
                                       .keep = conv_i8_keep,
                                       .run = conv_i8_run,
                                       .reads = 0x1e /* all but x */};
