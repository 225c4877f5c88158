/* lstm: one direction of ONNX LSTM; gates [t, b, 4 h] = x W^T + biases, in the order i o f c;
 * activations f g h. z = gates + h R^T;  i = f(zi + Pi c)  f = f(zf + Pf c), or 1 - i with
 * input_forget  g = g(zc) c' = f c + i g;  o = f(zo + Po c');  h' = o h(c') Each argument of an
 * activation but that of h is clipped. count[b] steps are real, y is 0 behind them; reverse runs
 * them from the last. gates with any strides; no aliasing. Sources: Hochreiter and Schmidhuber
 * 1997; Gers and Schmidhuber 2000. */
#include "kernels/sequence/recurrent.h"

static void lstm_row(const pte_recurrence *r, int64_t b, int64_t time, const float *peephole,
                     bool input_forget) {
  int64_t h = r->h;
  float *z = r->product + b * r->m_padded, *c = r->other + b * h, *hidden = r->hidden + b * h;
  float *i = z, *o = z + h, *f = z + 2 * h, *g = z + 3 * h;
  pte_recurrence_add_gates(r, b, time, 0, 4 * h, z, z);
  if (peephole != NULL) {
    r->variant->scale_add(h, peephole, c, i);
    r->variant->scale_add(h, peephole + 2 * h, c, f);
  }
  pte_recurrence_activate(r, 0, h, i);
  pte_recurrence_activate(r, 1, h, g);
  if (input_forget)
    for (int64_t j = 0; j < h; j++) f[j] = 1.0f - i[j];
  else pte_recurrence_activate(r, 0, h, f);
  r->variant->mix(h, f, c, i, g, c);
  if (peephole != NULL) r->variant->scale_add(h, peephole + h, c, o);
  pte_recurrence_activate(r, 0, h, o);
  memcpy(hidden, c, (size_t)h * sizeof *c);
  r->variant->activate(&r->activation[2], 0.0f, h, hidden);
  for (int64_t j = 0; j < h; j++) hidden[j] *= o[j];
}

static pte_status lstm_run(const pte_call *call) {
  const pte_lstm_attrs *attrs = call->attrs;
  const float *peephole = call->in[4] != NULL ? call->in[4]->data : NULL;
  pte_recurrence r;
  pte_pace pace = pte_call_pace(call);
  PTE_TRY(pte_recurrence_open(call, &pace, 2, 5, &r));
  pte_recurrence_functions(&r, attrs->activations, attrs->parameters);
  r.clip = (float)attrs->clip;
  r.reverse = attrs->reverse != 0;
  PTE_TRY(pte_recurrence_start(&r, call->in[3], r.other));
  for (int64_t step = 0; step < r.steps; step++) {
    if (!pte_recurrence_go(&r)) return PTE_CANCELLED;
    pte_recurrence_multiply(&r, r.hidden, 0, r.m);
    for (int64_t b = 0; b < r.batches; b++) {
      if (!pte_recurrence_go(&r)) return PTE_CANCELLED;
      int64_t time;
      bool real = pte_recurrence_time(&r, b, step, &time);
      if (real) lstm_row(&r, b, time, peephole, attrs->input_forget != 0);
      pte_recurrence_store(&r, b, time, real);
    }
  }
  pte_recurrence_finish(&r, r.hidden, call->out[1]);
  pte_recurrence_finish(&r, r.other, call->out[2]);
  return PTE_OK;
}

const pte_kernel pte_lstm_kernel = {.needs = pte_recurrence_needs, .run = lstm_run};
