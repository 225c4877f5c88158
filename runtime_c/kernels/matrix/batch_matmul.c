/* batch_matmul: y = a b for two computed operands of any strides; y [*b, m, n] dense; no aliasing.
 * The sums of matmul: one fused chain over k from +0.
 *
 * A unit of work is some panels of one batch: its thread packs those columns of b into its own
 * scratch and multiplies all rows of a by them, so threads share nothing. Rows of a are read where
 * they lie, or copied where their elements do not follow one another. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/gemm/gemm_plain.h"
#include "kernels/gemm/panel_pack.h"
#include "kernels/rows/rows.h"

typedef struct batch_plan {
  const pte_call *call;
  pte_gemm gemm;                  /* of one batch, without addresses */
  size_t batches, panels, blocks; /* blocks of panels in a batch */
  size_t packed_bytes;
  uint64_t share_bytes; /* scratch of a thread: packed panels, then the gemm's */
} batch_plan;

typedef struct batch_rows {
  const float *a;
  int64_t row_step, step;
  size_t k;
} batch_rows;

static bool batch_fill(const void *source, const pte_gemm_rows *rows) {
  const batch_rows *s = source;
  pte_gemm_walk walk = pte_gemm_walk_begin(rows);
  for (size_t r = 0; r < rows->count; r++) {
    const float *row = s->a + (int64_t)(rows->first + r) * s->row_step;
    float *copy = rows->copy + r * s->k;
    if (s->step != 1 &&
        !pte_row_move(rows->pace, copy, 1, row, s->step, (int64_t)s->k, sizeof *copy))
      return false;
    *pte_gemm_walk_next(&walk) = s->step != 1 ? copy : row;
  }
  return true;
}

/* The scratch is the same for every variant and pool; a copy of rows is planned only where strides
 * ask for it. */
static bool batch_plan_of(const pte_call *call, batch_plan *p) {
  const pte_tensor *a = call->in[0], *y = call->out[0];
  unsigned rank = a->rank;
  size_t k = (size_t)a->shape[rank - 1], limit;
  *p = (batch_plan){.call = call};
  p->gemm = (pte_gemm){.groups = 1,
                       .rows = (size_t)a->shape[rank - 2],
                       .columns = (size_t)y->shape[rank - 1],
                       .taps = 1,
                       .run = k,
                       .fill = batch_fill,
                       .cut = pte_gemm_cut_of(pte_call_machine(call)),
                       .copy_floats = a->stride[rank - 1] == 1 ? 0 : k};
  p->batches = (size_t)pte_tensor_span(y, 0, rank - 2);
  p->panels = pte_panel_count(p->gemm.columns);
  limit = pte_block_of(pte_call_machine(call), PTE_BLOCK_PACKED_FLOATS) / PTE_PANEL;
  limit = k > limit ? 1 : limit / (k == 0 ? 1 : k);
  if (limit > p->panels) limit = p->panels;
  if (limit == 0) limit = 1;
  p->blocks = p->panels / limit + (p->panels % limit != 0);
  if (p->batches < call->threads && p->blocks < call->threads)
    p->blocks = p->panels < call->threads ? p->panels : call->threads;
  uint64_t packed, share;
  if (!pte_mul(limit * sizeof(float[PTE_PANEL]), k, &packed) ||
      !pte_gemm_scratch(&p->gemm, 1, &share))
    return false;
  p->packed_bytes = (size_t)packed;
  return pte_add(packed, share, &p->share_bytes);
}

/* One unit: panels first .. last of a batch. */
static bool batch_block(batch_plan *p, pte_pace *pace, const pte_coords *coords, size_t first,
                        size_t last, char *scratch) {
  const pte_tensor *a = p->call->in[0], *b = p->call->in[1], *y = p->call->out[0];
  unsigned outer = a->rank - 2u;
  int64_t b_step = b->stride[outer + 1];
  size_t k = p->gemm.run;
  const float *columns = (const float *)b->data + pte_coords_offset(coords, b->stride, outer);
  for (size_t panel = first; panel < last; panel++) {
    size_t column = panel * PTE_PANEL, left = p->gemm.columns - column;
    if (!pte_panel_pack(pace, left < PTE_PANEL ? left : PTE_PANEL, k,
                        columns + (int64_t)column * b_step, b_step, b->stride[outer],
                        (float *)scratch + (panel - first) * k * PTE_PANEL))
      return false;
  }
  batch_rows rows = {(const float *)a->data + pte_coords_offset(coords, a->stride, outer),
                     a->stride[outer], a->stride[outer + 1], k};
  pte_plain_panels panels = {(const float *)scratch, k};
  pte_gemm g = p->gemm;
  g.source = &rows, g.watch = p->call->watch;
  g.panels = (pte_panels){.read = pte_plain_panels_read, .self = &panels};
  g.out = (float *)y->data + pte_coords_offset(coords, y->stride, outer) + first * PTE_PANEL;
  g.out_stride = g.columns;
  g.columns -= first * PTE_PANEL;
  pte_gemm_part(&g, p->call->cpu, scratch + p->packed_bytes, 0, (size_t[]){0, g.rows},
                (size_t[]){0, last - first});
  return pte_pace_go(pace, PTE_PANEL);
}

static void batch_task(void *context, size_t begin, size_t end, uint32_t thread) {
  batch_plan *p = context;
  const pte_tensor *y = p->call->out[0];
  char *scratch = (char *)p->call->scratch + p->share_bytes * thread;
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    size_t block = i % p->blocks;
    pte_coords coords = pte_coords_at((int64_t)(i / p->blocks), y->shape, y->rank - 2u);
    if (!batch_block(p, &pace, &coords, p->panels * block / p->blocks,
                     p->panels * (block + 1) / p->blocks, scratch))
      return;
  }
}

static pte_status batch_matmul_needs(const pte_call *call, pte_needs *out) {
  batch_plan p;
  if (!batch_plan_of(call, &p) || !pte_mul(p.share_bytes, call->threads, &out->scratch))
    return PTE_NO_MEMORY;
  out->kept = PTE_KEPT_BYTES(batch_plan);
  return PTE_OK;
}

static pte_status batch_matmul_keep(const pte_call *call) {
  return batch_plan_of(call, call->kept) ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status batch_matmul_run(const pte_call *call) {
  batch_plan *p = call->kept;
  p->call = call;
  if (p->gemm.rows == 0 || p->panels == 0) return PTE_OK;
  pte_parallel(call, p->batches * p->blocks, 1, batch_task, p);
  return PTE_OK;
}

const pte_kernel pte_batch_matmul_kernel = {
    .needs = batch_matmul_needs, .keep = batch_matmul_keep, .run = batch_matmul_run};
