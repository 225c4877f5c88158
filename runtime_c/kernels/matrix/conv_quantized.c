#include "kernels/matrix/conv_quantized.h"

#include <string.h>

#include "core/integer.h"
#include "core/machine.h"
#include "core/size.h"
#include "kernels/blocks.h"
#include "kernels/gemm_int8/tiles.h"
#include "kernels/matrix/conv_quantized_depthwise.h"
#include "kernels/panels.h"
#include "kernels/requantize/shifts.h"

enum {
  SMALL = PTE_CONV_SMALL,
  SMALL_BYTES = 1024, /* of gathered rows, about, where memory is small */
  FEW_ROWS = 64,      /* take more bytes elsewhere: weights come far for each block */
  HEAD_BYTES = 64,    /* of a thread's share */
  BLOCK_ROWS = 192,
  TASK_WORK = 131072, /* products of bytes that are worth a task, in sixteens */
  MANY_TAPS = 8192    /* of a depthwise channel: fewer are summed in one piece (as the rows say) */
};

/* --- the plan --------------------------------------------------------------------------------- */

/* Blocks of rows, all about as large, as many for each thread, then blocks of columns where threads
 * would idle, as many for each, too. */
static void plan_blocks(pte_conv_plan *p, size_t threads) {
  const size_t bytes = p->element->bytes, row = (4 * p->quads + 1) * bytes;
  const size_t sets = pte_ceil_div(p->panels, p->most_panels);
  const size_t work =
      pte_tasks_worth(p->depth * PTE_PANEL * p->rows, p->panels * p->groups, TASK_WORK / bytes);
  const size_t wanted = threads <= 1 ? 1 : pte_least(4 * threads, work + 1);
  const size_t share = p->in_place ? pte_ceil_div(p->rows, wanted) : 0; /* costs no gathering */
  const pte_machine *machine = pte_call_machine(p->call);
  const size_t block = SMALL ? SMALL_BYTES : pte_block_of(machine, PTE_BLOCK_GATHERED_BYTES);
  const size_t few = SMALL ? SMALL_BYTES : pte_block_of(machine, PTE_BLOCK_GATHERED_FEW);
  size_t fit = pte_most(block / row, pte_least(FEW_ROWS, few / row));
  fit = pte_least(fit, pte_most(share, BLOCK_ROWS));
  fit = pte_most(fit, PTE_TALL / bytes) - pte_conv_zeros(p);
  p->row_blocks = pte_most(pte_ceil_div(p->rows, fit), 1);
  if (p->row_blocks > 1 && wanted > 1)
    p->row_blocks = pte_ceil_div(p->row_blocks, threads) * threads;
  p->block_rows = pte_ceil_div(p->rows, p->row_blocks);
  if (p->row_blocks > 1) p->block_rows = pte_ceil_div(p->block_rows, p->unit_rows) * p->unit_rows;
  const size_t bands = p->row_blocks * p->groups;
  p->column_blocks = pte_most(1, pte_least(sets, pte_ceil_div(wanted, pte_most(1, bands))));
  if (bands % threads == 0 || p->column_blocks < threads)
    return; /* each has as many, or one none */
  p->column_blocks -= p->column_blocks % threads;
  p->odd_sets = sets % threads != 0;
}

/* Bytes of a thread's share and of what is kept. */
static bool plan_bytes(pte_conv_plan *p) {
  const size_t rows = p->in_place ? 0 : p->block_rows + p->more_rows;
  const size_t settled = p->settles && p->row_blocks > 1 && p->groups == 1 ? p->panels : 0;
  uint64_t bytes = 8 * (p->quads + 8) + 64; /* of any variant's row */
  return pte_mul(SMALL ? 0 : p->panels, p->groups * sizeof(pte_rescale_columns),
                 &p->column_bytes) &&
         pte_mul(settled, sizeof(pte_rescale_columns) + 1, &p->settled_bytes) &&
         pte_align(p->settled_bytes, 64, &p->settled_bytes) &&
         pte_align(p->depth * p->element->bytes, 64, &p->line_bytes) &&
         pte_mul(bytes, rows, &bytes) && pte_align(bytes, 64, &bytes) &&
         pte_add(bytes, p->settled_bytes, &bytes) &&
         pte_add(bytes, p->line_bytes + HEAD_BYTES, &p->share_bytes);
}

static bool plan_of(const pte_call *call, const pte_conv_given *given, pte_conv_plan *p) {
  const pte_tensor *y = call->out[0], *w = call->in[1];
  *p = (pte_conv_plan){.call = call, .element = given->element, .numbers = given->numbers};
  p->w = pte_conv_window_of(call, &given->lists);
  p->groups = (size_t)given->numbers.groups;
  p->rows = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  p->columns = (size_t)w->shape[0] / p->groups;
  p->channels = (size_t)p->w.channels / p->groups;
  p->depth = (size_t)w->shape[1];
  p->quads = pte_ceil_div(p->depth, 4);
  p->panels = pte_panel_count(p->columns);
  p->matrix = pte_conv_is_matrix(&p->w);
  p->depthwise = p->groups > 1 && p->channels == 1 && p->columns == 1 && p->depth < MANY_TAPS;
  p->element->open(p);
  if (p->depthwise) return pte_conv_taps_plan(p);
  p->in_place = p->as_is && p->matrix && p->depth % 4 == 0;
  p->row_bytes = (4 * p->quads * p->widened + 63) / 64 * 64;
  if (pte_machine_same_set(pte_call_machine(p->call), p->row_bytes)) p->row_bytes += 64;
  if (p->in_place) p->row_bytes = (size_t)p->w.channels * p->element->bytes;
  plan_blocks(p, call->threads);
  return plan_bytes(p);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* How many windows from `pixel` on are runs of lines, which the variant gathers itself. */
static size_t inside_of(const pte_conv_plan *p, const pte_conv_pixel *pixel) {
  const pte_conv_axis *axis = p->w.axis;
  if (p->groups > 1 || axis[0].kernel > 1 || axis[2].dilation > 1) return 0;
  return pte_conv_windows_inside(&p->w, pixel);
}

/* The lines of windows from `pixel` on in x, which is the image's first. */
static void lines_find(const pte_conv_plan *p, const pte_conv_pixel *pixel, const char *x,
                       pte_gather *g) {
  const pte_conv_axis *axis = p->w.axis;
  const int64_t pixel_bytes = p->w.channels * (int64_t)p->element->bytes;
  const int64_t y = pixel->at[1] * axis[1].stride - axis[1].begin;
  const int64_t z = pixel->at[0] * axis[0].stride - axis[0].begin;
  const int64_t place = pixel->at[2] * axis[2].stride - axis[2].begin;
  g->x = x + ((z * axis[1].in + y) * axis[2].in + place) * pixel_bytes;
  g->step = (size_t)(axis[2].stride * pixel_bytes);
  g->lines = (size_t)axis[1].kernel;
  g->pitch = (size_t)(axis[1].dilation * axis[2].in * pixel_bytes);
  g->bytes = (size_t)(axis[2].kernel * pixel_bytes);
}

/* Rows of the block; `line` holds one of them before. */
static bool rows_fill(const pte_conv_plan *p, pte_pace *pace, const pte_conv_block *b, char *line) {
  const size_t bytes = p->element->bytes, pixel_bytes = (size_t)p->w.channels * bytes;
  const int64_t image = pte_conv_image(&p->w) * (int64_t)bytes;
  const char *x = (const char *)p->call->in[0]->data + b->group * p->channels * bytes;
  const pte_conv_gather windows = pte_conv_gather_of(p);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, b->first);
  char *to = b->x;
  if (p->depth == 0) return true; /* nor is there scratch for rows */
  for (size_t r = 0, some; r < b->rows; r += some, to += some * p->row_bytes) {
    const size_t left = b->rows - r;
    const size_t inside = p->matrix ? left : pte_least(inside_of(p, &pixel), left);
    some = (size_t)pte_pace_take(pace, (int64_t)pte_most(inside, 1), (int64_t)p->depth, 1);
    if (some == 0) return false;
    pte_gather g = {.x = line,
                    .windows = some,
                    .lines = 1,
                    .bytes = p->depth * bytes,
                    .to = to,
                    .row_bytes = p->row_bytes};
    if (p->matrix) g.x = x + (b->first + r) * pixel_bytes, g.step = pixel_bytes;
    else if (inside > 0) lines_find(p, &pixel, x + pixel.batch * image, &g);
    else pte_conv_gather_window(&windows, x + pixel.batch * image, &pixel, line);
    p->element->gather(p, &g);
    if (p->matrix) continue;
    pixel.at[2] += (int64_t)some - 1; /* they lie in one line */
    pte_conv_pixel_next(&p->w, &pixel);
  }
  return true;
}

/* A row of zeros in the variant's form. */
static bool zeros_fill(const pte_conv_plan *p, pte_pace *pace, char *to, char *line) {
  const size_t bytes = p->depth * p->element->bytes;
  if (p->depth == 0) return true;
  if (!pte_pace_go(pace, (int64_t)p->depth)) return false;
  memset(line, 0, bytes);
  const pte_gather g = {
      .x = line, .windows = 1, .lines = 1, .bytes = bytes, .to = to, .row_bytes = p->row_bytes};
  p->element->gather(p, &g);
  return true;
}

/* --- columns ---------------------------------------------------------------------------------- */

void pte_conv_columns_read(const pte_conv_plan *p, size_t column, size_t count,
                           pte_rescale_columns *c) {
  const pte_tensor *const *in = p->call->in;
  int8_t shift[PTE_PANEL];
  memset(c, 0, sizeof *c);
  c->zero = p->numbers.y_zero, c->low = p->numbers.low, c->high = p->numbers.high;
  pte_shifts_read((const int8_t *)in[4]->data + column, count, shift);
  if (count > 0) {
    memcpy(c->bias, (const int32_t *)in[2]->data + column, count * sizeof *c->bias);
    memcpy(c->multiplier, (const int32_t *)in[3]->data + column, count * sizeof *c->multiplier);
  }
  p->element->complete(p, c, shift);
}

const pte_rescale_columns *pte_conv_columns(const pte_conv_plan *p, size_t group, size_t panel,
                                            size_t count, pte_rescale_columns *own) {
  if (!SMALL) return pte_conv_kept_columns(p) + group * p->panels + panel;
  for (size_t i = 0; i < count; i++) {
    const size_t column = (panel + i) * PTE_PANEL;
    pte_conv_columns_read(p, group * p->columns + column, pte_least(PTE_PANEL, p->columns - column),
                          own + i);
  }
  return own;
}

static bool columns_keep(const pte_conv_plan *p, pte_pace *pace) {
  pte_rescale_columns *c = pte_conv_kept_columns(p);
  for (size_t group = 0; !SMALL && group < p->groups; group++)
    for (size_t column = 0; column < p->columns; column += PTE_PANEL, c++) {
      if (!pte_pace_go(pace, 4 * PTE_PANEL)) return false;
      pte_conv_columns_read(p, group * p->columns + column,
                            pte_least(PTE_PANEL, p->columns - column), c);
    }
  return true;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The first panel of a block of columns. */
static size_t part_begin(const pte_conv_plan *p, size_t part) {
  const size_t beside = p->most_panels, sets = pte_ceil_div(p->panels, beside);
  if (!SMALL && p->odd_sets) return p->panels * part / p->column_blocks;
  return pte_least(p->panels, sets * part / p->column_blocks * beside);
}

/* A thread's: which band its rows are, SIZE_MAX of none; a line; the rows; what is settled. A
 * thread has many tasks of a band. */
static size_t *share_of(const pte_conv_plan *p, uint32_t thread) {
  return (size_t *)(void *)((char *)p->call->scratch + p->share_bytes * thread);
}

/* Rows of the block in place or in the thread's share, where those of its band may be already. */
static bool block_open(const pte_conv_plan *p, pte_pace *pace, size_t band, pte_conv_block *b) {
  size_t *filled = (size_t *)(void *)b->share;
  char *line = b->share + HEAD_BYTES, *rows = line + p->line_bytes;
  b->fresh = band != *filled;
  b->x = rows + pte_conv_zeros(p) * p->row_bytes;
  if (p->in_place) {
    b->x = (char *)p->call->in[0]->data + b->first * p->row_bytes +
           b->group * p->depth * p->element->bytes;
    return true;
  }
  if (!b->fresh) return true;
  if (*filled == SIZE_MAX && pte_conv_zeros(p) != 0 && !zeros_fill(p, pace, rows, line))
    return false;
  *filled = SIZE_MAX;
  if (!rows_fill(p, pace, b, line)) return false;
  *filled = band;
  return true;
}

static void bands_run(const pte_conv_plan *p, size_t begin, size_t end, uint32_t thread) {
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const size_t band = i / p->column_blocks, part = i % p->column_blocks;
    pte_conv_block b = {.group = band / p->row_blocks,
                        .first = band % p->row_blocks * p->block_rows,
                        .share = (char *)share_of(p, thread)};
    if (b.first >= p->rows) continue; /* the blocks before took all */
    b.rows = pte_least(p->block_rows, p->rows - b.first);
    if (!block_open(p, &pace, band, &b)) return;
    const size_t last = part_begin(p, part + 1);
    for (size_t at = part_begin(p, part), count; at < last; at += count, b.fresh = false) {
      count = pte_least(p->most_panels, last - at);
      if (!p->element->panels(p, &pace, &b, at, count)) return;
    }
  }
}

static void bands_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_conv_plan *p = context;
  if (!SMALL && p->enter != NULL) p->enter();
  bands_run(p, begin, end, thread);
  if (!SMALL && p->leave != NULL) p->leave();
}

/* --- the kernel ------------------------------------------------------------------------------- */

pte_status pte_conv_quantized_needs(const pte_call *call, const pte_conv_given *given,
                                    pte_conv_plan *p, pte_needs *out) {
  const bool fits = plan_of(call, given, p) &&
                    pte_mul(p->share_bytes, call->threads, &out->scratch) &&
                    (!p->depthwise || pte_add(out->scratch, p->line_bytes, &out->scratch)) &&
                    pte_add(p->weight_bytes, p->column_bytes, &out->kept) &&
                    pte_add(out->kept, p->plan_bytes, &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

pte_status pte_conv_quantized_keep(const pte_call *call, const pte_conv_given *given) {
  pte_conv_plan *p = call->kept;
  pte_pace pace = pte_call_pace(call);
  if (!plan_of(call, given, p)) return PTE_NO_MEMORY;
  PTE_TRY(pte_shifts_check(call, &pace));
  if (p->rows == 0 || p->columns == 0) return PTE_OK;
  const bool kept = p->depthwise ? pte_conv_taps_keep(p, &pace) : columns_keep(p, &pace);
  return kept ? PTE_OK : PTE_CANCELLED;
}

pte_status pte_conv_quantized_run(const pte_call *call) {
  pte_conv_plan *p = call->kept;
  p->call = call;
  if (p->rows == 0 || p->columns == 0) return PTE_OK;
  if (p->depthwise) return pte_conv_taps_run(p);
  for (uint32_t i = 0; i < call->threads; i++) {
    *share_of(p, i) = SIZE_MAX;
    if (!SMALL && p->settled_bytes != 0)
      memset(pte_conv_there(p, (char *)share_of(p, i)), 0, p->panels);
  }
  pte_parallel(call, p->groups * p->row_blocks * p->column_blocks, 1, bands_task, p);
  return PTE_OK;
}
