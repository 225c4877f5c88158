/* recurrent: the parts of lstm, gru and rnn that are the same. h R^T is the sum of matmul:
 * sequential over k from +0. */
#include "kernels/sequence/recurrent.h"

#include "core/size.h"

static int64_t pad_panel(int64_t n) { return (n + PTE_PANEL - 1) / PTE_PANEL * PTE_PANEL; }

pte_status pte_recurrence_needs(const pte_call *call, pte_needs *out) {
  const pte_tensor *gates = call->in[0], *w = call->in[1];
  uint64_t floats = (uint64_t)pad_panel(w->shape[0]);
  if (!pte_add(floats, 3 * (uint64_t)pad_panel(w->shape[1]), &floats)) return PTE_NO_MEMORY;
  if (!pte_mul(floats, (uint64_t)gates->shape[1], &floats)) return PTE_NO_MEMORY;
  return pte_mul(floats, sizeof(float), &out->scratch) ? PTE_OK : PTE_NO_MEMORY;
}

void pte_recurrence_functions(pte_recurrence *r, pte_range activations, pte_range parameters) {
  const int64_t *kinds = pte_call_ints(r->call, activations);
  for (uint32_t i = 0; i < activations.count; i++)
    r->activation[i] =
        (pte_activation){(uint32_t)kinds[i], (float)pte_call_float(r->call, parameters, 2 * i),
                         (float)pte_call_float(r->call, parameters, 2 * i + 1)};
}

pte_status pte_recurrence_start(const pte_recurrence *r, const pte_tensor *given, float *state) {
  static const float zero = 0;
  const float *from = given == NULL ? &zero : given->data;
  bool done = pte_row_move(r->pace, state, 1, from, given != NULL, r->batches * r->h, 4);
  return done ? PTE_OK : PTE_CANCELLED;
}

pte_status pte_recurrence_open(const pte_call *call, pte_pace *pace, unsigned hidden_port,
                               unsigned count_port, pte_recurrence *out) {
  pte_recurrence r = {.call = call, .gates = call->in[0], .w = call->in[1], .y = call->out[0]};
  r.pace = pace;
  r.steps = r.gates->shape[0];
  r.batches = r.gates->shape[1];
  r.m = r.w->shape[0];
  r.h = r.w->shape[1];
  r.m_padded = pad_panel(r.m);
  r.variant = pte_recurrent_f32_pick(call->cpu);
  r.gemm = pte_gemm_f32_pick(call->cpu);
  r.product = call->scratch;
  r.hidden = r.product + r.batches * r.m_padded;
  r.other = r.hidden + r.batches * pad_panel(r.h);
  r.third = r.other + r.batches * pad_panel(r.h);
  r.count = call->in[count_port] != NULL ? call->in[count_port]->data : NULL;
  for (int64_t b = 0, end = 0; r.count != NULL && b < r.batches; b++) {
    if (b == end && (end += pte_pace_take(pace, r.batches - b, 1, 1)) == b) return PTE_CANCELLED;
    if (r.count[b] < 0 || r.count[b] > r.steps)
      return pte_kernel_fail(call, PTE_BAD_DATA, "sequence length out of range", count_port, b,
                             r.count[b], r.steps);
  }
  *out = r;
  return pte_recurrence_start(&r, call->in[hidden_port], r.hidden);
}

typedef struct multiply {
  const pte_recurrence *r;
  const float *x;
  int64_t first_panel;
} multiply;

/* Items are panels. */
static void multiply_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const multiply *m = context;
  const pte_recurrence *r = m->r;
  pte_pace pace = pte_call_pace(r->call);
  (void)thread;
  for (int64_t at = (int64_t)begin, count; r->batches == 1 && at < (int64_t)end; at += count) {
    int64_t panel = m->first_panel + at;
    count = pte_pace_take(&pace, (int64_t)end - at, r->h * PTE_PANEL + 1, 4);
    if (count == 0) return;
    r->gemm->vector((size_t)r->h, (size_t)count, m->x,
                    (const float *)r->w->data + panel * r->h * PTE_PANEL,
                    r->product + panel * PTE_PANEL);
  }
  if (r->batches == 1) return;
  for (int64_t panel = m->first_panel + (int64_t)begin; panel < m->first_panel + (int64_t)end;
       panel++) {
    const float *weight = (const float *)r->w->data + panel * r->h * PTE_PANEL;
    for (int64_t b = 0; b < r->batches; b += PTE_STRIP) {
      const float *row[PTE_STRIP] = {NULL};
      if (!pte_pace_go(&pace, r->h * PTE_STRIP * PTE_PANEL + 1)) return;
      int64_t rows = r->batches - b < PTE_STRIP ? r->batches - b : PTE_STRIP;
      for (int64_t i = 0; i < rows; i++) row[i] = m->x + (b + i) * r->h;
      pte_tile_f32 tile = {.row = row,
                           .strips = 1,
                           .taps = 1,
                           .run = (size_t)r->h,
                           .panel = {weight},
                           .first = true};
      tile.out = r->product + b * r->m_padded + panel * PTE_PANEL;
      tile.out_stride = (size_t)r->m_padded;
      r->gemm->tile((size_t)rows, 1, &tile);
    }
  }
}

void pte_recurrence_multiply(const pte_recurrence *r, const float *x, int64_t begin, int64_t end) {
  if (begin >= end || r->batches == 0) return;
  multiply m = {.r = r, .x = x, .first_panel = begin / PTE_PANEL};
  int64_t panels = (end + PTE_PANEL - 1) / PTE_PANEL - m.first_panel;
  pte_parallel(r->call, (size_t)panels, pte_grain(r->h * r->batches), multiply_task, &m);
}

void pte_recurrence_add_gates(const pte_recurrence *r, int64_t b, int64_t time, int64_t first,
                              int64_t count, const float *add, float *to) {
  const pte_tensor *g = r->gates;
  const float *from =
      (const float *)g->data + time * g->stride[0] + b * g->stride[1] + first * g->stride[2];
  if (g->stride[2] == 1)
    for (int64_t j = 0; j < count; j++) to[j] = from[j] + add[j];
  else
    for (int64_t j = 0; j < count; j++) to[j] = from[j * g->stride[2]] + add[j];
}

void pte_recurrence_store(const pte_recurrence *r, int64_t b, int64_t time, bool real) {
  if (r->y == NULL) return;
  float *to = (float *)r->y->data + (time * r->batches + b) * r->h;
  if (real) memcpy(to, r->hidden + b * r->h, (size_t)r->h * sizeof(float));
  else memset(to, 0, (size_t)r->h * sizeof(float));
}

void pte_recurrence_finish(const pte_recurrence *r, const float *state, pte_tensor *out) {
  if (out != NULL) (void)pte_row_move(r->pace, out->data, 1, state, 1, r->batches * r->h, 4);
}
