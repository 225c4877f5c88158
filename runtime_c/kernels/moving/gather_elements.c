/* gather_elements: y[i, r] = x[index[i, r], r] along axis 0. x and index with any strides; no
 * aliasing. Moves bits. */
#include "gen/ops.h"
#include "kernels/moving/index.h"

typedef struct row_shape {
  int64_t length, index_step, x_step; /* x_step: how x moves along the row, beside its index */
  int64_t extent, stride;             /* of axis 0 of x */
} row_shape;

#define GATHER_ROW(type)                                                                           \
  for (int64_t j = 0; j < s->length; j++)                                                          \
    ((type *)y)[j] =                                                                               \
        ((const type *)                                                                            \
             x)[pte_index_at(index + j * s->index_step, s->extent) * s->stride + j * s->x_step];   \
  break

static void gather_row(const row_shape *s, const int64_t *index, const void *x, void *y,
                       unsigned bytes) {
  switch (bytes) {
  case 1: GATHER_ROW(uint8_t);
  case 2: GATHER_ROW(uint16_t);
  case 4: GATHER_ROW(uint32_t);
  default: GATHER_ROW(uint64_t);
  }
}

static void gather_elements_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *x = call->in[0], *index = call->in[1];
  unsigned last = index->rank - 1u, bytes = pte_dtype_bits(x->dtype) / 8;
  row_shape s = {index->shape[last], index->stride[last], last > 0 ? x->stride[last] : 0,
                 x->shape[0], x->stride[0]};
  pte_coords coords = pte_coords_at((int64_t)begin, index->shape, last);
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  for (size_t row = begin; row < end; row++) {
    const int64_t *from =
        (const int64_t *)index->data + pte_coords_offset(&coords, index->stride, last);
    int64_t at =
        pte_coords_offset(&coords, x->stride, last) - coords.at[0] * (last > 0 ? x->stride[0] : 0);
    char *to = pte_element(call->out[0], (int64_t)row * index->shape[last]);
    for (int64_t j = 0; j < index->shape[last]; j += s.length) {
      s.length = pte_pace_take(&pace, index->shape[last] - j, 1, 1);
      if (s.length == 0) return;
      gather_row(&s, from + j * s.index_step, pte_element(x, at + j * s.x_step), to + j * bytes,
                 bytes);
    }
    pte_coords_next(&coords, index->shape, last);
  }
}

static pte_status gather_elements_run(const pte_call *call) {
  const pte_tensor *index = call->in[1];
  PTE_TRY(pte_index_verify(call, 1, call->in[0]->shape[0]));
  if (pte_tensor_count(index) == 0) return PTE_OK;
  size_t rows = (size_t)pte_tensor_span(index, 0, index->rank - 1u);
  pte_parallel(call, rows, pte_grain(index->shape[index->rank - 1] * 16), gather_elements_task,
               (void *)call);
  return PTE_OK;
}

const pte_kernel pte_gather_elements_kernel = {.run = gather_elements_run};
