/* reshape: y = x in row-major order; both dense, apart, of as many elements, which the data decide.
 * Moves bits. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"

enum { CHUNK = 16384 /* bytes */ };

typedef struct reshape {
  const pte_call *call;
  int64_t bytes;
} reshape;

static void reshape_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const reshape *r = context;
  int64_t first = (int64_t)begin * CHUNK, last = (int64_t)end * CHUNK;
  pte_pace pace = pte_call_pace(r->call);
  (void)thread;
  last = last < r->bytes ? last : r->bytes;
  (void)pte_row_move(&pace, (char *)r->call->out[0]->data + first, 1,
                     (const char *)r->call->in[0]->data + first, 1, last - first, 1);
}

static pte_status reshape_run(const pte_call *call) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  int64_t have = pte_tensor_count(x), want = pte_tensor_count(y);
  if (have != want)
    return pte_kernel_fail(call, PTE_BAD_DATA, "elements do not fill the new shape", 0, -1, have,
                           want);
  reshape r = {call, have * (int64_t)(pte_dtype_bits(x->dtype) / 8)};
  pte_parallel(call, (size_t)((r.bytes + CHUNK - 1) / CHUNK), 1, reshape_task, &r);
  return PTE_OK;
}

const pte_kernel pte_reshape_kernel = {.run = reshape_run};
