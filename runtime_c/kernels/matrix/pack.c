/* pack: a weight computed at run time, any strides, into panels [n/16 rounded up][k][16]; zeros
 * where there is no row. */
#include "gen/ops.h"
#include "kernels/gemm/panel_pack.h"
#include "kernels/panels.h"

static void pack_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *w = call->in[0];
  size_t n = (size_t)w->shape[0], k = (size_t)w->shape[1];
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  for (size_t p = begin; p < end; p++) {
    size_t first = p * PTE_PANEL, rows = n - first < PTE_PANEL ? n - first : PTE_PANEL;
    const float *from = (const float *)w->data + (int64_t)first * w->stride[0];
    float *to = (float *)call->out[0]->data + first * k;
    if (!pte_panel_pack(&pace, rows, k, from, w->stride[0], w->stride[1], to)) return;
  }
}

static pte_status pack_run(const pte_call *call) {
  const pte_tensor *w = call->in[0];
  size_t panels = pte_panel_count((size_t)w->shape[0]),
         bytes = (size_t)w->shape[1] * PTE_PANEL * sizeof(float);
  pte_parallel(call, panels, bytes > 65536 ? 1 : 65536 / (bytes + 1) + 1, pack_task,
               (void *)(uintptr_t)call);
  return PTE_OK;
}

const pte_kernel pte_pack_kernel = {.run = pack_run};
