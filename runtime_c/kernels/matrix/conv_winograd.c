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
 * the weights, of which there are four times as many as pixels ask for, stream by: each pair of
 * panels is asked for while the one before it is multiplied, from product to product. Source: Lavin
 * and Gray 2015. */
#include "core/integer.h"
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/gemm/gemm_plain.h"
#include "kernels/winograd/winograd_f32.h"

enum {
  PRODUCTS = 36,
  BLOCK_PAIRS = 4, /* of panels, of a block's columns */
  LEAST_TILES = 32 /* of a block: with fewer the weights pass by too often */
};

typedef struct winograd_plan {
  const pte_call *call;
  const pte_winograd_f32 *kernel;
  const pte_gemm_f32 *gemm;
  int64_t high, wide, out_high, out_wide, begin; /* pixels */
  size_t channels, panels, pairs;
  size_t down, across, tiles; /* of an image; of all */
  size_t tile_blocks, column_blocks;
  pte_gemm_cut cut;
  pte_needs follows; /* the epilogue's; kept behind the plan, scratch in front of the rest */
  uint64_t zeros_bytes, v_bytes, m_bytes, share_bytes;
  const float *zeros; /* a pixel of the padding */
  char *shares;
  pte_finish_f32 finish;
  const pte_engine *epilogue;
} winograd_plan;

/* What a thread has for itself; behind it are planes of transformed pixels, of sums, and scratch of
 * pte_gemm_part. */
typedef struct winograd_share {
  _Alignas(64) size_t filled; /* the block whose pixels are there */
} winograd_share;

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
                    .cut = p->cut,
                    .out_stride = panels * PTE_PANEL,
                    .watch = p->call->watch};
}

/* Blocks as large as they fit, as many for each thread if they can be tiles of the products each;
 * where threads would idle, more of columns: each block of tiles reads all of its weights. */
static void split(winograd_plan *p) {
  const size_t threads = p->call->threads;
  const size_t row = PRODUCTS * (p->channels + pte_least(p->pairs, BLOCK_PAIRS) * 2 * PTE_PANEL);
  const size_t floats = pte_block_of(pte_call_machine(p->call), PTE_BLOCK_WINOGRAD_FLOATS);
  const size_t fit =
      pte_least(pte_most(floats / row, LEAST_TILES), pte_gemm_block(&p->cut, PTE_BLOCK_GEMM_ROWS));
  const size_t blocks = pte_most(pte_ceil_div(p->tiles, fit), 1);
  p->tile_blocks = blocks;
  for (size_t some = threads; threads > 1 && some <= 4 * threads; some *= 4) {
    const size_t even = pte_ceil_div(blocks, some) * some;
    if (p->tiles / even >= 2 * PTE_SPAN) p->tile_blocks = even;
  }
  p->column_blocks = pte_most(pte_ceil_div(p->pairs, BLOCK_PAIRS),
                              pte_least(p->pairs, pte_ceil_div(threads, p->tile_blocks)));
}

/* Floats from one of the 36 planes to the next, of `floats` each: a whole line more and an odd
 * number of them, so that the 36 places of a transform are in as many sets of a cache. */
static size_t plane_of(size_t floats) { return (floats / PTE_PANEL | 1) * PTE_PANEL; }
static bool planes_bytes(size_t rows, size_t columns, uint64_t *out) {
  return pte_mul(PRODUCTS * sizeof(float) * (uint64_t)rows, columns, out) &&
         pte_add(*out, PRODUCTS * sizeof(float) * PTE_PANEL, out);
}

static bool plan_of(const pte_call *call, winograd_plan *p) {
  const pte_conv_winograd_attrs *a = call->attrs;
  const pte_tensor *x = call->in[0], *y = call->out[0];
  *p = (winograd_plan){.call = call,
                       .kernel = pte_winograd_f32_pick(call->cpu),
                       .gemm = pte_gemm_f32_pick(call->cpu),
                       .cut = pte_gemm_cut_of(pte_call_machine(call)),
                       .high = x->shape[1],
                       .wide = x->shape[2],
                       .out_high = y->shape[1],
                       .out_wide = y->shape[2],
                       .begin = a->begin,
                       .channels = (size_t)x->shape[3],
                       .panels = (size_t)y->shape[3] / PTE_PANEL};
  p->pairs = pte_ceil_div(p->panels, 2);
  p->down = pte_ceil_div((size_t)p->out_high, 4), p->across = pte_ceil_div((size_t)p->out_wide, 4);
  p->tiles = (size_t)y->shape[0] * p->down * p->across;
  split(p);
  const size_t rows = pte_ceil_div(p->tiles, p->tile_blocks);
  const pte_gemm g = gemm_of(p, rows, 2 * pte_ceil_div(p->pairs, pte_most(p->column_blocks, 1)));
  return pte_epilogue_needs(call, a->steps, 3, &p->follows) == PTE_OK &&
         pte_mul(p->channels, sizeof(float), &p->zeros_bytes) &&
         planes_bytes(rows, p->channels, &p->v_bytes) &&
         planes_bytes(rows, g.columns, &p->m_bytes) && pte_gemm_scratch(&g, 1, &p->share_bytes) &&
         pte_add(p->share_bytes, sizeof(winograd_share), &p->share_bytes) &&
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
  for (int64_t i = 0; i < 6; i++) {
    const int64_t line = t.y + i - p->begin, first = (t.batch * p->high + line) * p->wide;
    for (int64_t k = 0, at = t.x - p->begin; k < 6; k++, at++) {
      const bool inside = line >= 0 && line < p->high && at >= 0 && at < p->wide;
      pixel[6 * i + k] = inside ? x + (first + at) * channels : p->zeros;
    }
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
                               .rows = pte_least((size_t)(p->out_high - at.y), 4),
                               .columns = pte_least((size_t)(p->out_wide - at.x), 4),
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

/* A block while it is computed. */
typedef struct winograd_block {
  const winograd_plan *p;
  pte_pace *pace;
  size_t tiles, first_panel, panels;
  float *v, *m; /* planes [36] of rows [tiles][channels] and [tiles][panels][16] */
  size_t v_plane, m_plane;
  void *scratch; /* of pte_gemm_part */
} winograd_block;

/* `panels` panels from u on, one or two, times a plane of pixels, in tiles of as many rows each.
 * Each tile asks for its share of the panels that are `next`, if any. */
static bool pair_run(const winograd_block *b, const float *v, const float *u, const float *next,
                     float *m, size_t panels) {
  const size_t c = b->p->channels, strips = pte_ceil_div(b->tiles, 2 * PTE_SPAN);
  const size_t depth = pte_gemm_block(&b->p->cut, PTE_BLOCK_GEMM_EVEN);
  const size_t steps = pte_most(pte_ceil_div(c, depth), 1), stride = b->panels * PTE_PANEL;
  for (size_t i = 0; i < steps * strips; i++) {
    const size_t k = c * (i / strips) / steps, run = c * (i / strips + 1) / steps - k;
    const size_t strip = i % strips, row = b->tiles * strip / strips,
                 rows = b->tiles * (strip + 1) / strips - row, half = (rows + 1) / 2;
    const float *x = v + row * c, *w = u + k * PTE_PANEL;
    const pte_pair_f32 pair = {
        {x,   x + half * c},
        {row, row + half  },
        rows
    };
    const pte_parts_f32 s = {
        .offset = k,
        .row_stride = c,
        .taps = 1,
        .tap_stride = run,
        .run = run,
        .panel = {w, w + c * PTE_PANEL},
        .ask = next == NULL ? w : next + (k + run * strip / strips) * PTE_PANEL,
        .further = next == NULL ? 0 : pte_ceil_div(PTE_PANEL * sizeof *next, strips),
        .out = m,
        .out_stride = stride,
        .first = k == 0
    };
    if (!pte_pace_go(b->pace, (int64_t)(rows * panels * PTE_PANEL * run))) return false;
    b->p->gemm->parts(panels, &s, &pair, 1);
  }
  return true;
}

static bool product_run(const winograd_block *b, size_t e) {
  const winograd_plan *p = b->p;
  const size_t panel = p->channels * PTE_PANEL;
  const float *u = (const float *)p->call->in[1]->data + (e * p->panels + b->first_panel) * panel;
  const float *v = b->v + e * b->v_plane, *after = u + p->panels * panel;
  float *m = b->m + e * b->m_plane;
  if (PTE_PARTS && p->gemm->parts != NULL && b->tiles > PTE_STRIP) {
    for (size_t i = 0; i < b->panels; i += 2) {
      const float *next = i + 2 < b->panels ? u + (i + 2) * panel : e + 1 < PRODUCTS ? after : NULL;
      if (!pair_run(b, v, u + i * panel, next, m + i * PTE_PANEL, pte_least(b->panels - i, 2)))
        return false;
    }
    return true;
  }
  const pte_matrix rows = {v, p->channels, 0};
  const pte_plain_panels panels = {u, p->channels};
  pte_gemm g = gemm_of(p, b->tiles, b->panels);
  g.columns = (PRODUCTS - e) * p->panels * PTE_PANEL; /* so that weights to come are known */
  g.source = &rows, g.panels.self = &panels, g.out = m;
  pte_gemm_part(&g, p->call->cpu, b->scratch, 0, (size_t[]){0, b->tiles}, (size_t[]){0, b->panels});
  return true;
}

static bool block_run(const winograd_plan *p, pte_pace *pace, uint32_t thread, size_t block,
                      const size_t panels[2]) {
  const size_t first = p->tiles * block / p->tile_blocks, c = p->channels;
  const size_t tiles = p->tiles * (block + 1) / p->tile_blocks - first;
  const size_t wide = panels[1] - panels[0], columns = wide * PTE_PANEL;
  char *room = p->shares + p->share_bytes * thread;
  winograd_share *share = (winograd_share *)(void *)room;
  float *v = (float *)(void *)(share + 1), *m = (float *)(void *)((char *)v + p->v_bytes);
  const winograd_block b = {p,
                            pace,
                            tiles,
                            panels[0],
                            wide,
                            v,
                            m,
                            plane_of(tiles * c),
                            plane_of(tiles * columns),
                            (char *)m + p->m_bytes};
  for (size_t t = 0; share->filled != block && t < tiles; t++)
    if (!tile_forward(p, pace, first + t, v + t * c, b.v_plane)) return false;
  share->filled = block;
  for (size_t e = 0; e < PRODUCTS; e++)
    if (!product_run(&b, e)) return false;
  for (size_t t = 0; t < tiles; t++)
    if (!tile_back(p, pace, thread, first + t, m + t * columns, b.m_plane, panels[0] * PTE_PANEL,
                   columns))
      return false;
  return true;
}

static void winograd_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const winograd_plan *p = context;
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const size_t block = i / p->column_blocks, column = i % p->column_blocks;
    const size_t panels[2] = {p->pairs * column / p->column_blocks * 2,
                              pte_least(p->pairs * (column + 1) / p->column_blocks * 2, p->panels)};
    if (!block_run(p, &pace, thread, block, panels)) return;
  }
}

/* --- the operator
 * ------------------------------------------------------------------------------------------ */

static pte_status conv_winograd_needs(const pte_call *call, pte_needs *out) {
  winograd_plan p;
  bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, &out->scratch) &&
              pte_add(out->scratch, p.zeros_bytes, &out->scratch) &&
              pte_add(out->scratch, p.follows.scratch, &out->scratch) &&
              pte_add(p.follows.kept, PTE_KEPT_BYTES(winograd_plan), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_winograd_keep(const pte_call *call) {
  const pte_conv_winograd_attrs *a = call->attrs;
  if (!plan_of(call, call->kept)) return PTE_NO_MEMORY;
  pte_epilogue_keep(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(winograd_plan)));
  return PTE_OK;
}

static pte_status conv_winograd_run(const pte_call *call) {
  const pte_conv_winograd_attrs *a = call->attrs;
  winograd_plan *p = call->kept;
  static const float zero = 0;
  char *zeros = (char *)call->scratch + p->follows.scratch;
  pte_pace pace = pte_call_pace(call);
  if (!pte_row_move(&pace, zeros, 1, &zero, 0, (int64_t)p->channels, 4)) return PTE_CANCELLED;
  p->call = call;
  p->zeros = (const float *)(const void *)zeros;
  p->shares = zeros + p->zeros_bytes;
  for (uint32_t i = 0; i < call->threads; i++)
    ((winograd_share *)(void *)(p->shares + p->share_bytes * i))->filled = SIZE_MAX;
  p->epilogue =
      pte_epilogue_open(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(winograd_plan)),
                        call->scratch, &p->finish);
  pte_parallel(call, p->tile_blocks * p->column_blocks, 1, winograd_task, p);
  return pte_epilogue_close(p->epilogue, call);
}

const pte_kernel pte_conv_winograd_kernel = {
    .needs = conv_winograd_needs, .keep = conv_winograd_keep, .run = conv_winograd_run};
