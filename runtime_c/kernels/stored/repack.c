/* repack: i64 to 2- and 4-bit integers (the low bits); f32 to 4-, 6- and 8-bit floats, to nearest,
 * ties to even (F8E8M0: ties up). Bits behind the last element are zero. */
#include "core/narrow.h"
#include "gen/ops.h"
#include "kernels/rows/rows.h"

enum {
  GROUP = 4
}; /* elements that fill whole bytes at 2, 4, 6 and 8 bits: threads share no byte */

static uint32_t code_of(const pte_tensor *x, int64_t i, pte_narrow narrow, bool saturate) {
  if (x->dtype == PTE_I64) return (uint32_t)((const uint64_t *)x->data)[i];
  return pte_narrow_encode(narrow, ((const float *)x->data)[i], saturate);
}

static void repack_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *x = call->in[0], *y = call->out[0];
  bool saturate = ((const pte_repack_attrs *)call->attrs)->saturate != 0;
  int64_t count = pte_tensor_count(x);
  unsigned bits = pte_dtype_bits(y->dtype);
  pte_narrow narrow = pte_narrow_of(y->dtype);
  (void)thread;
  for (int64_t group = (int64_t)begin; group < (int64_t)end; group++) {
    int64_t first = group * GROUP, rest = count - first < GROUP ? count - first : GROUP;
    uint32_t word = 0;
    for (int64_t i = 0; i < rest; i++)
      word |= (code_of(x, first + i, narrow, saturate) & ((1u << bits) - 1))
              << ((uint32_t)i * bits);
    uint8_t *to = (uint8_t *)y->data + group * (int64_t)bits * GROUP / 8;
    for (int64_t byte = 0; byte < (rest * (int64_t)bits + 7) / 8; byte++)
      to[byte] = (uint8_t)(word >> (8 * byte));
  }
}

static pte_status repack_run(const pte_call *call) {
  size_t groups = ((size_t)pte_tensor_count(call->in[0]) + GROUP - 1) / GROUP;
  pte_parallel(call, groups, 1024, repack_task, (void *)call);
  return PTE_OK;
}

const pte_kernel pte_repack_kernel = {.run = repack_run};
