/* gather_rows: y[i] = row index[i] of a weight in panels, decoded to f32; no
 * aliasing. Reads one of 16 rows of every cache line. */
#include "core/kept.h"
#include "gen/ops.h"
#include "kernels/gemm/panel_decode.h"
#include "kernels/moving/index.h"

static bool row_f32(pte_pace *pace, const pte_tensor *w, int64_t row, float *y) {
  int64_t k = w->shape[1];
  const float *from = (const float *)w->data + row / 16 * k * 16 + row % 16;
  return pte_row_move(pace, y, 1, from, 16, k, sizeof *y);
}

/* The panel is decoded for all its 16 rows: their codes share the cache lines anyway. */
enum { DEPTH = 64 };

static bool row_stored(pte_pace *pace, const pte_panel_decode *decode, const pte_stored *s,
                       size_t row, size_t k, float *y) {
  float block[DEPTH * PTE_PANEL];
  for (size_t at = 0; at < k; at += DEPTH) {
    size_t count = k - at < DEPTH ? k - at : DEPTH;
    if (!pte_pace_go(pace, DEPTH * PTE_PANEL)) return false;
    decode->read(s, row / PTE_PANEL, at, count, block);
    for (size_t i = 0; i < count; i++) y[at + i] = block[i * PTE_PANEL + row % PTE_PANEL];
  }
  return true;
}

static void gather_rows_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *w = call->in[0];
  const int64_t *index = call->in[1]->data;
  const pte_panel_decode *decode = pte_panel_decode_pick(call->cpu);
  pte_stored stored = !PTE_STORED_KEPT || w->format == PTE_FORMAT_PLAIN
                          ? (pte_stored){.codes = NULL}
                          : pte_stored_of(w, call);
  pte_pace pace = pte_call_pace(call);
  bool goes_on = true;
  (void)thread;
  for (size_t i = begin; goes_on && i < end; i++) {
    int64_t row = pte_index_at(index + i, w->shape[0]);
    float *y = (float *)call->out[0]->data + (int64_t)i * w->shape[1];
    if (w->format == PTE_FORMAT_PLAIN) goes_on = row_f32(&pace, w, row, y);
    else goes_on = row_stored(&pace, decode, &stored, (size_t)row, (size_t)w->shape[1], y);
  }
}

static pte_status gather_rows_run(const pte_call *call) {
  const pte_tensor *w = call->in[0];
  PTE_TRY(pte_index_verify(call, 1, w->shape[0]));
  pte_parallel(call, (size_t)pte_tensor_count(call->in[1]), pte_grain(w->shape[1] * 64),
               gather_rows_task, (void *)call);
  return PTE_OK;
}

const pte_kernel pte_gather_rows_kernel = {.run = gather_rows_run};
