/* matmul_int8: y = x w^T + bias in integers, then the epilogue; gemm_blocks.h says what is summed.
 * x
 * [*m, k] and y [*m, n] dense, w [n, k] in panels of a storage format; no aliasing.
 *
 * Two passes over the pool: all rows of x to codes in scratch, then blocks of rows x panels. */
#include "core/integer.h"
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/gemm_int8/gemm_blocks.h"

enum {
  LEAST_ROWS = 60, /* of a block, and as many as their codes stay in L2, */
  MOST_ROWS = 132, /* and at most these, or those that a variant takes together */
  EVEN_ROWS = 12,  /* whole tiles of all variants */
  PAIR = 2,        /* panels that a variant may take together, */
  BLOCK_PAIRS = 8, /* and so many of them in a block */
  DOT = 4,         /* products of codes that count as one operation, */
  DOT_TALL = 16    /* of variants that take more rows than PTE_I8_ROWS */
};

typedef struct int8_plan {
  const pte_call *call;
  const pte_gemm_blocks *kernel;
  pte_stored w;
  size_t rows, columns, depth, panels, pairs, block_rows, row_blocks, column_blocks;
  float factor;
  int32_t bias;
  const float *from;
  int8_t *codes;
  float *steps;
  int32_t *starts;
  pte_rows_i8 x;
  pte_finish_f32 finish;
  pte_needs follows; /* the epilogue's; kept behind the plan, scratch in front of the rest */
  uint64_t code_bytes,
      all_bytes; /* of scratch: codes, which come first, and with steps and starts */
  const pte_engine *epilogue;
} int8_plan;

static void quantize_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const int8_plan *p = context;
  pte_pace pace = pte_call_pace(p->call);
  (void)thread;
  for (size_t row = begin; row < end; row++) {
    size_t at = row * p->x.blocks;
    if (!pte_pace_go(&pace, 4 * (int64_t)p->depth)) return;
    p->kernel->quantize(p->depth, p->from + row * p->depth, p->factor, p->bias,
                        p->codes + at * PTE_I8_BLOCK, p->steps + at, p->starts + at);
  }
}

/* --- product
 * -----------------------------------------------------------------------------------------------
 */

/* Up to most_rows rows by `count` panels; columns past the last exist in the panel only. */
static bool strip_run(const int8_plan *p, pte_pace *pace, size_t row, size_t rows, size_t panel,
                      size_t count) {
  pte_rows_i8 x = p->x;
  float *out = (float *)p->call->out[0]->data + row * p->columns, tile[PTE_I8_TALL][PTE_PANEL];
  size_t whole = pte_least(panel + count, p->columns / PTE_PANEL) - panel, at = panel + whole;
  x.codes += row * x.blocks * PTE_I8_BLOCK;
  x.steps += row * x.blocks;
  x.starts += row * x.blocks;
  const size_t dot = p->kernel->most_rows > PTE_I8_ROWS ? DOT_TALL : DOT;
  int64_t cost = (int64_t)(rows * PTE_PANEL * (p->depth + dot) / dot);
  for (size_t done = 0, some; done < whole; done += some, panel += some) {
    some = (size_t)pte_pace_take(pace, (int64_t)(whole - done), cost, PAIR);
    if (some == 0) return false;
    p->kernel->panels(&p->w, &x, rows, panel, some, out + panel * PTE_PANEL, p->columns);
  }
  if (whole == count) return true;
  p->kernel->panels(&p->w, &x, rows, at, 1, tile[0], PTE_PANEL);
  for (size_t r = 0; r < rows; r++)
    memcpy(out + r * p->columns + at * PTE_PANEL, tile[r],
           (p->columns - at * PTE_PANEL) * sizeof *out);
  return true;
}

static bool row_finish(const int8_plan *p, pte_pace *pace, uint32_t thread, size_t row,
                       size_t begin, size_t end) {
  float *y = (float *)p->call->out[0]->data + row * p->columns;
  const uint32_t steps = p->epilogue == NULL ? 0 : p->epilogue->step_count;
  const pte_finish_f32 *f = &p->finish;
  if (steps == 0 && f->add[0] == NULL && !f->at_least && !f->at_most) return true;
  for (size_t count; begin < end; begin += count) {
    count = (size_t)pte_pace_take(pace, (int64_t)(end - begin), 2 + steps, PTE_TILE);
    if (count == 0) return false;
    pte_finish_row(f, row, begin, count, y + begin);
    if (steps > 0)
      pte_epilogue_run(p->epilogue, thread, (int64_t)row, (int64_t)begin, (int64_t)count,
                       y + begin);
  }
  return true;
}

static void product_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const int8_plan *p = context;
  pte_pace pace = pte_call_pace(p->call);
  bool goes_on = true;
  for (size_t i = begin; goes_on && i < end; i++) {
    const size_t column = i % p->column_blocks, row = i / p->column_blocks * p->block_rows;
    const size_t first = p->pairs * column / p->column_blocks * PAIR;
    const size_t last = pte_least(p->pairs * (column + 1) / p->column_blocks * PAIR, p->panels);
    const size_t row_end = pte_least(row + p->block_rows, p->rows);
    const size_t tall = pte_least(p->kernel->most_rows, row_end - row);
    if (row_end - row <= tall) /* panels stream */
      goes_on = strip_run(p, &pace, row, tall, first, last - first);
    else /* the codes of a panel stay in the cache for all strips; the last may do rows again */
      for (size_t panel = first; panel < last; panel += PAIR)
        for (size_t m = row; goes_on && m < row_end; m += tall)
          goes_on = strip_run(p, &pace, pte_least(m, row_end - tall), tall, panel,
                              pte_least(PAIR, last - panel));
    for (size_t m = row; goes_on && m < row_end; m++)
      goes_on = row_finish(p, &pace, thread, m, first * PTE_PANEL,
                           pte_least(last * PTE_PANEL, p->columns));
  }
}

/* --- the operator
 * ------------------------------------------------------------------------------------------ */

/* Blocks of like size, since a panel's codes become bytes once a block; as many for each thread. */
static void blocks_plan(int8_plan *p) {
  const size_t bytes = pte_block_of(pte_call_machine(p->call), PTE_BLOCK_INT8_BYTES);
  const size_t threads = p->call->threads, held = bytes / (p->depth + 1);
  size_t most = p->kernel->most_rows > PTE_I8_ROWS ? p->kernel->most_rows : MOST_ROWS;
  most = pte_least(most, held > LEAST_ROWS ? held : LEAST_ROWS);
  p->row_blocks = pte_ceil_div(p->rows, most);
  if (p->rows > 0) {
    const size_t even = pte_ceil_div(pte_ceil_div(p->rows, p->row_blocks), EVEN_ROWS) * EVEN_ROWS;
    p->block_rows = pte_least(even, most);
    p->row_blocks = pte_ceil_div(p->rows, p->block_rows);
  }
  p->panels = pte_panel_count(p->columns);
  p->pairs = pte_ceil_div(p->panels, PAIR);
  p->column_blocks = threads;
  if (p->rows != 1) p->column_blocks *= pte_ceil_div(p->pairs, BLOCK_PAIRS * threads);
  p->column_blocks = pte_least(p->column_blocks, p->pairs);
}

static bool plan_bytes(int8_plan *p) {
  uint64_t count, rest;
  return pte_mul(p->rows + PTE_I8_BEHIND, p->x.blocks, &count) &&
         pte_mul(count, PTE_I8_BLOCK, &p->code_bytes) &&
         pte_align(p->code_bytes, 64, &p->code_bytes) &&
         pte_mul(count, sizeof(float) + sizeof(int32_t), &rest) &&
         pte_add(p->code_bytes, rest, &p->all_bytes);
}

static pte_status plan_of(const pte_call *call, int8_plan *p) {
  const pte_matmul_int8_attrs *a = call->attrs;
  const pte_tensor *x = call->in[0], *w = call->in[1];
  *p = (int8_plan){.call = call,
                   .kernel = pte_gemm_blocks_pick(call->cpu),
                   .w = pte_stored_of(w, call),
                   .rows = (size_t)pte_tensor_span(x, 0, x->rank - 1u),
                   .columns = (size_t)w->shape[0],
                   .depth = (size_t)w->shape[1],
                   .factor = pte_i8_factor(w->format)};
  if (p->kernel->bias != NULL) p->bias = p->kernel->bias(w->format);
  p->x.blocks = pte_ceil_div(p->depth, PTE_I8_BLOCK);
  blocks_plan(p);
  if (!plan_bytes(p)) return PTE_NO_MEMORY;
  return pte_epilogue_needs(call, a->steps, 3, &p->follows);
}

static pte_status matmul_int8_needs(const pte_call *call, pte_needs *out) {
  int8_plan p;
  PTE_TRY(plan_of(call, &p));
  bool fits = pte_add(p.follows.scratch, p.all_bytes, &out->scratch) &&
              pte_add(p.follows.kept, PTE_KEPT_BYTES(int8_plan), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status matmul_int8_keep(const pte_call *call) {
  const pte_matmul_int8_attrs *a = call->attrs;
  PTE_TRY(plan_of(call, call->kept));
  pte_epilogue_keep(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(int8_plan)));
  return PTE_OK;
}

static pte_status matmul_int8_run(const pte_call *call) {
  const pte_matmul_int8_attrs *a = call->attrs;
  int8_plan *p = call->kept;
  char *scratch = (char *)call->scratch + p->follows.scratch;
  p->call = call, p->from = call->in[0]->data;
  p->codes = (int8_t *)scratch;
  p->steps = (float *)(void *)(scratch + p->code_bytes);
  p->starts = (int32_t *)(void *)(p->steps + (p->rows + PTE_I8_BEHIND) * p->x.blocks);
  const size_t end = p->rows * p->x.blocks, behind = PTE_I8_BEHIND * p->x.blocks;
  memset(p->codes + end * PTE_I8_BLOCK, 0, behind * PTE_I8_BLOCK);
  memset(p->steps + end, 0, behind * sizeof *p->steps);
  memset(p->starts + end, 0, behind * sizeof *p->starts);
  p->x.codes = p->codes, p->x.steps = p->steps, p->x.starts = p->starts;
  p->epilogue =
      pte_epilogue_open(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(int8_plan)),
                        call->scratch, &p->finish);
  pte_parallel(call, p->rows, 1 + 16384 / (p->depth + 1), quantize_task, p);
  pte_parallel(call, p->row_blocks * p->column_blocks, 1, product_task, p);
  return pte_epilogue_close(p->epilogue, call);
}

const pte_kernel pte_matmul_int8_kernel = {
    .needs = matmul_int8_needs, .keep = matmul_int8_keep, .run = matmul_int8_run, .reads = 1u << 1};
