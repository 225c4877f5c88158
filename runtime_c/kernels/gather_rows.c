/* gather_rows: y[i] = row index[i] of a weight in panels, [N/16][K][16] (DESIGN section 5), decoded
 * to f32; no aliasing. i8_channel: codes [N/16][K/4][16][4], then scales [N/16][16]; f32(code) *
 * scale. Reads 4 of every 64 bytes. */
#include "gen/ops.h"
#include "kernels/index.h"

static void row_f32(const pte_tensor *w, int64_t row, float *y) {
  int64_t k = w->shape[1];
  const float *from = (const float *)w->data + row / 16 * k * 16 + row % 16;
  for (int64_t i = 0; i < k; i++) y[i] = from[i * 16];
}

static void row_i8_channel(const pte_tensor *w, int64_t row, float *y) {
  int64_t k = w->shape[1], steps = (k + 3) / 4, panels = (w->shape[0] + 15) / 16;
  const int8_t *from = (const int8_t *)w->data + row / 16 * steps * 64 + row % 16 * 4;
  const float *scales =
      (const float *)(const void *)((const int8_t *)w->data + panels * steps * 64);
  for (int64_t i = 0; i < k; i++) y[i] = (float)from[i / 4 * 64 + i % 4] * scales[row];
}

static void gather_rows_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *w = call->in[0];
  const int64_t *index = call->in[1]->data;
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    int64_t row = pte_index_at(index[i], w->shape[0]);
    float *y = (float *)call->out[0]->data + (int64_t)i * w->shape[1];
    if (w->format == PTE_FORMAT_PLAIN) row_f32(w, row, y);
    else row_i8_channel(w, row, y);
  }
}

static pte_status gather_rows_check(const pte_call *call) {
  const pte_tensor *w = call->in[0];
  bool plain = w->format == PTE_FORMAT_PLAIN && w->dtype == PTE_F32;
  if (w->groups > 1)
    return pte_kernel_fail(call, PTE_UNSUPPORTED, "rows of a grouped weight", 0, -1, w->groups, 1);
  if (plain || w->format == PTE_FORMAT_I8_CHANNEL) return PTE_OK;
  return pte_kernel_fail(call, PTE_UNSUPPORTED, "no row reader for this weight format", 0, -1,
                         w->format, PTE_FORMAT_PLAIN);
}

static pte_status gather_rows_run(const pte_call *call) {
  const pte_tensor *w = call->in[0];
  PTE_TRY(pte_index_verify(call, 1, w->shape[0]));
  pte_parallel(call, (size_t)pte_tensor_count(call->in[1]), pte_grain(w->shape[1] * 64),
               gather_rows_task, (void *)call);
  return PTE_OK;
}

const pte_kernel pte_gather_rows_kernel = {.check = gather_rows_check, .run = gather_rows_run};
