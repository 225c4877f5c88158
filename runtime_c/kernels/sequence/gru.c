/* gru: one direction of ONNX GRU; gates [t, b, 3 h] = x W^T + Wb, in the order z r h; bias = Rb;
 * activations f g. z = f(gz + (h Rz^T + bz))  r = f(gr + (h Rr^T + br)) n = g(gh + ((r h) Rh^T +
 * bh)), or with linear_before_reset g(gh + r (h Rh^T + bh));  h' = z h + (1 - z) n Each argument of
 * an activation is clipped. count[b] steps are real, y is 0 behind them; reverse runs them from the
 * last. gates with any strides; no aliasing. Source: Cho et al. 2014. */
#include "kernels/sequence/recurrent.h"

/* The candidate's argument: gates + what comes from h, which lies in s. */
static void candidate(const pte_recurrence *r, int64_t b, int64_t time, const float *reset,
                      float *s) {
  int64_t h = r->h;
  if (reset != NULL)
    for (int64_t j = 0; j < h; j++) s[j] *= reset[j];
  pte_recurrence_add_gates(r, b, time, 2 * h, h, s, s);
  pte_recurrence_activate(r, 1, h, s);
}

static void finish_row(const pte_recurrence *r, int64_t b, const float *update, float *n) {
  int64_t h = r->h;
  float *hidden = r->hidden + b * h, *left = r->other + b * h;
  for (int64_t j = 0; j < h; j++) left[j] = 1.0f - update[j];
  r->variant->mix(h, update, hidden, left, n, hidden);
}

static void add_bias(const pte_recurrence *r, int64_t b, int64_t first, int64_t count) {
  float *s = r->product + b * r->m_padded + first;
  if (r->call->in[2] == NULL) return;
  const float *bias = (const float *)r->call->in[2]->data + first;
  for (int64_t j = 0; j < count; j++) s[j] += bias[j];
}

/* z and r of every batch that has this step. z goes to `third`: the panels of the candidate's
 * product may begin inside those of z and r. r * h goes to `other` where that product needs it. */
static void gate_rows(const pte_recurrence *r, int64_t step, bool linear) {
  int64_t h = r->h, time;
  for (int64_t b = 0; b < r->batches; b++) {
    float *s = r->product + b * r->m_padded;
    if (!pte_recurrence_go(r)) return;
    if (!pte_recurrence_time(r, b, step, &time)) continue;
    add_bias(r, b, 0, 2 * h);
    pte_recurrence_add_gates(r, b, time, 0, 2 * h, s, s);
    pte_recurrence_activate(r, 0, 2 * h, s);
    memcpy(r->third + b * h, s, (size_t)h * sizeof *s);
    for (int64_t j = 0; j < h && !linear; j++)
      r->other[b * h + j] = s[h + j] * r->hidden[b * h + j];
  }
}

static void gru_step(const pte_recurrence *r, int64_t step, bool linear) {
  int64_t h = r->h, time;
  pte_recurrence_multiply(r, r->hidden, 0, linear ? 3 * h : 2 * h);
  gate_rows(r, step, linear);
  if (!linear) pte_recurrence_multiply(r, r->other, 2 * h, 3 * h);
  for (int64_t b = 0; b < r->batches; b++) {
    float *s = r->product + b * r->m_padded;
    if (!pte_recurrence_go(r)) return;
    bool real = pte_recurrence_time(r, b, step, &time);
    if (real) {
      add_bias(r, b, 2 * h, h);
      candidate(r, b, time, linear ? s + h : NULL, s + 2 * h);
      finish_row(r, b, r->third + b * h, s + 2 * h);
    }
    pte_recurrence_store(r, b, time, real);
  }
}

static pte_status gru_run(const pte_call *call) {
  const pte_gru_attrs *attrs = call->attrs;
  pte_recurrence r;
  pte_pace pace = pte_call_pace(call);
  PTE_TRY(pte_recurrence_open(call, &pace, 3, 4, &r));
  pte_recurrence_functions(&r, attrs->activations, attrs->parameters);
  r.clip = (float)attrs->clip;
  r.reverse = attrs->reverse != 0;
  PTE_TRY(pte_recurrence_start(&r, NULL, r.other));
  for (int64_t step = 0; step < r.steps; step++) {
    if (!pte_recurrence_go(&r)) return PTE_CANCELLED;
    gru_step(&r, step, attrs->linear_before_reset != 0);
  }
  pte_recurrence_finish(&r, r.hidden, call->out[1]);
  return PTE_OK;
}

const pte_kernel pte_gru_kernel = {.needs = pte_recurrence_needs, .run = gru_run};
