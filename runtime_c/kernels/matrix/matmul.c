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
} matmul_plan;

static void matmul_plan_shape(const pte_call *call, matmul_plan *p) {
  const pte_tensor *x = call->in[0], *w = call->in[1];
  p->gemm = (pte_gemm){.groups = 1,
                       .rows = (size_t)pte_tensor_span(x, 0, x->rank - 1u),
                       .columns = (size_t)w->shape[0],
                       .taps = 1,
                       .run = (size_t)w->shape[1],
                       .fill = pte_matrix_fill,
                       .watch = call->watch,
                       .panels = pte_weight_panels(w, call->cpu, &p->weight)};
  p->gemm.lines = pte_matrix_lines(p->gemm.rows, p->gemm.run, p->gemm.run);
  pte_gemm_put(&p->gemm, call->out[0]);
}

static pte_status matmul_scratch(const pte_call *call, uint64_t *out_bytes) {
  const pte_matmul_attrs *a = call->attrs;
  matmul_plan p;
  uint64_t epilogue, product;
  matmul_plan_shape(call, &p);
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &epilogue));
  bool fits =
      pte_gemm_scratch(&p.gemm, call->threads, &product) && pte_add(epilogue, product, out_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status matmul_run(const pte_call *call) {
  const pte_matmul_attrs *a = call->attrs;
  const pte_tensor *x = call->in[0];
  matmul_plan p;
  uint64_t epilogue;
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &epilogue));
  matmul_plan_shape(call, &p);
  p.rows = (pte_matrix){.a = x->data, .stride = p.gemm.run};
  p.gemm.source = &p.rows;
  if (!pte_finish_of(call, a->steps, 3, &p.gemm.finish))
    p.gemm.epilogue = pte_epilogue_open(call, a->steps, 3, call->scratch);
  pte_gemm_run(call, &p.gemm, (char *)call->scratch + epilogue);
  return pte_epilogue_close(p.gemm.epilogue, call);
}

const pte_kernel pte_matmul_kernel = {.scratch = matmul_scratch, .run = matmul_run};
