/* conv_winograd: y = conv(x, w) for windows of 3 x 3 and stride 1, zeros around x, by Winograd's
 * F(4 x 4, 3 x 3): each 6 x 6 pixels of x, which overlap by 2, give 4 x 4 of y,
 *
 *     y = A^T ((B^T x B) * U) A      U = G w G^T, made at export
 *
 * with 36 products a channel and output instead of 144; * is, for each of the 36, a matrix product
 * over channels. x [b, h, w, c] dense, y [b, oh, ow, n] dense, c and n multiples of 16; no
 * aliasing.
 *
 * The transforms are fused steps in a fixed order, the products the chains of gemm.h, so threads,
 * blocks and variants change no bit. A block of tiles stays in L2 from transform to transform while
 * the weights, of which there are four times as many as pixels ask for, stream by. Source: Lavin
 * and Gray 2015. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/matrix/gemm.h"

enum {
  PRODUCTS = 36,
  BLOCK_FLOATS = 3 << 17, /* transformed pixels and sums of a block: 1.5 MiB of L2 */
  MOST_PANELS = 16        /* of a block's columns */
};

typedef struct winograd_plan {
  const pte_call *call;
  const pte_winograd_f32 *kernel;
  const pte_gemm_f32 *gemm;
  int64_t high, wide, out_high, out_wide, begin; /* pixels */
  size_t channels, panels;
  size_t down, across, tiles; /* of an image; of all */
  size_t tile_blocks, column_blocks;
  uint64_t epilogue_bytes, zeros_bytes, v_bytes, m_bytes, share_bytes;
  const float *zeros; /* a pixel of the padding */
  char *shares;
  pte_finish_f32 finish;
  const pte_engine *epilogue;
} winograd_plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

/* The product of a block of `rows` tiles and `panels` panels. */
static pte_gemm gemm_of(const winograd_plan *p, size_t rows, size_t panels) {
  const size_t c = p->channels;
  return (pte_gemm){.groups = 1,
                    .rows = rows,
                    .columns = panels * PTE_PANEL,
                    .taps = 1,
                    .run = c,
                    .fill = pte_matrix_fill,
                    .lines = pte_matrix_lines(rows, c, c),
                    .panels = {.read = pte_plain_panels_read},
                    .out_stride = panels * PTE_PANEL,
                    .watch = p->call->watch};
}

/* Blocks as large as they fit; more of them where threads would idle, of columns first: each block
 * of tiles reads all of its weights. */
static void split(winograd_plan *p) {
  const size_t threads = p->call->threads;
  const size_t row = PRODUCTS * (p->channels + least(p->panels, MOST_PANELS) * PTE_PANEL);
  const size_t fit = least(most(BLOCK_FLOATS / row, 2 * PTE_SPAN), PTE_GEMM_ROWS);
  p->tile_blocks = ceil_div(p->tiles, fit);
  p->column_blocks = ceil_div(p->panels, MOST_PANELS);
  if (p->tile_blocks < threads)
    p->column_blocks =
        most(p->column_blocks, least(p->panels, ceil_div(threads, most(p->tile_blocks, 1))));
}

static bool plan_of(const pte_call *call, winograd_plan *p) {
  const pte_conv_winograd_attrs *a = call->attrs;
  const pte_tensor *x = call->in[0], *y = call->out[0];
  *p = (winograd_plan){.call = call,
                       .kernel = pte_winograd_f32_pick(call->cpu),
                       .gemm = pte_gemm_f32_pick(call->cpu),
                       .high = x->shape[1],
                       .wide = x->shape[2],
                       .out_high = y->shape[1],
                       .out_wide = y->shape[2],
                       .begin = a->begin,
                       .channels = (size_t)x->shape[3],
                       .panels = (size_t)y->shape[3] / PTE_PANEL};
  p->down = ceil_div((size_t)p->out_high, 4), p->across = ceil_div((size_t)p->out_wide, 4);
  p->tiles = (size_t)y->shape[0] * p->down * p->across;
  split(p);
  const size_t rows = ceil_div(p->tiles, most(p->tile_blocks, 1));
  const pte_gemm g = gemm_of(p, rows, ceil_div(p->panels, most(p->column_blocks, 1)));
  const uint64_t pixel = PRODUCTS * sizeof(float);
  return pte_epilogue_scratch(call, a->steps, 3, &p->epilogue_bytes) == PTE_OK &&
         pte_mul(p->channels, sizeof(float), &p->zeros_bytes) &&
         pte_mul(pixel * rows, p->channels, &p->v_bytes) &&
         pte_mul(pixel * rows, g.columns, &p->m_bytes) &&
         pte_gemm_scratch(&g, 1, &p->share_bytes) &&
         pte_add(p->share_bytes, p->v_bytes, &p->share_bytes) &&
         pte_add(p->share_bytes, p->m_bytes, &p->share_bytes);
}

/* --- a block of tiles
 * --------------------------------------------------------------------------------------- */

/* The first pixel of a tile of the result. */
typedef struct winograd_corner {
  int64_t batch, y, x;
} winograd_corner;

static winograd_corner corner_of(const winograd_plan *p, size_t index) {
  const size_t line = index / p->across;
  return (winograd_corner){(int64_t)(line / p->down), 4 * (int64_t)(line % p->down),
                           4 * (int64_t)(index % p->across)};
}

static bool tile_forward(const winograd_plan *p, pte_pace *pace, size_t index, float *v,
                         size_t step) {
  const winograd_corner t = corner_of(p, index);
  const float *x = p->call->in[0]->data, *pixel[PRODUCTS];
  const int64_t channels = (int64_t)p->channels;
  for (int64_t i = 0; i < PRODUCTS; i++) {
    const int64_t line = t.y + i / 6 - p->begin, at = t.x + i % 6 - p->begin;
    const bool inside = line >= 0 && line < p->high && at >= 0 && at < p->wide;
    pixel[i] = inside ? x + ((t.batch * p->high + line) * p->wide + at) * channels : p->zeros;
  }
  for (int64_t c = 0, count; c < channels; c += count) {
    count = pte_pace_take(pace, channels - c, 8 * PRODUCTS, PTE_PANEL);
    if (count == 0) return false;
    p->kernel->forward(pixel, (size_t)c, (size_t)(c + count), v, step);
  }
  return true;
}

/* The epilogue over a line of a tile: of all columns, pixels follow each other. */
static bool line_finish(const winograd_plan *p, pte_pace *pace, uint32_t thread, int64_t row,
                        size_t pixels, const pte_winograd_tile *t, size_t column, size_t count) {
  const bool whole = count == t->stride;
  for (size_t i = 0; i < (whole ? 1 : pixels); i++) {
    const int64_t span = (int64_t)(whole ? pixels * count : count);
    float *y = (float *)p->call->out[0]->data + ((size_t)row + i) * t->stride + column;
    if (!pte_pace_go(pace, span * p->epilogue->step_count)) return false;
    pte_epilogue_run(p->epilogue, thread, row + (int64_t)i, (int64_t)column, span, y);
  }
  return true;
}

/* Sums m [36][`step` floats] of a tile to `count` columns of y. */
static bool tile_back(const winograd_plan *p, pte_pace *pace, uint32_t thread, size_t index,
                      const float *m, size_t step, size_t column, size_t count) {
  const winograd_corner at = corner_of(p, index);
  const int64_t row = (at.batch * p->out_high + at.y) * p->out_wide + at.x;
  const size_t n = p->panels * PTE_PANEL;
  const pte_finish_f32 finish = pte_finish_at(&p->finish, (size_t)row, column);
  const pte_winograd_tile t = {.m = m,
                               .step = step,
                               .rows = least((size_t)(p->out_high - at.y), 4),
                               .columns = least((size_t)(p->out_wide - at.x), 4),
                               .y = (float *)p->call->out[0]->data + (size_t)row * n + column,
                               .stride = n,
                               .width = (size_t)p->out_wide,
                               .finish = &finish};
  for (int64_t c = 0, some; c < (int64_t)count; c += some) {
    some = pte_pace_take(pace, (int64_t)count - c, 8 * PRODUCTS, PTE_PANEL);
    if (some == 0) return false;
    p->kernel->back(&t, (size_t)c, (size_t)(c + some));
  }
  for (size_t i = 0; p->epilogue != NULL && i < t.rows; i++)
    if (!line_finish(p, pace, thread, row + (int64_t)i * p->out_wide, t.columns, &t, column, count))
      return false;
  return true;
}

static bool block_run(const winograd_plan *p, pte_pace *pace, uint32_t thread,
                      const size_t tiles[2], const size_t panels[2], bool fill) {
  const size_t count = tiles[1] - tiles[0], wide = panels[1] - panels[0], c = p->channels;
  char *share = p->shares + p->share_bytes * thread;
  float *v = (float *)(void *)share, *m = (float *)(void *)(share + p->v_bytes);
  for (size_t t = 0; fill && t < count; t++)
    if (!tile_forward(p, pace, tiles[0] + t, v + t * c, count * c)) return false;
  pte_gemm g = gemm_of(p, count, wide);
  for (size_t e = 0; e < PRODUCTS; e++) {
    const pte_matrix rows = {v + e * count * c, c, 0};
    const pte_plain_panels u = {
        (const float *)p->call->in[1]->data + (e * p->panels + panels[0]) * c * PTE_PANEL, c};
    g.source = &rows, g.panels.self = &u, g.out = m + e * count * g.columns;
    pte_gemm_part(&g, p->gemm, share + p->v_bytes + p->m_bytes, 0, (size_t[]){0, count},
                  (size_t[]){0, wide});
  }
  for (size_t t = 0; t < count; t++)
    if (!tile_back(p, pace, thread, tiles[0] + t, m + t * g.columns, count * g.columns,
                   panels[0] * PTE_PANEL, g.columns))
      return false;
  return true;
}

static void winograd_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const winograd_plan *p = context;
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const size_t block = i / p->column_blocks, column = i % p->column_blocks;
    const size_t tiles[2] = {p->tiles * block / p->tile_blocks,
                             p->tiles * (block + 1) / p->tile_blocks};
    const size_t panels[2] = {p->panels * column / p->column_blocks,
                              p->panels * (column + 1) / p->column_blocks};
    if (!block_run(p, &pace, thread, tiles, panels, i == begin || column == 0)) return;
  }
}

/* --- the operator
 * ------------------------------------------------------------------------------------------ */

static pte_status conv_winograd_scratch(const pte_call *call, uint64_t *out_bytes) {
  winograd_plan p;
  bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, out_bytes) &&
              pte_add(*out_bytes, p.zeros_bytes, out_bytes) &&
              pte_add(*out_bytes, p.epilogue_bytes, out_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_winograd_run(const pte_call *call) {
  const pte_conv_winograd_attrs *a = call->attrs;
  winograd_plan p;
  static const float zero = 0;
  if (!plan_of(call, &p)) return PTE_NO_MEMORY;
  char *zeros = (char *)call->scratch + p.epilogue_bytes;
  pte_pace pace = pte_call_pace(call);
  if (!pte_row_move(&pace, zeros, 1, &zero, 0, (int64_t)p.channels, 4)) return PTE_CANCELLED;
  p.zeros = (const float *)(const void *)zeros;
  p.shares = zeros + p.zeros_bytes;
  if (!pte_finish_of(call, a->steps, 3, &p.finish))
    p.epilogue = pte_epilogue_open(call, a->steps, 3, call->scratch);
  pte_parallel(call, p.tile_blocks * p.column_blocks, 1, winograd_task, &p);
  return pte_epilogue_close(p.epilogue, call);
}

const pte_kernel pte_conv_winograd_kernel = {.scratch = conv_winograd_scratch,
                                             .run = conv_winograd_run};
