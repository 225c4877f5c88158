/* matmul: y = x w^T + bias, then the epilogue. x [*m, k] dense, y [*m, n] of any strides, w [n, k]
 * in panels; no aliasing. Each output is one fused chain over k from +0; the
 * bias is added behind it. A weight in a storage format is decoded to f32 first, block by block:
 * the bits of decoding it whole. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/gemm/panel_decode.h"

typedef struct matmul_plan {
  pte_matrix rows;
  pte_weight weight;
  pte_gemm gemm;
  pte_needs epilogue; /* kept behind the plan; in front of the product's scratch */
} matmul_plan;

static pte_status plan_of(const pte_call *call, matmul_plan *p) {
  const pte_matmul_attrs *a = call->attrs;
  const pte_tensor *x = call->in[0], *w = call->in[1];
  p->gemm = (pte_gemm){.groups = 1,
                       .rows = (size_t)pte_tensor_span(x, 0, x->rank - 1u),
                       .columns = (size_t)w->shape[0],
                       .taps = 1,
                       .run = (size_t)w->shape[1],
                       .fill = pte_matrix_fill,
                       .panels = pte_weight_panels(w, call, &p->weight),
                       .cut = pte_gemm_cut_of(pte_call_machine(call))};
  p->gemm.lines = pte_matrix_lines(p->gemm.rows, p->gemm.run, p->gemm.run);
  pte_gemm_put(&p->gemm, call->out[0]);
  return pte_epilogue_needs(call, a->steps, 3, &p->epilogue);
}

static pte_status matmul_needs(const pte_call *call, pte_needs *out) {
  matmul_plan p;
  PTE_TRY(plan_of(call, &p));
  bool fits = pte_gemm_scratch(&p.gemm, call->threads, &out->scratch) &&
              pte_add(out->scratch, p.epilogue.scratch, &out->scratch) &&
              pte_add(p.epilogue.kept, PTE_KEPT_BYTES(matmul_plan), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status matmul_keep(const pte_call *call) {
  const pte_matmul_attrs *a = call->attrs;
  PTE_TRY(plan_of(call, call->kept));
  pte_epilogue_keep(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(matmul_plan)));
  return PTE_OK;
}

static pte_status matmul_run(const pte_call *call) {
  const pte_matmul_attrs *a = call->attrs;
  matmul_plan *p = call->kept;
  pte_gemm *g = &p->gemm;
  p->rows = (pte_matrix){.a = call->in[0]->data, .stride = g->run};
  g->source = &p->rows, g->watch = call->watch;
  pte_gemm_put(g, call->out[0]);
  g->epilogue =
      pte_epilogue_open(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(matmul_plan)),
                        call->scratch, &g->finish);
  pte_gemm_run(call, g, (char *)call->scratch + p->epilogue.scratch);
  return pte_epilogue_close(g->epilogue, call);
}

const pte_kernel pte_matmul_kernel = {
    .needs = matmul_needs, .keep = matmul_keep, .run = matmul_run, .reads = 1u << 1};
