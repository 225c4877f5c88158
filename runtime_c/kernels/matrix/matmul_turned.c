/* matmul_turned: y = x w^T + bias with a scale a row of x and one a row of w, both turned, then the
 * epilogue. x [*m, k] and y [*m, n] dense, w [n, k up to a multiple of 64] in panels of i8_channel;
 * no aliasing. Sums of codes over all of K are exact, so nothing depends on their order.
 *
 * Two passes over the pool: all rows of x to codes in scratch, a strip after another, then blocks
 * of rows x panels. A strip is the rows of a tile. */
#include "core/integer.h"
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/gemm/epilogue.h"
#include "kernels/gemm/finish.h"
#include "kernels/gemm/panel_decode.h"
#include "kernels/gemm_int8/gemm_static.h"
#include "kernels/rotate/rotate_i8.h"

enum {
  LEAST_ROWS = 128, /* of a block, and as many as their codes stay in L2, */
  MOST_ROWS = 256,  /* and at most these */
  BLOCK_PANELS = 16,
  MANY_ROWS = 16, /* that pay for looking at weights (the variant's `pairs`) */
  FEW_ROWS = 4,   /* of a tile that has not enough sums to keep the processor busy are less */
  TURN = 64
};

typedef struct turned_plan {
  const pte_call *call;
  const pte_gemm_static *kernel;
  const pte_rotate_i8 *rotate;
  pte_stored w;
  size_t rows, columns, depth, panels, quads; /* depth: of x */
  size_t row_blocks, column_blocks, row_bytes;
  size_t zeros;      /* 1: the variant wants a row of them before each block (settle) */
  size_t strips;     /* of each block */
  size_t peaks;      /* of a strip, behind all codes */
  pte_needs follows; /* the epilogue's; kept behind the plan, scratch in front of the rest */
  uint64_t code_bytes, scale_bytes, share_bytes;
  char *codes;   /* rows as the variant has them */
  float *scales; /* of rows */
  char *shares;
  pte_finish_f32 finish;
  const pte_engine *epilogue;
} turned_plan;

static bool plan_of(const pte_call *call, turned_plan *p) {
  const pte_matmul_turned_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0], *w = call->in[1];
  const pte_machine *machine = pte_call_machine(call);
  *p = (turned_plan){.call = call,
                     .kernel = pte_gemm_static_pick(call->cpu),
                     .rotate = pte_rotate_i8_pick(call->cpu),
                     .w = pte_stored_of(w, call),
                     .rows = (size_t)pte_tensor_span(x, 0, x->rank - 1u),
                     .columns = (size_t)w->shape[0],
                     .depth = (size_t)x->shape[x->rank - 1],
                     .quads = (size_t)w->shape[1] / 4};
  p->panels = pte_panel_count(p->columns);
  if (p->kernel->near != NULL && p->rows >= MANY_ROWS && p->quads <= PTE_TILE_QUADS)
    p->kernel = p->kernel->near;
  p->zeros = p->kernel->settle != NULL;
  p->peaks = pte_peaks_count(p->kernel, p->quads);
  p->row_bytes = 4 * p->quads * p->kernel->widened;
  if (pte_machine_same_set(machine, p->row_bytes)) p->row_bytes += 64;
  const size_t bytes = pte_block_of(machine, PTE_BLOCK_INT8_BYTES);
  size_t block_rows = pte_least(bytes / (4 * p->quads + 1), MOST_ROWS);
  if (block_rows < LEAST_ROWS) block_rows = LEAST_ROWS;
  p->row_blocks = pte_ceil_div(p->rows, block_rows - 1);
  if (p->rows > 0) {
    const size_t block = pte_ceil_div(p->rows, p->row_blocks) + p->zeros;
    p->strips = pte_ceil_div(block, p->kernel->most_rows);
  }
  p->column_blocks = pte_least(call->threads, p->panels);
  if (p->rows >= PTE_TALL) { /* as many for each thread */
    const size_t each = pte_ceil_div(pte_ceil_div(p->panels, BLOCK_PANELS), call->threads);
    p->column_blocks = pte_least(each * call->threads, pte_ceil_div(p->panels, PTE_BESIDE));
  }
  const uint64_t any = 8 * (uint64_t)p->quads + 64; /* of any variant's, with peaks */
  return pte_mul(any, p->rows + p->row_blocks, &p->code_bytes) &&
         pte_align(p->code_bytes, 64, &p->code_bytes) &&
         pte_mul(sizeof(float), p->rows, &p->scale_bytes) &&
         pte_align(p->scale_bytes, 64, &p->scale_bytes) &&
         pte_mul(4 * (2 * sizeof(float) + 1), p->quads, &p->share_bytes) &&
         pte_add(p->share_bytes, 2 * sizeof(float) * TURN, &p->share_bytes) &&
         pte_epilogue_needs(call, attrs->steps, 3, &p->follows) == PTE_OK;
}

/* Rows that are multiplied panel by panel, of which a row of zeros is the first where there is one.
 */
typedef struct turned_block {
  size_t index, first, all; /* first: row of x and y */
} turned_block;

static turned_block block_at(const turned_plan *p, size_t i) {
  const size_t first = p->rows * i / p->row_blocks, end = p->rows * (i + 1) / p->row_blocks;
  return (turned_block){.index = i, .first = first, .all = end - first + p->zeros};
}

/* Rows of a tile: `all` of a block from its row `at` on. */
typedef struct turned_strip {
  size_t at, all;
  size_t row; /* of x: the first that is none of zeros */
  char *codes;
  uint32_t *peaks;
} turned_strip;

/* Strips have most_rows rows, since that tile is the fastest a row; but a last one of very few
 * would wait for its own sums, so the last two share then what is left for both. */
static turned_strip strip_at(const turned_plan *p, const turned_block *b, size_t i) {
  const size_t most = p->kernel->most_rows, full = p->strips - pte_least(p->strips, 2);
  turned_strip s = {.at = pte_least(i, full) * most, .all = most};
  if (i >= full) {
    const size_t left = b->all - full * most;
    const size_t share = left < most + FEW_ROWS ? (left + 1) / 2 : most;
    const size_t before = p->strips == 1 ? 0 : (i - full) * share;
    s.at += before, s.all = p->strips == 1 || before != 0 ? left - before : share;
  }
  s.row = b->first + (s.at > 0 ? s.at - p->zeros : 0);
  s.codes = p->codes + (b->first + b->index * p->zeros + s.at) * p->row_bytes;
  s.peaks = (uint32_t *)(void *)(p->codes + (p->rows + p->row_blocks * p->zeros) * p->row_bytes) +
            (b->index * p->strips + i) * p->peaks;
  return s;
}

/* Strips at a block's beginning that have all rows of a tile. */
static size_t tall_strips(const turned_plan *p, const turned_block *b) {
  size_t i = 0;
  while (i < p->strips && strip_at(p, b, i).all == p->kernel->most_rows) i++;
  return i;
}

/* `code` as row `i` of the strip. */
static void row_put(const turned_plan *p, const turned_strip *s, size_t i, const int8_t *code) {
  const pte_gather g = {.x = code,
                        .windows = 1,
                        .lines = 1,
                        .bytes = 4 * p->quads,
                        .to = s->codes + i * p->row_bytes,
                        .row_bytes = p->row_bytes};
  p->kernel->gather(&g);
}

/* A row is turned before the one before it becomes codes: a scale waits for all of its row, and
 * nothing else would be done meanwhile. `room`: two rows and what is turned
 * beside their ends, then codes. */
static bool strip_turn(const turned_plan *p, pte_pace *pace, const turned_strip *s, float *room) {
  const size_t wide = 4 * p->quads, rows = s->row + s->all - (s->at < p->zeros);
  const float *x = (const float *)p->call->in[0]->data + s->row * p->depth;
  const size_t apart = wide + TURN;
  int8_t *code = (int8_t *)(room + 2 * apart);
  uint32_t before = 0;
  size_t i = 0;
  memset(code, 0, wide);
  if (s->at < p->zeros) row_put(p, s, i++, code);
  for (size_t row = s->row; row <= rows; row++, x += p->depth) {
    float *to = room + row % 2 * apart, *from = room + (row + 1) % 2 * apart;
    uint32_t largest = 0;
    if (row < rows) {
      if (!pte_pace_go(pace, 4 * (int64_t)p->depth)) return false;
      largest = p->rotate->turn(p->depth, x, to);
    }
    if (row > s->row) {
      p->rotate->codes(wide, from, before, code, &p->scales[row - 1]);
      row_put(p, s, i++, code);
    }
    before = largest;
  }
  if (p->peaks != 0) p->kernel->peaks(s->all, p->quads, s->codes, p->row_bytes, s->peaks);
  return true;
}

static void turn_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const turned_plan *p = context;
  float *room = (float *)(void *)(p->shares + p->share_bytes * thread);
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const turned_block block = block_at(p, i / p->strips);
    const turned_strip s = strip_at(p, &block, i % p->strips);
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
  size_t next_step, next_panel;
  uint32_t *pairs;
  bool whole; /* the variant has a tile of these that does all at once */
} panel_set;

static bool whole_tiles(const turned_plan *p, const panel_set *set) {
  return p->kernel->turned != NULL && set->count == p->kernel->most_panels &&
         (set->panel + set->count) * PTE_PANEL <= p->columns && p->quads <= PTE_TILE_QUADS &&
         !p->finish.at_least && !p->finish.at_most;
}

/* Sums of a strip times the panels of `set`, in pieces of K, then what `s` says. */
static bool sums_run(const turned_plan *p, pte_pace *pace, panel_set *set, pte_tile_i8 *t,
                     size_t rows, bool settle, pte_scaled_i8 *s) {
  _Alignas(64) int32_t sum[PTE_SUMS][PTE_PANEL];
  t->sum = sum;
  for (size_t q = 0; q == 0 || q < p->quads; q += PTE_TILE_QUADS) {
    t->quads = pte_least(p->quads - q, PTE_TILE_QUADS);
    if (!pte_pace_go(pace, (int64_t)(rows * set->count * PTE_PANEL * (t->quads + 4)))) return false;
    p->kernel->tile(rows, set->count, t);
    t->x += t->quads * 4 * p->kernel->widened, t->panel += t->quads * (4 * PTE_PANEL);
    t->start = sum[0], t->start_row = set->count * PTE_PANEL;
    t->next += t->quads * t->next_step;
  }
  set->next = t->next;
  if (settle) p->kernel->settle(rows, set->count, set->start[0], PTE_PANEL, sum);
  s->sum = (const int32_t (*)[PTE_PANEL])sum + settle * set->count;
  p->rotate->scaled(s, rows - settle, set->count);
  return true;
}

/* A strip times the panels of `set`, and as many after it of the same form, up to `alike` together,
 * as the pace allows: returns how many, or 0. */
static size_t tile_run(const turned_plan *p, pte_pace *pace, panel_set *set,
                       const turned_strip *strip, size_t alike) {
  const size_t column = set->panel * PTE_PANEL, panel_bytes = p->quads * (4 * PTE_PANEL);
  const bool settle = strip->at < p->zeros;
  const pte_finish_f32 finish = pte_finish_at(&p->finish, strip->row, column);
  pte_tile_i8 t = {.x = strip->codes,
                   .panel = (const int8_t *)p->w.codes + set->panel * panel_bytes,
                   .quads = p->quads,
                   .row_bytes = p->row_bytes,
                   .panel_bytes = panel_bytes,
                   .next = set->next,
                   .next_step = set->next_step,
                   .next_panel = set->next_panel,
                   .start = set->start[0],
                   .start_panel = PTE_PANEL,
                   .peaks = strip->peaks,
                   .pairs = set->pairs};
  pte_scaled_i8 s = {.x_scale = p->scales + strip->row,
                     .w_scale = (const float *)(const void *)p->w.scales + column,
                     .finish = &finish,
                     .y = (float *)p->call->out[0]->data + strip->row * p->columns + column,
                     .y_stride = p->columns,
                     .lanes = pte_least(p->columns - column, set->count * PTE_PANEL) -
                              (set->count - 1) * PTE_PANEL};
  if (!set->whole || alike == 0) return sums_run(p, pace, set, &t, strip->all, settle, &s) ? 1 : 0;
  const int64_t cost = (int64_t)(strip->all * set->count * PTE_PANEL * (p->quads + 4));
  alike = (size_t)pte_pace_take(pace, settle ? 1 : (int64_t)alike, cost, 1);
  if (alike != 0) p->kernel->turned(&t, &s, alike, settle ? set->start : NULL);
  set->next += alike * p->quads * set->next_step;
  return alike;
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
  const bool beside = p->strips == 1 && p->kernel->turned != NULL; /* asks for a line at a time */
  for (size_t i = begin; i < end; i++) {
    const size_t column = i / p->row_blocks;
    const turned_block block = block_at(p, i % p->row_blocks);
    const size_t tall = tall_strips(p, &block);
    const size_t rows[2] = {block.first, block.first + block.all - p->zeros};
    const size_t first = p->panels * column / p->column_blocks;
    const size_t last = p->panels * (column + 1) / p->column_blocks;
    for (size_t panel = first, count; panel < last; panel += count) {
      count = pte_least(p->kernel->most_panels, last - panel);
      panel_set set = {.panel = panel, .count = count};
      const int8_t *codes = (const int8_t *)p->w.codes + panel * p->quads * (4 * PTE_PANEL);
      set.next = codes + count * p->quads * (4 * PTE_PANEL);
      set.next_step = pte_ceil_div(count * (4 * PTE_PANEL), p->strips);
      if (beside) set.next_step /= count, set.next_panel = (count - 1) * p->quads * (4 * PTE_PANEL);
      set.pairs = (uint32_t *)(void *)(p->shares + p->share_bytes * thread);
      set.whole = whole_tiles(p, &set);
      if (p->peaks != 0) p->kernel->pairs(p->quads, codes, set.pairs);
      for (size_t s = 0, done; s < p->strips; s += done) {
        const turned_strip strip = strip_at(p, &block, s);
        done = tile_run(p, &pace, &set, &strip, tall - pte_least(tall, s));
        if (done == 0) return;
      }
    }
    if (!rows_finish(p, &pace, thread, rows, first * PTE_PANEL,
                     pte_least(last * PTE_PANEL, p->columns)))
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

static pte_status matmul_turned_needs(const pte_call *call, pte_needs *out) {
  turned_plan p;
  bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, &out->scratch) &&
              pte_add(out->scratch, p.code_bytes, &out->scratch) &&
              pte_add(out->scratch, p.scale_bytes, &out->scratch) &&
              pte_add(out->scratch, p.follows.scratch, &out->scratch) &&
              pte_add(p.follows.kept, PTE_KEPT_BYTES(turned_plan), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status matmul_turned_keep(const pte_call *call) {
  const pte_matmul_turned_attrs *a = call->attrs;
  if (!plan_of(call, call->kept)) return PTE_NO_MEMORY;
  pte_epilogue_keep(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(turned_plan)));
  return PTE_OK;
}

static pte_status matmul_turned_run(const pte_call *call) {
  const pte_matmul_turned_attrs *a = call->attrs;
  turned_plan *p = call->kept;
  p->call = call;
  p->codes = (char *)call->scratch + p->follows.scratch;
  p->scales = (float *)(void *)(p->codes + p->code_bytes);
  p->shares = (char *)p->scales + p->scale_bytes;
  p->epilogue =
      pte_epilogue_open(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(turned_plan)),
                        call->scratch, &p->finish);
  const size_t strips = p->row_blocks * p->strips,
               worth = 16384 / (p->kernel->most_rows * (p->depth + 1));
  pte_parallel(call, strips, strips > worth ? 1 : strips, turn_task, p);
  pte_parallel(call, p->row_blocks * p->column_blocks, 1, product_task, p);
  return pte_epilogue_close(p->epilogue, call);
}

const pte_kernel pte_matmul_turned_kernel = {.needs = matmul_turned_needs,
                                             .keep = matmul_turned_keep,
                                             .run = matmul_turned_run,
                                             .reads = 1u << 1};
