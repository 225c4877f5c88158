/* add_i16: y = rescale(scaled(a - a_zero) + scaled(b - b_zero)), int16 in and out, without b: of a
 * alone. a, b and y dense and of one shape; y may be a. schema/meaning/int8.py has scaled and
 * rescale. Where there are no zero points and shifts allow, sixteen sums are made at a time. */
#include "gen/ops.h"
#include "kernels/gemm_int8/gemm_i16.h"
#include "kernels/requantize/rescale_i16.h"

typedef struct add_i16 {
  const pte_call *call;
  const pte_gemm_i16 *kernel;
  pte_rescale_columns factors[3]; /* of a, b and their sum, all columns alike */
  bool lanes;
} add_i16;

/* Of a factor: of addends it is that of codes times 2^16. */
static bool factor_of(int64_t multiplier, int64_t shift, pte_rescale_columns *c) {
  int8_t shifts[PTE_PANEL];
  for (unsigned n = 0; n < PTE_PANEL; n++)
    c->multiplier[n] = (int32_t)multiplier, shifts[n] = (int8_t)shift;
  pte_rescale_i16_complete(c, shifts);
  return c->narrow;
}

static void add_i16_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const add_i16 *s = context;
  const pte_add_i16_attrs *t = s->call->attrs;
  const pte_tensor *other = s->call->in[1];
  const int16_t *a = s->call->in[0]->data, *b = other == NULL ? a : other->data;
  int16_t *y = s->call->out[0]->data;
  (void)thread;
  if (s->lanes) {
    const size_t whole = (end - begin) / PTE_PANEL * PTE_PANEL;
    s->kernel->add(whole, a + begin, b + begin, s->factors, y + begin);
    begin += whole;
  }
  for (size_t i = begin; i < end; i++) {
    int64_t sum =
        pte_scaled(a[i] - (int32_t)t->a_zero, (int32_t)t->a_multiplier, (int32_t)t->a_shift);
    if (other != NULL)
      sum += pte_scaled(b[i] - (int32_t)t->b_zero, (int32_t)t->b_multiplier, (int32_t)t->b_shift);
    y[i] = pte_rescale_i16((int32_t)sum, &s->factors[2], 0);
  }
}

static pte_status add_i16_run(const pte_call *call) {
  const pte_add_i16_attrs *t = call->attrs;
  add_i16 s = {.call = call, .kernel = pte_gemm_i16_pick(call->cpu)};
  s.factors[2].zero = (int32_t)t->y_zero;
  s.factors[2].low = (int32_t)t->low, s.factors[2].high = (int32_t)t->high;
  const bool alone = call->in[1] == NULL; /* or nothing times a is added */
  s.lanes = factor_of(t->multiplier, t->shift, &s.factors[2]) && t->a_zero == 0 &&
            (alone || t->b_zero == 0) && t->a_shift <= 62 - 16 && t->b_shift <= 62 - 16 &&
            factor_of(t->a_multiplier, t->a_shift + 16, &s.factors[0]) &&
            factor_of(alone ? 0 : t->b_multiplier, t->b_shift + 16, &s.factors[1]);
  pte_parallel(call, (size_t)pte_tensor_count(call->in[0]), 16384, add_i16_task, &s);
  return PTE_OK;
}

const pte_kernel pte_add_i16_kernel = {.run = add_i16_run};
