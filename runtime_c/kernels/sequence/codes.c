/* codes: y[i] = nearest(x[i] * (127 / top)), ties to even, scale = top / 127, top = max |x| of
 * a row; turned first: kernels/rotate/rotate_rows.h. A row that is not finite has scale NaN and
 * codes of 0, one below 2^-120 scale 1. x with any strides, y and scale dense; no aliasing. */
#include "gen/ops.h"
#include "kernels/moving/index.h"
#include "kernels/rotate/rotate_rows.h"

/* The largest magnitude as bits: infinity and NaN are the largest. */
static uint32_t top_of(const float *x, int64_t count) {
  uint32_t top = 0;
  for (int64_t i = 0; i < count; i++) {
    uint32_t magnitude = pte_bits(x[i]) & 0x7fffffffu;
    top = magnitude > top ? magnitude : top;
  }
  return top;
}

static pte_status codes_needs(const pte_call *call, pte_needs *out) {
  const pte_tensor *x = call->in[0];
  out->scratch = (uint64_t)x->shape[x->rank - 1] * sizeof(float);
  return PTE_OK;
}

static pte_status codes_run(const pte_call *call) {
  const pte_codes_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0], *y = call->out[0], *scale = call->out[1];
  unsigned axis = x->rank - 1u;
  int64_t rows = pte_tensor_span(x, 0, axis), d = x->shape[axis];
  float *row = call->scratch;
  pte_pace pace = pte_call_pace(call);
  pte_coords coords = {{0}};
  for (int64_t i = 0; i < rows; i++) {
    const float *from = (const float *)x->data + pte_coords_offset(&coords, x->stride, axis);
    if (!pte_pace_go(&pace, 8 * d + 8)) return PTE_CANCELLED;
    pte_row_copy(row, 1, from, x->stride[axis], d, 4);
    for (int64_t k = 0; attrs->turned && k < d; k += PTE_TURN) pte_turn_64(row + k, row + k);
    pte_row_codes((size_t)d, row, top_of(row, d), (int8_t *)y->data + i * d,
                  (float *)scale->data + i);
    pte_coords_next(&coords, x->shape, axis);
  }
  return PTE_OK;
}

const pte_kernel pte_codes_kernel = {.needs = codes_needs, .run = codes_run};
