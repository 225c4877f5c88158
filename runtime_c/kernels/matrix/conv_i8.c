/* conv_i8: y[b, o, n] = rescale(bias[n] + sum over taps t, then channels c of the group, of x[b, o
 * * stride + t * dilation - begin, c] * w[n, t, c]), int8 in and out (rescale.h), sums in int32
 * that wraps. x and y dense, channels last; w int8 in panels [n/16][k/4][16][4]; no aliasing.
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

enum {
  BLOCK_BYTES = 65536, /* of gathered rows, about */
  BLOCK_ROWS = 16 * PTE_STRIP,
  LEAST_ROWS = 4 * PTE_STRIP, /* of a block that was made smaller for the threads */
  TASK_WORK = 131072,         /* products that are worth a task, in sixteens */
  TILE_QUADS = 8192,          /* of four products, of a tile */
  MOST_TAPS = 8192            /* of the depthwise way, which sums them in one piece */
};

typedef struct conv_i8_plan {
  const pte_call *call;
  const pte_conv_i8_attrs *attrs;
  const pte_gemm_static *kernel;
  pte_conv_window w;
  size_t groups, rows, columns, channels, depth, quads, panels; /* but for rows, of one group */
  size_t block_rows, row_blocks, column_blocks;
  bool matrix; /* rows of x are rows of a matrix */
  bool depthwise;
  uint64_t row_bytes, line_bytes, share_bytes;
  uint64_t weight_bytes, column_bytes, offset_bytes; /* depthwise: in front of the shares */
} conv_i8_plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

static pte_conv_lists lists_of(const pte_conv_i8_attrs *a) {
  return (pte_conv_lists){a->kernel, a->stride, a->dilation, a->begin, a->end, a->spread};
}

/* Blocks of rows, more and smaller ones where threads would idle, then blocks of columns. */
static void plan_blocks(conv_i8_plan *p, uint32_t threads) {
  size_t fit = least(BLOCK_ROWS, BLOCK_BYTES / ((size_t)p->row_bytes + 1)) / PTE_STRIP * PTE_STRIP;
  size_t work = p->depth * PTE_PANEL * p->rows / TASK_WORK * p->panels * p->groups;
  size_t wanted = threads <= 1 ? 1 : least(4 * (size_t)threads, work + 1);
  size_t share = ceil_div(p->rows, most(wanted / most(p->groups, 1), 1));
  p->block_rows = least(most(fit, PTE_STRIP), most(pte_strips(share) * PTE_STRIP, LEAST_ROWS));
  p->row_blocks = ceil_div(p->rows, p->block_rows);
  p->column_blocks =
      most(1, least(p->panels, ceil_div(wanted, most(1, p->row_blocks * p->groups))));
}

/* All channels are a group: a line holds a whole window. */
static bool plan_depthwise(conv_i8_plan *p) {
  size_t blocks = pte_panel_count(p->groups);
  uint64_t taps = 2 * ceil_div(p->depth, 2);
  p->channels = p->groups, p->groups = 1;
  bool fits = pte_mul(p->depth, p->channels, &p->line_bytes) &&
              pte_align(p->line_bytes, 64, &p->line_bytes) &&
              pte_mul(taps, blocks * sizeof(int16_t[PTE_PANEL]), &p->weight_bytes) &&
              pte_align(p->weight_bytes, 64, &p->weight_bytes) &&
              pte_mul(blocks, sizeof(pte_rescale_columns), &p->column_bytes) &&
              pte_align(p->column_bytes, 64, &p->column_bytes) &&
              pte_mul(taps, 2 * sizeof(int64_t), &p->offset_bytes) &&
              pte_align(p->offset_bytes, 64, &p->offset_bytes);
  p->share_bytes = p->line_bytes;
  return fits;
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
  p->depthwise = p->groups > 1 && p->channels == 1 && p->columns == 1 && p->depth <= MOST_TAPS;
  if (p->depthwise) return plan_depthwise(p);
  uint64_t rows;
  if (!pte_mul(p->quads, 8, &p->row_bytes) || !pte_align(p->row_bytes, 64, &p->row_bytes) ||
      !pte_align(p->depth, 64, &p->line_bytes))
    return false;
  plan_blocks(p, call->threads);
  return pte_mul(p->row_bytes, p->block_rows, &rows) &&
         pte_add(rows, p->line_bytes, &p->share_bytes);
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
  if (p->groups == 1 && axis->dilation == 1 && axis->spread == 1 && place >= 0 &&
      place + axis->kernel <= axis->in) {
    memcpy(to, line + (size_t)place * p->channels, whole);
    return to + whole;
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

/* Rows first .. first + count of a group, widened, at `to`; `line` holds one of them before. */
static bool rows_fill(const conv_i8_plan *p, pte_pace *pace, size_t group, size_t first,
                      size_t count, char *to, int8_t *line) {
  const pte_conv_axis *axis = p->w.axis;
  const int8_t *x = (const int8_t *)p->call->in[0]->data + group * p->channels;
  int64_t image = axis[0].in * axis[1].in * axis[2].in * p->w.channels;
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, first);
  if (p->depth == 0) return true; /* nor is there scratch for rows */
  for (size_t r = 0; r < count; r++, to += p->row_bytes) {
    const int8_t *row = x + (first + r) * (size_t)p->w.channels;
    if (!pte_pace_go(pace, (int64_t)p->depth)) return false;
    if (!p->matrix) {
      gather(p, x + pixel.batch * image, &pixel, line);
      pte_conv_pixel_next(&p->w, &pixel);
      row = line;
    }
    p->kernel->widen(p->depth, row, to);
  }
  return true;
}

/* --- sums
 * ------------------------------------------------------------------------------------------------------
 */

static pte_rescale_columns columns_of(const conv_i8_plan *p, size_t column, size_t count) {
  const pte_conv_i8_attrs *a = p->attrs;
  const pte_tensor *const *in = p->call->in;
  pte_rescale_columns c = {
      .zero = (int32_t)a->y_zero, .low = (int32_t)a->low, .high = (int32_t)a->high};
  for (size_t n = 0; n < PTE_PANEL; n++) {
    bool exists = n < count;
    c.bias[n] = exists ? ((const int32_t *)in[2]->data)[column + n] : 0;
    c.multiplier[n] = exists ? ((const int32_t *)in[3]->data)[column + n] : 0;
    c.shift[n] = exists ? ((const int8_t *)in[4]->data)[column + n] : PTE_SHIFT_LEAST;
  }
  return c;
}

/* Sums of a strip, as far as a tile goes at a time: they wrap, so that parts add up to the whole.
 */
static bool strip_sum(const conv_i8_plan *p, pte_pace *pace, size_t rows, const char *x,
                      const int8_t *codes, int32_t (*sum)[PTE_PANEL]) {
  const size_t row_bytes = (size_t)p->row_bytes, element = p->kernel->widened;
  int32_t part[PTE_STRIP][PTE_PANEL];
  for (size_t q = 0; q == 0 || q < p->quads; q += TILE_QUADS) {
    size_t quads = least(p->quads - q, TILE_QUADS);
    if (!pte_pace_go(pace, (int64_t)(rows * PTE_PANEL * (quads + 1)))) return false;
    p->kernel->tile(rows, quads, x + q * 4 * element, row_bytes, codes + q * 4 * PTE_PANEL,
                    q == 0 ? sum : part);
    for (size_t i = 0; q > 0 && i < rows * PTE_PANEL; i++)
      sum[0][i] = pte_wrapping_add(sum[0][i], part[0][i]);
  }
  return true;
}

/* All rows of the block times panel `panel` of the group; columns past the last exist in the panel
 * only. */
static bool panel_run(const conv_i8_plan *p, pte_pace *pace, size_t group, size_t first,
                      size_t rows, size_t panel, const char *block) {
  size_t count = least(PTE_PANEL, p->columns - panel * PTE_PANEL), all = p->columns * p->groups;
  size_t column = group * p->columns + panel * PTE_PANEL;
  const int8_t *codes = (const int8_t *)p->call->in[1]->data +
                        (group * p->panels + panel) * p->quads * (4 * PTE_PANEL);
  const pte_rescale_columns columns = columns_of(p, column, count);
  int8_t *y = (int8_t *)p->call->out[0]->data + first * all + column;
  for (size_t i = 0; i < pte_strips(rows); i++) {
    size_t at = pte_strip_begin(rows, i), strip = pte_strip_begin(rows, i + 1) - at;
    int32_t sum[PTE_STRIP][PTE_PANEL];
    int8_t tile[PTE_STRIP][PTE_PANEL];
    if (!strip_sum(p, pace, strip, block + at * p->row_bytes, codes, sum)) return false;
    if (count == PTE_PANEL) {
      p->kernel->rescale(strip, sum, &columns, y + at * all, all);
      continue;
    }
    p->kernel->rescale(strip, sum, &columns, tile[0], PTE_PANEL);
    for (size_t m = 0; m < strip; m++) memcpy(y + (at + m) * all, tile[m], count);
  }
  return true;
}

static void conv_i8_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const conv_i8_plan *p = context;
  char *line = (char *)p->call->scratch + p->share_bytes * thread, *block = line + p->line_bytes;
  size_t filled = SIZE_MAX;
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    size_t band = i / p->column_blocks, part = i % p->column_blocks;
    size_t group = band / p->row_blocks, first = band % p->row_blocks * p->block_rows;
    size_t rows = least(p->block_rows, p->rows - first);
    if (band != filled && !rows_fill(p, &pace, group, first, rows, block, (int8_t *)line)) return;
    filled = band;
    size_t panel_end = p->panels * (part + 1) / p->column_blocks;
    for (size_t panel = p->panels * part / p->column_blocks; panel < panel_end; panel++)
      if (!panel_run(p, &pace, group, first, rows, panel, block)) return;
  }
}

/* --- depthwise
 * --------------------------------------------------------------------------------------------- */

typedef struct depthwise_run {
  const conv_i8_plan *plan;
  pte_taps_i8 taps;
  const int64_t *inside, *gathered; /* where taps lie, from the first: in x, in a line */
  char *lines;
} depthwise_run;

/* Of each group the panel has one row; here sixteen channels lie side by side. */
static bool weights_fill(const conv_i8_plan *p, pte_pace *pace, int16_t *weight) {
  const int8_t *codes = p->call->in[1]->data;
  static const int16_t zero = 0;
  if (!pte_row_move(pace, weight, 1, &zero, 0, (int64_t)p->weight_bytes / 2, 2)) return false;
  for (size_t c = 0; c < p->channels; c++, codes += p->quads * (4 * PTE_PANEL)) {
    if (!pte_pace_go(pace, (int64_t)p->depth)) return false;
    for (size_t k = 0; k < p->depth; k++) {
      size_t pair = c / PTE_PANEL * ceil_div(p->depth, 2) + k / 2;
      weight[(pair * PTE_PANEL + c % PTE_PANEL) * 2 + k % 2] =
          codes[k / 4 * (4 * PTE_PANEL) + k % 4];
    }
  }
  return true;
}

/* `count` is even; where taps are not, the last one comes twice. */
static void offsets_fill(const conv_i8_plan *p, size_t count, int64_t *inside, int64_t *gathered) {
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  for (size_t i = 0; i < count; i++) {
    int64_t t = (int64_t)least(i, p->depth - 1), line = t / wide->kernel;
    int64_t z = line / high->kernel * deep->dilation, y = line % high->kernel * high->dilation;
    int64_t x = t % wide->kernel * wide->dilation;
    inside[i] = ((z * high->in + y) * wide->in + x) * p->w.channels;
    gathered[i] = t * p->w.channels;
  }
}

/* Where the window of `pixel` begins within its image, or -1: it is not whole. */
static int64_t window_begin(const conv_i8_plan *p, const pte_conv_pixel *pixel) {
  int64_t begin = 0;
  for (unsigned i = 0; i < PTE_CONV_AXES; i++) {
    const pte_conv_axis *axis = &p->w.axis[i];
    int64_t place = pixel->at[i] * axis->stride - axis->begin;
    if (axis->spread > 1 || place < 0 || place + (axis->kernel - 1) * axis->dilation >= axis->in)
      return -1;
    begin = begin * axis->in + place;
  }
  return begin * p->w.channels;
}

/* One pixel, some channels at a time. */
static bool taps_run(const depthwise_run *r, pte_pace *pace, const int64_t *offset, const int8_t *x,
                     int8_t *y) {
  pte_taps_i8 t = r->taps;
  for (size_t c = 0, all = t.channels; c < all; c += t.channels) {
    int64_t count = pte_pace_take(pace, (int64_t)(all - c), 2 * (int64_t)t.pairs, PTE_PANEL);
    if (count == 0) return false;
    t.channels = (size_t)count;
    t.weight = r->taps.weight + 2 * c * t.pairs;
    t.columns = r->taps.columns + c / PTE_PANEL;
    r->plan->kernel->taps(&t, offset, x + c, y + c);
  }
  return true;
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  const conv_i8_plan *p = r->plan;
  const pte_conv_axis *axis = p->w.axis;
  int64_t image = axis[0].in * axis[1].in * axis[2].in * p->w.channels;
  int8_t *line = (int8_t *)r->lines + p->share_bytes * thread;
  int8_t *y = (int8_t *)p->call->out[0]->data + begin * p->channels;
  pte_pace pace = pte_call_pace(p->call);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, begin);
  for (size_t i = begin; i < end; i++, y += p->channels) {
    const int8_t *x = (const int8_t *)p->call->in[0]->data + pixel.batch * image;
    int64_t first = window_begin(p, &pixel);
    if (first < 0) gather(p, x, &pixel, line);
    if (!taps_run(r, &pace, first < 0 ? r->gathered : r->inside, first < 0 ? line : x + first, y))
      return;
    pte_conv_pixel_next(&p->w, &pixel);
  }
}

static pte_status run_depthwise(conv_i8_plan *p, pte_pace *pace) {
  char *scratch = p->call->scratch;
  int16_t *weight = (int16_t *)(void *)scratch;
  pte_rescale_columns *columns = (void *)(scratch + p->weight_bytes);
  int64_t *offsets = (void *)(scratch + p->weight_bytes + p->column_bytes);
  size_t pairs = ceil_div(p->depth, 2);
  depthwise_run r = {
      .plan = p,
      .taps = {pairs, p->channels, weight, columns},
      .inside = offsets,
      .gathered = offsets + 2 * pairs,
      .lines = (char *)offsets + p->offset_bytes
  };
  if (!weights_fill(p, pace, weight)) return PTE_CANCELLED;
  offsets_fill(p, 2 * pairs, offsets, offsets + 2 * pairs);
  for (size_t c = 0; c < p->channels && pte_pace_go(pace, 4 * PTE_PANEL); c += PTE_PANEL)
    columns[c / PTE_PANEL] = columns_of(p, c, least(PTE_PANEL, p->channels - c));
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
              pte_add(*out_bytes, p.offset_bytes, out_bytes);
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
  pte_parallel(call, p.groups * p.row_blocks * p.column_blocks, 1, conv_i8_task, &p);
  return PTE_OK;
}

const pte_kernel pte_conv_i8_kernel = {.scratch = conv_i8_scratch, .run = conv_i8_run};
