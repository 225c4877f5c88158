/* The family of recurrent_f32: what lstm, gru and rnn do with gates. */
#ifndef PTE_RECURRENT_F32_H
#define PTE_RECURRENT_F32_H

#include <stdint.h>

#include "kernels/variant.h"

/* kind: PTE_ACTIVATION_... */
typedef struct pte_activation {
  uint32_t kind;
  float alpha, beta;
} pte_activation;

typedef struct pte_recurrent_f32 {
  /* x = activation(clipped x); clip 0: none */
  void (*activate)(const pte_activation *how, float clip, int64_t count, float *x);
  /* y = fma(a, b, c * d); y may be one of them */
  void (*mix)(int64_t count, const float *a, const float *b, const float *c, const float *d,
              float *y);
  void (*scale_add)(int64_t count, const float *a, const float *b, float *y); /* y = fma(a, b, y) */
} pte_recurrent_f32;

PTE_FAMILY(recurrent_f32)

#endif
