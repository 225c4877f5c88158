/* panel_scatter: y = cache with y[b, g, at / 16, :, at % 16] = update[b, g, j], at = start[b] + j:
 * modulo the places if circular: keys of a context, 16 side by side, as attention multiplies them.
 * y may be cache (a state): then nothing else is touched. Moves bits. */
#include "gen/ops.h"
#include "kernels/moving/rows_scatter.h"

static pte_status panel_scatter_run(const pte_call *call) {
  return pte_rows_scatter(call, ((const pte_panel_scatter_attrs *)call->attrs)->circular != 0);
}

const pte_kernel pte_panel_scatter_kernel = {.run = panel_scatter_run};
