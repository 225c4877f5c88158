/* dims: the given expressions, evaluated at prepare (or, of counted dimensions, by the session), as
 * a tensor. */
#include "gen/ops.h"

static pte_status dims_run(const pte_call *call) {
  const pte_dims_attrs *attrs = call->attrs;
  int64_t *y = call->out[0]->data;
  for (uint32_t i = 0; i < attrs->values.count; i++) y[i] = pte_call_dim(call, attrs->values, i);
  return PTE_OK;
}

const pte_kernel pte_dims_kernel = {.run = dims_run};
