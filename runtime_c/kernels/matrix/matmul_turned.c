/* matmul_turned: y = x w^T + bias with a scale a row of x and one a row of w, both turned, then the
 * epilogue. x [*m, k] and y [*m, n] dense, w [n, k up to a multiple of 64] in panels of i8_channel;
 * no aliasing. Sums of codes over all of K are exact, so nothing depends on their order.
 *
 * Two passes over the pool: all rows of x to codes in scratch, a strip after another, then blocks
 * of rows x panels. A strip is the rows of a tile. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/matrix/epilogue.h"
#include "kernels/matrix/finish.h"
#include "kernels/matrix/panel_decode.h"

enum {
  BLOCK_ROWS = 192, /* at most, whose codes stay in L2 */
  BLOCK_PANELS = 16,
  MANY_ROWS = 16, /* that pay for looking at weights (the variant's `pairs`) */
  TURN = 64,
  ALIAS = 4096 /* rows so far apart would fall on each other in L1 */
};

typedef struct turned_plan {
  const pte_call *call;
  const pte_gemm_static *kernel;
  pte_stored w;
  size_t rows, columns, depth, panels, quads; /* depth: of x */
  size_t row_blocks, column_blocks, row_bytes;
  size_t zeros;  /* 1: the variant wants a row of them before each block (settle) */
  size_t strips; /* of each block */
  size_t peaks;  /* of a strip, behind all codes */
  uint64_t epilogue_bytes, code_bytes, scale_bytes, share_bytes;
  char *codes;   /* rows as the variant has them */
  float *scales; /* of rows */
  char *shares;
  pte_finish_f32 finish;
  const pte_engine *epilogue;
} turned_plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }

static bool plan_of(const pte_call *call, turned_plan *p) {
  const pte_tensor *x = call->in[0], *w = call->in[1];
  *p = (turned_plan){.call = call,
                     .kernel = pte_gemm_static_pick(call->cpu),
                     .w = pte_stored_of(w),
                     .rows = (size_t)pte_tensor_span(x, 0, x->rank - 1u),
                     .columns = (size_t)w->shape[0],
                     .depth = (size_t)x->shape[x->rank - 1],
                     .quads = (size_t)w->shape[1] / 4};
  p->panels = pte_panel_count(p->columns);
  if (p->kernel->near != NULL && p->rows >= MANY_ROWS && p->quads <= PTE_TILE_QUADS)
    p->kernel = p->kernel->near;
  p->zeros = p->kernel->settle != NULL;
  p->peaks = pte_peaks_count(p->kernel, p->quads);
  p->row_blocks = ceil_div(p->rows, BLOCK_ROWS - 1);
  if (p->rows > 0) {
    const size_t block = ceil_div(p->rows, p->row_blocks) + p->zeros;
    p->strips = ceil_div(block, p->kernel->most_rows);
  }
  p->column_blocks =
      p->rows < PTE_TALL ? least(call->threads, p->panels) : ceil_div(p->panels, BLOCK_PANELS);
  p->row_bytes = 4 * p->quads * p->kernel->widened;
  if (p->row_bytes % ALIAS == 0) p->row_bytes += 64;
  const uint64_t any = 8 * (uint64_t)p->quads + 64; /* of any variant's, with peaks */
  return pte_mul(any, p->rows + p->row_blocks, &p->code_bytes) &&
         pte_align(p->code_bytes, 64, &p->code_bytes) &&
         pte_mul(sizeof(float), p->rows, &p->scale_bytes) &&
         pte_align(p->scale_bytes, 64, &p->scale_bytes) &&
         pte_mul(4 * (sizeof(float) + 1), p->quads, &p->share_bytes);
}

/* Rows of a tile: `all` of block `block` from its row `at` on, of which a row of zeros is the first
 * where there is one. */
typedef struct turned_strip {
  size_t block, at, all;
  size_t row; /* of x: the first that is none of zeros */
  char *codes;
  uint32_t *peaks;
} turned_strip;

static turned_strip strip_at(const turned_plan *p, size_t block, size_t i) {
  const size_t first = p->rows * block / p->row_blocks;
  const size_t all = p->rows * (block + 1) / p->row_blocks - first + p->zeros;
  turned_strip s = {.block = block, .at = all * i / p->strips};
  s.all = all * (i + 1) / p->strips - s.at;
  s.row = first + (s.at > 0 ? s.at - p->zeros : 0);
  s.codes = p->codes + (first + block * p->zeros + s.at) * p->row_bytes;
  s.peaks = (uint32_t *)(void *)(p->codes + (p->rows + p->row_blocks * p->zeros) * p->row_bytes) +
            (block * p->strips + i) * p->peaks;
  return s;
}

static bool strip_turn(const turned_plan *p, pte_pace *pace, const turned_strip *s, float *room) {
  int8_t *codes = (int8_t *)(room + 4 * p->quads);
  pte_gather_i8 g = {.x = codes, .windows = 1, .lines = 1, .bytes = 4 * p->quads};
  g.to = s->codes, g.row_bytes = p->row_bytes;
  for (size_t i = 0, row = s->row; i < s->all; i++, g.to = (char *)g.to + p->row_bytes) {
    if (!pte_pace_go(pace, 4 * (int64_t)p->depth)) return false;
    if (s->at + i < p->zeros) {
      memset(codes, 0, g.bytes);
    } else {
      const float *x = (const float *)p->call->in[0]->data + row * p->depth;
      p->kernel->turn(p->depth, x, room, codes, &p->scales[row++]);
    }
    p->kernel->gather(&g);
  }
  if (p->peaks != 0) p->kernel->peaks(s->all, p->quads, s->codes, p->row_bytes, s->peaks);
  return true;
}

static void turn_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const turned_plan *p = context;
  float *room = (float *)(void *)(p->shares + p->share_bytes * thread);
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const turned_strip s = strip_at(p, i / p->strips, i % p->strips);
    if (!strip_turn(p, &pace, &s, room)) return;
  }
}

/* --- product
 * -----------------------------------------------------------------------------------------------
 */

typedef struct panel_set {
  size_t panel, count;
  int32_t start[PTE_BESIDE][PTE_PANEL]; /* of the sums */
  const int8_t *next; /* the panels after these, asked for evenly over all strips */
  size_t next_step;
  uint32_t *pairs;
} panel_set;

/* A strip times the panels of `set`. */
static bool tile_run(const turned_plan *p, pte_pace *pace, panel_set *set,
                     const turned_strip *strip) {
  const size_t column = set->panel * PTE_PANEL, panel_bytes = p->quads * (4 * PTE_PANEL);
  const size_t all = strip->all, row = strip->row;
  const bool settle = strip->at < p->zeros;
  _Alignas(64) int32_t sum[PTE_SUMS][PTE_PANEL];
  pte_tile_i8 t = {.x = strip->codes, .row_bytes = p->row_bytes, .sum = sum};
  t.panel = (const int8_t *)p->w.codes + set->panel * panel_bytes, t.panel_bytes = panel_bytes;
  t.next = set->next, t.next_step = set->next_step;
  t.peaks = strip->peaks, t.pairs = set->pairs;
  t.start = set->start[0], t.start_panel = PTE_PANEL;
  for (size_t q = 0; q == 0 || q < p->quads; q += PTE_TILE_QUADS) {
    t.quads = least(p->quads - q, PTE_TILE_QUADS);
    if (!pte_pace_go(pace, (int64_t)(all * set->count * PTE_PANEL * (t.quads + 4)))) return false;
    p->kernel->tile(all, set->count, &t);
    t.x += t.quads * 4 * p->kernel->widened, t.panel += t.quads * (4 * PTE_PANEL);
    t.start = sum[0], t.start_row = set->count * PTE_PANEL;
    t.next += t.quads * t.next_step;
  }
  set->next = t.next;
  if (settle) p->kernel->settle(all, set->count, set->start[0], PTE_PANEL, sum);
  const pte_finish_f32 finish = pte_finish_at(&p->finish, row, column);
  const pte_scaled_i8 s = {.sum = (const int32_t (*)[PTE_PANEL])sum + settle * set->count,
                           .x_scale = p->scales + row,
                           .w_scale = (const float *)(const void *)p->w.scales + column,
                           .finish = &finish,
                           .y = (float *)p->call->out[0]->data + row * p->columns + column,
                           .y_stride = p->columns,
                           .lanes = least(p->columns - column, set->count * PTE_PANEL) -
                                    (set->count - 1) * PTE_PANEL};
  p->kernel->scaled(&s, all - settle, set->count);
  return true;
}

static bool rows_finish(const turned_plan *p, pte_pace *pace, uint32_t thread, const size_t rows[2],
                        size_t begin, size_t end) {
  const uint32_t steps = p->epilogue == NULL ? 0 : p->epilogue->step_count;
  for (size_t row = rows[0]; steps > 0 && row < rows[1]; row++)
    for (size_t column = begin, count; column < end; column += count) {
      count = (size_t)pte_pace_take(pace, (int64_t)(end - column), steps, PTE_TILE);
      if (count == 0) return false;
      pte_epilogue_run(p->epilogue, thread, (int64_t)row, (int64_t)column, (int64_t)count,
                       (float *)p->call->out[0]->data + row * p->columns + column);
    }
  return true;
}

static void blocks_run(const turned_plan *p, size_t begin, size_t end, uint32_t thread) {
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const size_t column = i / p->row_blocks, block = i % p->row_blocks;
    const size_t rows[2] = {p->rows * block / p->row_blocks, p->rows * (block + 1) / p->row_blocks};
    const size_t first = p->panels * column / p->column_blocks;
    const size_t last = p->panels * (column + 1) / p->column_blocks;
    for (size_t panel = first, count; panel < last; panel += count) {
      count = least(p->kernel->most_panels, last - panel);
      panel_set set = {.panel = panel, .count = count};
      const int8_t *codes = (const int8_t *)p->w.codes + panel * p->quads * (4 * PTE_PANEL);
      set.next = codes + count * p->quads * (4 * PTE_PANEL);
      set.next_step = ceil_div(count * (4 * PTE_PANEL), p->strips);
      set.pairs = (uint32_t *)(void *)(p->shares + p->share_bytes * thread);
      if (p->peaks != 0) p->kernel->pairs(p->quads, codes, set.pairs);
      for (size_t s = 0; s < p->strips; s++) {
        const turned_strip strip = strip_at(p, block, s);
        if (!tile_run(p, &pace, &set, &strip)) return;
      }
    }
    if (!rows_finish(p, &pace, thread, rows, first * PTE_PANEL,
                     least(last * PTE_PANEL, p->columns)))
      return;
  }
}

static void product_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const turned_plan *p = context;
  if (p->kernel->enter != NULL) p->kernel->enter();
  blocks_run(p, begin, end, thread);
  if (p->kernel->leave != NULL) p->kernel->leave();
}

/* --- the operator
 * ------------------------------------------------------------------------------------------ */

static pte_status matmul_turned_scratch(const pte_call *call, uint64_t *out_bytes) {
  const pte_matmul_turned_attrs *a = call->attrs;
  turned_plan p;
  uint64_t epilogue;
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &epilogue));
  bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, out_bytes) &&
              pte_add(*out_bytes, p.code_bytes, out_bytes) &&
              pte_add(*out_bytes, p.scale_bytes, out_bytes) &&
              pte_add(*out_bytes, epilogue, out_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status matmul_turned_run(const pte_call *call) {
  const pte_matmul_turned_attrs *a = call->attrs;
  turned_plan p;
  uint64_t epilogue;
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &epilogue));
  if (!plan_of(call, &p)) return PTE_NO_MEMORY;
  p.codes = (char *)call->scratch + epilogue;
  p.scales = (float *)(void *)(p.codes + p.code_bytes);
  p.shares = (char *)p.scales + p.scale_bytes;
  if (!pte_finish_of(call, a->steps, 3, &p.finish))
    p.epilogue = pte_epilogue_open(call, a->steps, 3, call->scratch);
  pte_parallel(call, p.row_blocks * p.strips, 1 + 16384 / (p.kernel->most_rows * (p.depth + 1)),
               turn_task, &p);
  pte_parallel(call, p.row_blocks * p.column_blocks, 1, product_task, &p);
  return pte_epilogue_close(p.epilogue, call);
}

const pte_kernel pte_matmul_turned_kernel = {.scratch = matmul_turned_scratch,
                                             .run = matmul_turned_run};
