/* rnn: h' = f(gates[t] + h R^T), one direction of ONNX RNN; the argument is clipped. count[b] steps
 * are real, y is 0 behind them; reverse runs them from the last. gates [t, b, h] with any strides;
 * no aliasing. Source: Elman 1990. */
#include "kernels/sequence/recurrent.h"

static pte_status rnn_run(const pte_call *call) {
  const pte_rnn_attrs *attrs = call->attrs;
  pte_recurrence r;
  pte_pace pace = pte_call_pace(call);
  PTE_TRY(pte_recurrence_open(call, &pace, 2, 3, &r));
  pte_recurrence_functions(&r, attrs->activations, attrs->parameters);
  r.clip = (float)attrs->clip;
  r.reverse = attrs->reverse != 0;
  for (int64_t step = 0; step < r.steps; step++) {
    if (!pte_recurrence_go(&r)) return PTE_CANCELLED;
    pte_recurrence_multiply(&r, r.hidden, 0, r.m);
    for (int64_t b = 0; b < r.batches; b++) {
      if (!pte_recurrence_go(&r)) return PTE_CANCELLED;
      int64_t time;
      bool real = pte_recurrence_time(&r, b, step, &time);
      float *hidden = r.hidden + b * r.h;
      if (real) {
        pte_recurrence_add_gates(&r, b, time, 0, r.h, r.product + b * r.m_padded, hidden);
        pte_recurrence_activate(&r, 0, r.h, hidden);
      }
      pte_recurrence_store(&r, b, time, real);
    }
  }
  pte_recurrence_finish(&r, r.hidden, call->out[1]);
  return PTE_OK;
}

const pte_kernel pte_rnn_kernel = {.needs = pte_recurrence_needs, .run = rnn_run};
