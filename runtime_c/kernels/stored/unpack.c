/* unpack: what the codes of narrow elements mean: 2- and 4-bit integers as i64; 4-, 6- and 8-bit
 * floats as f32. Exact. */
#include "core/narrow.h"
#include "gen/ops.h"
#include "kernels/rows/rows.h"

static bool is_signed(unsigned dtype) { return dtype == PTE_I4 || dtype == PTE_I2; }

static void unpack_integers(const pte_tensor *x, int64_t *y, int64_t begin, int64_t end) {
  unsigned bits = pte_dtype_bits(x->dtype);
  int64_t sign = is_signed(x->dtype) ? 1 << (bits - 1) : 0;
  for (int64_t i = begin; i < end; i++)
    y[i] = ((int64_t)pte_narrow_get(x->data, i, bits) ^ sign) - sign;
}

static void unpack_floats(const pte_tensor *x, float *y, int64_t begin, int64_t end) {
  pte_narrow narrow = pte_narrow_of(x->dtype);
  unsigned bits = pte_dtype_bits(x->dtype);
  float meaning[256];
  for (uint32_t code = 0; code < 1u << bits; code++)
    meaning[code] = pte_narrow_decode(narrow, code);
  for (int64_t i = begin; i < end; i++) y[i] = meaning[pte_narrow_get(x->data, i, bits)];
}

static void unpack_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *x = call->in[0], *y = call->out[0];
  (void)thread;
  if (y->dtype == PTE_I64) unpack_integers(x, y->data, (int64_t)begin, (int64_t)end);
  else unpack_floats(x, y->data, (int64_t)begin, (int64_t)end);
}

static pte_status unpack_run(const pte_call *call) {
  pte_parallel(call, (size_t)pte_tensor_count(call->in[0]), 4096, unpack_task, (void *)call);
  return PTE_OK;
}

const pte_kernel pte_unpack_kernel = {.run = unpack_run};
