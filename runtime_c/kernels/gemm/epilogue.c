/* See epilogue.h. */
#include "kernels/gemm/epilogue.h"

static pte_operands operands_of(const pte_call *call, uint32_t first_x) {
  uint32_t count = call->in_count > first_x ? call->in_count - first_x : 0;
  return (pte_operands){.y = call->out[0], .xs = call->in + first_x, .x_count = count};
}

pte_status pte_epilogue_scratch(const pte_call *call, pte_steps steps, uint32_t first_x,
                                uint64_t *out_bytes) {
  pte_operands o = operands_of(call, first_x);
  return pte_engine_bytes(call, steps, &o, out_bytes);
}

pte_engine *pte_epilogue_open(const pte_call *call, pte_steps steps, uint32_t first_x,
                              void *scratch) {
  pte_operands o = operands_of(call, first_x);
  return steps.steps.count == 0 ? NULL : pte_engine_open(call, steps, &o, scratch);
}

pte_status pte_epilogue_close(const pte_engine *engine, const pte_call *call) {
  return engine == NULL ? PTE_OK : pte_engine_close(engine, call);
}
