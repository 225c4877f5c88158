/* See epilogue.h. */
#include "kernels/gemm/epilogue.h"

static pte_operands operands_of(const pte_call *call, uint32_t first_x) {
  uint32_t count = call->in_count > first_x ? call->in_count - first_x : 0;
  return (pte_operands){.y = call->out[0], .xs = call->in + first_x, .x_count = count};
}

pte_status pte_epilogue_needs(const pte_call *call, pte_steps steps, uint32_t first_x,
                              pte_needs *out) {
  const pte_operands o = operands_of(call, first_x);
  pte_finish_f32 finish;
  *out = (pte_needs){0, 0};
  if (pte_finish_of(call, steps, first_x, &finish)) return PTE_OK;
  return pte_engine_needs(call, steps, &o, out);
}

void pte_epilogue_keep(const pte_call *call, pte_steps steps, uint32_t first_x, void *kept) {
  const pte_operands o = operands_of(call, first_x);
  pte_finish_f32 finish;
  if (!pte_finish_of(call, steps, first_x, &finish)) pte_engine_keep(call, steps, &o, kept);
}

pte_engine *pte_epilogue_open(const pte_call *call, pte_steps steps, uint32_t first_x, void *kept,
                              void *scratch, pte_finish_f32 *out_finish) {
  const pte_operands o = operands_of(call, first_x);
  if (pte_finish_of(call, steps, first_x, out_finish)) return NULL;
  return pte_engine_open(call, &o, kept, scratch);
}

pte_status pte_epilogue_close(const pte_engine *engine, const pte_call *call) {
  return engine == NULL ? PTE_OK : pte_engine_close(engine, call);
}
