/* conv_i8: y[b, o, n] = rescale(bias[n] + sum over taps t, then channels c of the group, of x[b, o
 * * stride + t * dilation - begin, c] * w[n, t, c]), int8 in and out (rescale.h), sums in int32
 * that wraps. x and y dense, channels last; w int8 in panels [n/16][k/4][16][4] of each group, of
 * all of them together where each is a channel; no aliasing.
 * Padding, and what spreads x, is x_zero.
 *
 * A block of windows is gathered into rows of K bytes (im2col, a block at a time), which each panel
 * then passes over while they are in the cache. Every sum is exact, so nothing depends on order. */
#include <string.h>

#include "core/size.h"
#include "gen/layout.h"
#include "gen/ops.h"
#include "kernels/matrix/conv_window.h"
#include "kernels/matrix/panels.h"
#include "kernels/matrix/rescale.h"
#include "kernels/rows/rows.h"

#ifdef PTE_SMALL_BUFFERS /* a machine with some tens of KB of memory */
enum { BLOCK_BYTES = 1024, FEW_BYTES = 1024 };
#else
enum {
  BLOCK_BYTES = 131072, /* of gathered rows, about, */
  FEW_BYTES = 524288    /* but this where it makes FEW_ROWS: weights come from far for each block */
};
#endif

enum {
  FEW_ROWS = 64,
  HEAD_BYTES = 64, /* of a thread's share */
  BLOCK_ROWS = 192,
  ALIAS = 4096,       /* rows so far apart would fall on each other in L1 */
  TASK_WORK = 131072, /* products that are worth a task, in sixteens */
  MANY_ROWS = 16,     /* that pay for looking at weights (the variant's `pairs`) */
  SET = 64,           /* channels of a depthwise step, */
  MANY_TAPS = 8192,   /* which sums fewer in one piece (as the row says), */
  MOST_PIXELS = 64,   /* and pixels; */
  LONG_LINE = 1024,   /* of a line, where they are many more, */
  LINE_WORK = 8192    /* of which so many channels are worth a task */
};

typedef struct conv_i8_plan {
  const pte_call *call;
  const pte_conv_i8_attrs *attrs;
  const pte_gemm_static *kernel;
  pte_conv_window w;
  size_t groups, rows, columns, channels, depth, quads, panels; /* but for rows, of one group */
  size_t block_rows, row_blocks, column_blocks;
  size_t zeros; /* 1: the variant wants a row of them before each block (settle) */
  size_t peaks; /* of a strip, behind the rows of a block */
  bool matrix;  /* rows of x are rows of a matrix */
  bool depthwise;
  bool walk; /* depthwise, and the variant takes lines of windows of 3 by 3 */
  size_t row_bytes;
  uint64_t line_bytes, share_bytes;
  uint64_t weight_bytes, column_bytes; /* depthwise: they and a line in front of the shares */
} conv_i8_plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

static pte_conv_lists lists_of(const pte_conv_i8_attrs *a) {
  return (pte_conv_lists){a->kernel, a->stride, a->dilation, a->begin, a->end, a->spread};
}

/* Blocks of rows, all about as large, then blocks of columns where threads would idle. */
static void plan_blocks(conv_i8_plan *p, uint32_t threads) {
  size_t row = 4 * p->quads + 1, sets = ceil_div(p->panels, p->kernel->most_panels);
  size_t fit = most(BLOCK_BYTES / row, least(FEW_ROWS, FEW_BYTES / row));
  fit = most(least(fit, BLOCK_ROWS), PTE_TALL) - p->zeros;
  size_t work = pte_tasks_worth(p->depth * PTE_PANEL * p->rows, p->panels * p->groups, TASK_WORK);
  size_t wanted = threads <= 1 ? 1 : least(4 * (size_t)threads, work + 1);
  p->row_blocks = most(ceil_div(p->rows, fit), 1);
  p->block_rows = ceil_div(p->rows, p->row_blocks);
  p->column_blocks = most(1, least(sets, ceil_div(wanted, most(1, p->row_blocks * p->groups))));
}

/* All channels are one group, which variants take 64 at a time. */
static bool plan_depthwise(conv_i8_plan *p) {
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  p->walk = p->kernel->walk != NULL && deep->kernel == 1 && high->kernel == 3 &&
            wide->kernel == 3 && wide->dilation == 1 && wide->spread == 1 && wide->stride <= 2;
  const size_t sets = ceil_div(p->groups, SET);
  p->channels = p->groups, p->groups = 1;
  p->share_bytes = ceil_div((p->depth + 3) * sizeof(int8_t *), 64) * 64;
  return pte_mul(PTE_TAPS_BYTES(p->depth), sets, &p->weight_bytes) &&
         pte_mul(SET / PTE_PANEL * sizeof(pte_rescale_columns), sets, &p->column_bytes) &&
         pte_align(p->column_bytes, 64, &p->column_bytes) &&
         pte_align(p->channels, 64, &p->line_bytes);
}

static bool plan_of(const pte_call *call, conv_i8_plan *p) {
  const pte_conv_i8_attrs *a = call->attrs;
  const pte_conv_lists lists = lists_of(a);
  const pte_tensor *y = call->out[0], *w = call->in[1];
  *p = (conv_i8_plan){.call = call, .attrs = a, .kernel = pte_gemm_static_pick(call->cpu)};
  p->w = pte_conv_window_of(call, &lists);
  p->groups = (size_t)a->groups;
  p->rows = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  p->columns = (size_t)w->shape[0] / p->groups;
  p->channels = (size_t)p->w.channels / p->groups;
  p->depth = (size_t)w->shape[1];
  p->quads = ceil_div(p->depth, 4);
  p->panels = pte_panel_count(p->columns);
  p->matrix = pte_conv_is_matrix(&p->w);
  p->depthwise = p->groups > 1 && p->channels == 1 && p->columns == 1 && p->depth < MANY_TAPS;
  if (p->depthwise) return plan_depthwise(p);
  if (p->kernel->low != NULL && p->rows >= MANY_ROWS && p->quads <= PTE_TILE_QUADS)
    p->kernel = a->x_zero == INT8_MIN ? p->kernel->low : p->kernel->near;
  uint64_t rows = 8 * (p->quads + 8) + 64; /* of any variant's, with peaks; pairs take one */
  p->row_bytes = (4 * p->quads * p->kernel->widened + 63) / 64 * 64;
  if (p->row_bytes % ALIAS == 0) p->row_bytes += 64;
  p->zeros = p->kernel->settle != NULL;
  p->peaks = pte_peaks_count(p->kernel, p->quads);
  plan_blocks(p, call->threads);
  return pte_align(p->depth, 64, &p->line_bytes) &&
         pte_mul(rows, p->block_rows + 1 + (p->peaks != 0), &rows) && pte_align(rows, 64, &rows) &&
         pte_add(rows, p->line_bytes + HEAD_BYTES, &p->share_bytes);
}

/* --- rows
 * ------------------------------------------------------------------------------------------------------
 */

/* The taps along the last axis; `line` is where it starts, NULL where all of it is padding. */
static int8_t *gather_line(const conv_i8_plan *p, const int8_t *line, int64_t at, int8_t *to) {
  const pte_conv_axis *axis = &p->w.axis[2];
  int64_t place = at * axis->stride - axis->begin;
  size_t kernel = (size_t)axis->kernel, whole = kernel * p->channels;
  if (line == NULL) {
    memset(to, (int)p->attrs->x_zero, whole);
    return to + whole;
  }
  if (p->groups == 1 && axis->dilation == 1 && axis->spread == 1 && place + axis->kernel > 0 &&
      place < axis->in) {
    size_t before = place < 0 ? (size_t)-place : 0;
    size_t after = place + axis->kernel > axis->in ? (size_t)(place + axis->kernel - axis->in) : 0;
    size_t inside = kernel - before - after;
    memset(to, (int)p->attrs->x_zero, before * p->channels);
    to += before * p->channels;
    memcpy(to, line + (place + (int64_t)before) * p->w.channels, inside * p->channels);
    memset(to + inside * p->channels, (int)p->attrs->x_zero, after * p->channels);
    return to + (inside + after) * p->channels;
  }
  for (size_t j = 0; j < kernel; j++, to += p->channels) {
    place = pte_conv_place(axis, at, (int64_t)j);
    if (place < 0) memset(to, (int)p->attrs->x_zero, p->channels);
    else memcpy(to, line + place * p->w.channels, p->channels);
  }
  return to;
}

/* The window of `pixel`, of a group whose first channel of the image is at `image`. */
static void gather(const conv_i8_plan *p, const int8_t *image, const pte_conv_pixel *pixel,
                   int8_t *to) {
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  for (int64_t d = 0; d < deep->kernel; d++) {
    int64_t z = pte_conv_place(deep, pixel->at[0], d);
    for (int64_t i = 0; i < high->kernel; i++) {
      int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel->at[1], i);
      const int8_t *line = y < 0 ? NULL : image + (z * high->in + y) * wide->in * p->w.channels;
      to = gather_line(p, line, pixel->at[2], to);
    }
  }
}

/* How many windows from `pixel` on, along a line of y, lie wholly in x. */
static size_t windows_inside(const conv_i8_plan *p, const pte_conv_pixel *pixel) {
  const pte_conv_axis *wide = &p->w.axis[2];
  if (!p->depthwise && (p->groups > 1 || p->w.axis[0].kernel > 1 || wide->dilation > 1)) return 0;
  for (unsigned i = 0; i < PTE_CONV_AXES; i++) {
    const pte_conv_axis *axis = &p->w.axis[i];
    int64_t place = pixel->at[i] * axis->stride - axis->begin;
    if (axis->spread > 1 || place < 0 || place + (axis->kernel - 1) * axis->dilation >= axis->in)
      return 0;
  }
  int64_t span = (wide->kernel - 1) * wide->dilation + 1;
  int64_t last = (wide->in - span + wide->begin) / wide->stride;
  return (size_t)((last < wide->out ? last + 1 : wide->out) - pixel->at[2]);
}

/* Rows first .. first + count of a group at `to`; `line` holds one of them before. */
static bool rows_fill(const conv_i8_plan *p, pte_pace *pace, size_t group, size_t first,
                      size_t count, char *to, int8_t *line) {
  const pte_conv_axis *axis = p->w.axis;
  const int8_t *x = (const int8_t *)p->call->in[0]->data + group * p->channels;
  const int64_t wide = axis[2].in * p->w.channels, image = axis[0].in * axis[1].in * wide;
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, first);
  if (p->depth == 0) return true; /* nor is there scratch for rows */
  for (size_t r = 0, some; r < count; r += some, to += some * p->row_bytes) {
    size_t inside = p->matrix ? count - r : least(windows_inside(p, &pixel), count - r);
    some = (size_t)pte_pace_take(pace, (int64_t)most(inside, 1), (int64_t)p->depth, 1);
    if (some == 0) return false;
    pte_gather_i8 g = {.windows = some, .lines = 1, .to = to, .row_bytes = p->row_bytes};
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
      gather(p, x + pixel.batch * image, &pixel, line);
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
static bool zeros_fill(const conv_i8_plan *p, pte_pace *pace, char *to, int8_t *line) {
  if (p->depth == 0) return true;
  if (!pte_pace_go(pace, (int64_t)p->depth)) return false;
  memset(line, 0, p->depth);
  p->kernel->gather(&(pte_gather_i8){
      .x = line, .windows = 1, .lines = 1, .bytes = p->depth, .to = to, .row_bytes = p->row_bytes});
  return true;
}

/* --- sums
 * ------------------------------------------------------------------------------------------------------
 */

/* Columns `column` .. + `count` of all groups. */
static void columns_read(const conv_i8_plan *p, size_t column, size_t count,
                         pte_rescale_columns *c) {
  const pte_conv_i8_attrs *a = p->attrs;
  const pte_tensor *const *in = p->call->in;
  const int8_t *shift = (const int8_t *)in[4]->data + column;
  const int32_t *bias = (const int32_t *)in[2]->data + column;
  const int32_t *multiplier = (const int32_t *)in[3]->data + column;
  int8_t last[PTE_PANEL];
  c->zero = (int32_t)a->y_zero, c->low = (int32_t)a->low, c->high = (int32_t)a->high;
  if (count == PTE_PANEL) {
    memcpy(c->bias, bias, sizeof c->bias);
    memcpy(c->multiplier, multiplier, sizeof c->multiplier);
  } else {
    memset(c->bias, 0, sizeof c->bias), memset(c->multiplier, 0, sizeof c->multiplier);
    memset(last, PTE_SHIFT_NARROW, sizeof last);
    memcpy(c->bias, bias, count * sizeof *bias);
    memcpy(c->multiplier, multiplier, count * sizeof *multiplier);
    memcpy(last, shift, count), shift = last;
  }
  p->kernel->columns(c, shift);
}

/* Panels side by side of a group, and what follows their sums. */
typedef struct panel_set {
  size_t column, count; /* of the first panel; panels */
  const int8_t *codes;
  pte_rescale_columns columns[PTE_BESIDE];
  bool narrow;
  uint32_t *pairs;
  pte_tile_i8 tile; /* what is the same for all rows */
  _Alignas(64) int32_t sum[PTE_SUMS][PTE_PANEL];
} panel_set;

static void panels_open(const conv_i8_plan *p, size_t group, size_t panel, panel_set *set) {
  set->count = least(p->kernel->most_panels, p->panels - panel);
  set->column = panel * PTE_PANEL;
  set->codes = (const int8_t *)p->call->in[1]->data +
               (group * p->panels + panel) * p->quads * (4 * PTE_PANEL);
  set->narrow = true;
  for (size_t i = 0; i < set->count; i++) {
    size_t column = set->column + i * PTE_PANEL;
    pte_rescale_columns *c = &set->columns[i];
    columns_read(p, group * p->columns + column, least(PTE_PANEL, p->columns - column), c);
    set->narrow = set->narrow && c->narrow;
  }
  if (p->peaks != 0) p->kernel->pairs(p->quads, set->codes, set->pairs);
  const size_t lanes = least(p->columns - set->column, set->count * PTE_PANEL);
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

static strips strips_of(const conv_i8_plan *p, size_t rows) {
  const size_t all = rows + p->zeros, count = ceil_div(all, p->kernel->most_rows);
  return (strips){count, all / count, all % count};
}

/* They lie behind the rows, and pairs of a panel behind them. */
static uint32_t *peaks_of(const conv_i8_plan *p, size_t rows, char *block) {
  return (uint32_t *)(void *)(block + (rows + p->zeros) * p->row_bytes);
}

static bool peaks_fill(const conv_i8_plan *p, pte_pace *pace, size_t rows, char *block) {
  const strips s = strips_of(p, rows);
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
static bool tile_parts(const conv_i8_plan *p, pte_pace *pace, panel_set *set, bool settle,
                       size_t rows, pte_tile_i8 t) {
  static const int32_t nothing[PTE_PANEL];
  int32_t *bias = set->columns[0].bias;
  if (settle) t.start = nothing, t.start_panel = 0;
  for (size_t q = 0; q == 0 || q < p->quads; q += PTE_TILE_QUADS) {
    t.quads = least(p->quads - q, PTE_TILE_QUADS);
    if (!pte_pace_go(pace, (int64_t)(rows * set->count * PTE_PANEL * (t.quads + 1)))) return false;
    t.columns = set->narrow && !settle && q + t.quads == p->quads ? set->columns : NULL;
    p->kernel->tile(rows, set->count, &t);
    t.next += t.quads * t.next_step, t.x += t.quads * 4 * p->kernel->widened,
        t.panel += t.quads * (4 * PTE_PANEL);
    t.start = set->sum[0], t.start_row = set->count * PTE_PANEL, t.start_panel = PTE_PANEL;
  }
  if (settle) {
    p->kernel->settle(rows--, set->count, bias, set->tile.start_panel, set->sum);
    t.start += set->count * PTE_PANEL, t.quads = 0, t.columns = set->columns;
    if (set->narrow && rows > 0) p->kernel->tile(rows, set->count, &t);
  }
  for (size_t i = 0; !set->narrow && i < rows * set->count; i++) {
    size_t m = i / set->count, panel = i % set->count;
    pte_rescale_row(set->sum[i + settle * set->count], set->columns + panel,
                    panel + 1 < set->count ? PTE_PANEL : t.lanes,
                    t.y + m * t.y_stride + panel * PTE_PANEL);
  }
  return true;
}

static bool tile_run(const conv_i8_plan *p, pte_pace *pace, panel_set *set, bool settle,
                     size_t rows) {
  if (settle || !set->narrow || p->quads > PTE_TILE_QUADS)
    return tile_parts(p, pace, set, settle, rows, set->tile);
  if (!pte_pace_go(pace, (int64_t)(rows * set->count * PTE_PANEL * (p->quads + 1)))) return false;
  p->kernel->tile(rows, set->count, &set->tile);
  return true;
}

/* All rows of the block, a row of zeros before them where the variant wants one, times panels from
 * `panel` on; columns past the last exist in the panel only. */
static bool panels_run(const conv_i8_plan *p, pte_pace *pace, size_t group, size_t first,
                       size_t rows, size_t panel, char *block) {
  const size_t all = p->columns * p->groups;
  const strips s = strips_of(p, rows);
  uint32_t *peaks = peaks_of(p, rows, block);
  panel_set set;
  set.pairs = peaks + s.count * p->peaks;
  panels_open(p, group, panel, &set);
  pte_tile_i8 *t = &set.tile;
  t->y = (int8_t *)p->call->out[0]->data + first * all + group * p->columns + set.column;
  /* The panels after these, evenly over all strips. */
  t->next_step = ceil_div(set.count * (4 * PTE_PANEL), s.count);
  t->next = set.codes + set.count * p->quads * (4 * PTE_PANEL);
  t->x = block, t->peaks = peaks;
  for (size_t i = 0, strip; i < s.count; i++, t->peaks += p->peaks) {
    strip = s.each + (i < s.more);
    const bool settle = i < p->zeros;
    if (!tile_run(p, pace, &set, settle, strip)) return false;
    t->next += p->quads * t->next_step, t->x += strip * p->row_bytes;
    t->y += (strip - settle) * all;
  }
  return true;
}

/* A thread's: which band its rows are, SIZE_MAX of none; a line; the rows. A thread has many tasks
 * of a band. */
static size_t *share_of(const conv_i8_plan *p, uint32_t thread) {
  return (size_t *)(void *)((char *)p->call->scratch + p->share_bytes * thread);
}

static void bands_run(const conv_i8_plan *p, size_t begin, size_t end, uint32_t thread) {
  const size_t beside = p->kernel->most_panels, sets = ceil_div(p->panels, beside);
  size_t *filled = share_of(p, thread);
  char *line = (char *)filled + HEAD_BYTES, *block = line + p->line_bytes;
  pte_pace pace = pte_call_pace(p->call);
  if (*filled == SIZE_MAX && p->zeros != 0 && !zeros_fill(p, &pace, block, (int8_t *)line)) return;
  for (size_t i = begin; i < end; i++) {
    size_t band = i / p->column_blocks, part = i % p->column_blocks;
    size_t group = band / p->row_blocks, first = band % p->row_blocks * p->block_rows;
    if (first >= p->rows) continue; /* the blocks before took all */
    size_t rows = least(p->block_rows, p->rows - first);
    char *to = block + p->zeros * p->row_bytes;
    if (band != *filled) {
      *filled = SIZE_MAX;
      if (!rows_fill(p, &pace, group, first, rows, to, (int8_t *)line)) return;
      if (p->peaks != 0 && !peaks_fill(p, &pace, rows, block)) return;
      *filled = band;
    }
    size_t last = sets * (part + 1) / p->column_blocks;
    for (size_t set = sets * part / p->column_blocks; set < last; set++)
      if (!panels_run(p, &pace, group, first, rows, set * beside, block)) return;
  }
}

static void conv_i8_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const conv_i8_plan *p = context;
  if (p->kernel->enter != NULL) p->kernel->enter();
  bands_run(p, begin, end, thread);
  if (p->kernel->leave != NULL) p->kernel->leave();
}

/* --- depthwise
 * --------------------------------------------------------------------------------------------- */

typedef struct depthwise_run {
  const conv_i8_plan *plan;
  pte_taps_i8 taps;
  const int8_t *zeros; /* a pixel of x_zero */
  char *shares;
} depthwise_run;

static bool weights_fill(const conv_i8_plan *p, pte_pace *pace, const pte_taps_i8 *t,
                         pte_rescale_columns *columns) {
  for (size_t c = 0; c < p->channels; c += SET) {
    const size_t count = least(SET, p->channels - c);
    if (!pte_pace_go(pace, (int64_t)((p->depth + 4) * SET))) return false;
    for (size_t i = 0; i < SET; i += PTE_PANEL)
      columns_read(p, c + i, i < count ? least(PTE_PANEL, count - i) : 0,
                   &columns[(c + i) / PTE_PANEL]);
    p->kernel->lay(t, c, count, (const int8_t *)p->call->in[1]->data + c * 4 * p->quads);
  }
  return true;
}

/* Where the taps of `pixel` read, and three times more the last. */
static void taps_fill(const depthwise_run *r, const int8_t *image, const pte_conv_pixel *pixel,
                      const int8_t **tap) {
  const conv_i8_plan *p = r->plan;
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
  const conv_i8_plan *p = r->plan;
  for (size_t c = 0, some; c < p->channels; c += some) {
    int64_t cost = (int64_t)(p->depth * pixels);
    some = (size_t)pte_pace_take(pace, (int64_t)(p->channels - c), cost, SET);
    if (some == 0) return false;
    p->kernel->taps(&r->taps, c, c + some, tap, pixels, step, y);
  }
  return true;
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  const conv_i8_plan *p = r->plan;
  const pte_conv_axis *axis = p->w.axis;
  const int64_t image = axis[0].in * axis[1].in * axis[2].in * p->w.channels;
  const int8_t **tap = (const int8_t **)(void *)(r->shares + p->share_bytes * thread);
  int8_t *y = (int8_t *)p->call->out[0]->data + begin * p->channels;
  pte_pace pace = pte_call_pace(p->call);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, begin);
  for (size_t i = begin, some; i < end; i += some, y += some * p->channels) {
    const int8_t *x = (const int8_t *)p->call->in[0]->data + pixel.batch * image;
    some = most(1, least(least(windows_inside(p, &pixel), MOST_PIXELS), end - i));
    if (!pte_pace_go(&pace, (int64_t)p->depth)) return;
    taps_fill(r, x, &pixel, tap);
    if (!taps_run(r, &pace, tap, some, (size_t)axis[2].stride * p->channels, y)) return;
    pixel.at[2] += (int64_t)some - 1; /* they lie in one line */
    pte_conv_pixel_next(&p->w, &pixel);
  }
}

/* The windows of a line of y from `pixel` on, `count` of them. */
static bool walk_run(const depthwise_run *r, pte_pace *pace, const pte_conv_pixel *pixel,
                     size_t count, int8_t *y) {
  const conv_i8_plan *p = r->plan;
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
  for (size_t c = 0, some; c < p->channels; c += some) {
    int64_t cost = (int64_t)(p->depth * count);
    some = (size_t)pte_pace_take(pace, (int64_t)(p->channels - c), cost, SET);
    if (some == 0) return false;
    p->kernel->walk(&r->taps, c, c + some, &w);
  }
  return true;
}

/* Items are lines of y. */
static void walk_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  const conv_i8_plan *p = r->plan;
  const size_t width = (size_t)p->w.axis[2].out;
  int8_t *y = (int8_t *)p->call->out[0]->data;
  pte_pace pace = pte_call_pace(p->call);
  (void)thread;
  for (size_t i = begin * width, some; i < end * width; i += some) {
    const pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, i);
    some = least(width - (size_t)pixel.at[2], LONG_LINE);
    if (!walk_run(r, &pace, &pixel, some, y + i * p->channels)) return;
  }
}

static pte_status run_depthwise(conv_i8_plan *p, pte_pace *pace) {
  char *scratch = p->call->scratch;
  pte_rescale_columns *columns = (void *)(scratch + p->weight_bytes);
  int8_t *zeros = (int8_t *)scratch + p->weight_bytes + p->column_bytes;
  depthwise_run r = {
      .plan = p,
      .taps = {p->depth, p->channels, columns, scratch, p->walk},
      .zeros = zeros,
      .shares = (char *)zeros + p->line_bytes
  };
  if (!weights_fill(p, pace, &r.taps, columns)) return PTE_CANCELLED;
  if (!pte_row_move(pace, zeros, 1, &(int8_t){(int8_t)p->attrs->x_zero}, 0, (int64_t)p->channels,
                    1))
    return PTE_CANCELLED;
  const size_t line = (size_t)p->w.axis[2].out;
  if (p->walk)
    pte_parallel(p->call, p->rows / line, 1 + LINE_WORK / (line * p->channels + 1), walk_task, &r);
  else
    pte_parallel(p->call, p->rows, 1 + 4 * TASK_WORK / (p->depth * p->channels + 1), depthwise_task,
                 &r);
  return PTE_OK;
}

/* --- the operator
 * ---------------------------------------------------------------------------------------------- */

static pte_status conv_i8_scratch(const pte_call *call, uint64_t *out_bytes) {
  conv_i8_plan p;
  bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, out_bytes) &&
              pte_add(*out_bytes, p.weight_bytes, out_bytes) &&
              pte_add(*out_bytes, p.column_bytes, out_bytes) &&
              (!p.depthwise || pte_add(*out_bytes, p.line_bytes, out_bytes));
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_i8_run(const pte_call *call) {
  conv_i8_plan p;
  const int8_t *shift = call->in[4]->data;
  pte_pace pace = pte_call_pace(call);
  if (!plan_of(call, &p)) return PTE_NO_MEMORY;
  for (int64_t n = 0, end = 0, all = call->in[4]->shape[0]; n < all; n++) {
    if (n == end && (end += pte_pace_take(&pace, all - n, 1, 1)) == n) return PTE_CANCELLED;
    if (shift[n] < PTE_SHIFT_LEAST || shift[n] > PTE_SHIFT_MOST)
      return pte_kernel_fail(call, PTE_BAD_DATA, "shift out of range", 4, n, shift[n],
                             PTE_SHIFT_MOST);
  }
  if (p.rows == 0 || p.columns == 0) return PTE_OK;
  if (p.depthwise) return run_depthwise(&p, &pace);
  for (uint32_t i = 0; i < call->threads; i++) *share_of(&p, i) = SIZE_MAX;
  pte_parallel(call, p.groups * p.row_blocks * p.column_blocks, 1, conv_i8_task, &p);
  return PTE_OK;
}

const pte_kernel pte_conv_i8_kernel = {.scratch = conv_i8_scratch, .run = conv_i8_run};
