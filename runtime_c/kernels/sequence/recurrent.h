/* What lstm, gru and rnn share: the walk over time, h R^T, activations. */
#ifndef PTE_RECURRENT_H
#define PTE_RECURRENT_H

#include "gen/ops.h"
#include "kernels/gemm/gemm_f32.h"
#include "kernels/moving/index.h"
#include "kernels/rows/rows.h"
#include "kernels/sequence/recurrent_f32.h"

/* One direction over gates [t, b, m] with the recurrent weight [m, h] in panels. State lives in
 * scratch: rows of h floats, one a batch; the rows of `product` have m floats and room for whole
 * panels. */
typedef struct pte_recurrence {
  const pte_call *call;
  const pte_tensor *gates, *w, *y;
  const int64_t *count; /* NULL: every batch has all steps */
  pte_activation activation[3];
  int64_t steps, batches, m, m_padded, h;
  float clip; /* 0: none */
  bool reverse;
  const pte_recurrent_f32 *variant;
  const pte_gemm_f32 *gemm;
  float *product, *hidden;
  float *other; /* cell of lstm, r * h of gru */
  float *third; /* z of gru */
  pte_pace *pace;
} pte_recurrence;

/* Bytes of scratch: rows of products and three states. */
pte_status pte_recurrence_needs(const pte_call *call, pte_needs *out);

/* Fills in shapes, scratch and the first state. `pace` outlives it. PTE_BAD_DATA: a count is not in
 * 0..t; PTE_CANCELLED: the run is to end. */
pte_status pte_recurrence_open(const pte_call *call, pte_pace *pace, unsigned hidden_port,
                               unsigned count_port, pte_recurrence *out);

/* The functions: their numbers, and alpha and beta of each. */
void pte_recurrence_functions(pte_recurrence *r, pte_range activations, pte_range parameters);

/* The first state: `given`, or zeros where that is NULL. PTE_CANCELLED: the run is to end. */
pte_status pte_recurrence_start(const pte_recurrence *r, const pte_tensor *given, float *state);

/* Whether the run goes on, before one row of a step: activations and what is around them. */
static inline bool pte_recurrence_go(const pte_recurrence *r) {
  return pte_pace_go(r->pace, 8 * r->m + 16);
}

/* Whether batch `b` has a step number `step`, and the time it falls on. */
static inline bool pte_recurrence_time(const pte_recurrence *r, int64_t b, int64_t step,
                                       int64_t *out_time) {
  int64_t count = r->count != NULL ? pte_count_at(r->count + b, r->steps) : r->steps;
  *out_time = r->reverse && step < count ? count - 1 - step : step;
  return step < count;
}

/* product[b][j] = sum over k of x[b][k] w[j][k], for the columns begin .. end and all batches. */
void pte_recurrence_multiply(const pte_recurrence *r, const float *x, int64_t begin, int64_t end);

/* to[j] = gates[time, b, first + j] + add[j] */
void pte_recurrence_add_gates(const pte_recurrence *r, int64_t b, int64_t time, int64_t first,
                              int64_t count, const float *add, float *to);

/* Activation number `which` of the operator, clipped before. */
static inline void pte_recurrence_activate(const pte_recurrence *r, unsigned which, int64_t count,
                                           float *x) {
  r->variant->activate(&r->activation[which], r->clip, count, x);
}

/* y[time, b] = the hidden state, or 0. */
void pte_recurrence_store(const pte_recurrence *r, int64_t b, int64_t time, bool real);

/* A last state, where it is wanted. */
void pte_recurrence_finish(const pte_recurrence *r, const float *state, pte_tensor *out);

#endif
