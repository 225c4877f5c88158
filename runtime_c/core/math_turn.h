/* Sine, cosine and tangent of an angle that is known modulo pi / 2, in f32: near angles
 * (math_f32.h) and far ones (math_far.c) end here. */
#ifndef PTE_MATH_TURN_H
#define PTE_MATH_TURN_H

#include "core/scalar.h"

/* x = quarter * pi / 2 + r + rest, |r| <= pi / 4; `rest` is what r lost by rounding. */
typedef struct pte_turn {
  float r, rest;
  uint32_t quarter;
} pte_turn;

PTE_ALWAYS float pte_sin_turn(pte_turn t) {
  float s = t.r * t.r;
  float q = pte_fma(s, -0x1.99537cp-13f, 0x1.110778p-7f);
  q = pte_fma(q, s, -0x1.555546p-3f);
  return t.r + pte_fma(q, t.r * s, t.rest);
}

PTE_ALWAYS float pte_cos_turn(pte_turn t) {
  float s = t.r * t.r;
  float q = pte_fma(s, 0x1.99e8d8p-16f, -0x1.6c0c2ap-10f);
  q = pte_fma(q, s, 0x1.55554ap-5f);
  float w = pte_fma(s, -0.5f, 1.0f);
  float lost = pte_fma(s, -0.5f, 1.0f - w);
  return w + pte_fma(q, s * s, pte_fma(-t.r, t.rest, lost));
}

/* sin(x + quarters * pi / 2) */
PTE_ALWAYS float pte_sine(pte_turn t, uint32_t quarters) {
  uint32_t quarter = t.quarter + quarters;
  float y = pte_pick(pte_mask((quarter & 1) == 0), pte_sin_turn(t), pte_cos_turn(t));
  return pte_float(pte_bits(y) ^ (quarter & 2) << 30);
}

/* sin / cos, or -cos / sin in odd quarters */
PTE_ALWAYS float pte_tangent(pte_turn t) {
  uint32_t odd = pte_mask((t.quarter & 1) == 1);
  float s = pte_sin_turn(t), c = pte_cos_turn(t);
  return pte_pick(odd, -c, s) / pte_pick(odd, s, c);
}

#endif
