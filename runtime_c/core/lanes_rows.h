/* What softmax needs of sixteen lanes, beside what products do (core/lanes.h). The generic form
 * goes through memory: compilers vectorise each loop. */
#ifndef PTE_LANES_ROWS_H
#define PTE_LANES_ROWS_H

#include "core/lanes.h"

/* pte_lanes_fused: a * b + c. pte_lanes_within: x in lanes low .. high - 1, -inf elsewhere.
 * pte_lanes_weight: e^(x - top), 0 where x is -inf. pte_lanes_top, pte_lanes_total: the largest
 * (NaN where any is) and the sum, by the tree (l, l + 8), (l, l + 4), (l, l + 2), (l, l + 1). */
#if defined(__AVX512F__)

PTE_ALWAYS pte_lanes pte_lanes_subtract(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm512_sub_ps(a.all, b.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_multiply(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm512_mul_ps(a.all, b.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_divide(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm512_div_ps(a.all, b.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_fused(pte_lanes a, pte_lanes b, pte_lanes c) {
  return (pte_lanes){_mm512_fmadd_ps(a.all, b.all, c.all)};
}
/* pte_exp in the lanes of `keep`, 0 in others: e 2^n is rounded once by vscalefps, as by the two
 * products there. Below -104 it is 0; left out, because results that vanish take an assist. */
PTE_ALWAYS __m512 pte_exp_512(__mmask16 keep, __m512 x) {
  const __m512 magic = _mm512_set1_ps(PTE_MAGIC);
  keep = _mm512_mask_cmp_ps_mask(keep, x, _mm512_set1_ps(-104.0f), _CMP_NLT_UQ);
  __m512 a = _mm512_min_ps(_mm512_set1_ps(90.0f), x); /* a NaN is the second operand: kept */
  __m512 shifted = _mm512_fmadd_ps(a, _mm512_set1_ps(0x1.715476p+0f), magic);
  __m512 n = _mm512_sub_ps(shifted, magic);
  __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-0x1.62e430p-1f), a);
  r = _mm512_fmadd_ps(n, _mm512_set1_ps(0x1.05c610p-29f), r);
  __m512 q = _mm512_fmadd_ps(r, _mm512_set1_ps(0x1.6d5736p-10f), _mm512_set1_ps(0x1.1241d0p-7f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.5554e0p-5f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.555486p-3f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0.5f));
  __m512 e = _mm512_add_ps(_mm512_fmadd_ps(q, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0f));
  return _mm512_maskz_scalef_ps(keep, e, n);
}
PTE_ALWAYS pte_lanes pte_lanes_exp(pte_lanes x) { return (pte_lanes){pte_exp_512(0xffff, x.all)}; }
PTE_ALWAYS pte_lanes pte_lanes_within(pte_lanes x, int low, int high) {
  const __mmask16 inside = (__mmask16)((1u << high) - (1u << low));
  return (pte_lanes){_mm512_mask_mov_ps(_mm512_set1_ps(-PTE_INFINITY), inside, x.all)};
}
PTE_ALWAYS pte_lanes pte_lanes_weight(pte_lanes x, pte_lanes top) {
  __mmask16 seen = _mm512_cmp_ps_mask(x.all, _mm512_set1_ps(-PTE_INFINITY), _CMP_NEQ_UQ);
  return (pte_lanes){pte_exp_512(seen, pte_lanes_subtract(x, top).all)};
}
PTE_ALWAYS float pte_lanes_top(pte_lanes x) {
  __mmask16 nan = _mm512_cmp_ps_mask(x.all, x.all, _CMP_UNORD_Q);
  return nan != 0 ? PTE_NAN : _mm512_reduce_max_ps(x.all);
}
PTE_ALWAYS float pte_lanes_total(pte_lanes x) {
  __m256 a = _mm256_add_ps(_mm512_castps512_ps256(x.all), _mm512_extractf32x8_ps(x.all, 1));
  __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}

#else

/* y[i] = `value`, an expression in x[i], b[i] and c[i]. */
#define PTE_LANES_EACH(value)                                                                      \
  float x[PTE_LANE_COUNT], y[PTE_LANE_COUNT];                                                      \
  pte_lanes_store(x, a);                                                                           \
  for (int i = 0; i < PTE_LANE_COUNT; i++) y[i] = value;                                           \
  return pte_lanes_load(y)

#define PTE_LANES_TWO(name, value)                                                                 \
  PTE_ALWAYS pte_lanes name(pte_lanes a, pte_lanes b) {                                            \
    float z[PTE_LANE_COUNT];                                                                       \
    pte_lanes_store(z, b);                                                                         \
    PTE_LANES_EACH(value);                                                                         \
  }
PTE_LANES_TWO(pte_lanes_subtract, x[i] - z[i])
PTE_LANES_TWO(pte_lanes_multiply, x[i] * z[i])
PTE_LANES_TWO(pte_lanes_divide, x[i] / z[i])
PTE_LANES_TWO(pte_lanes_weight,
              pte_pick(pte_mask(x[i] != -PTE_INFINITY), pte_exp(x[i] - z[i]), 0.0f))
PTE_ALWAYS pte_lanes pte_lanes_fused(pte_lanes a, pte_lanes b, pte_lanes c) {
  float z[PTE_LANE_COUNT], w[PTE_LANE_COUNT];
  pte_lanes_store(z, b);
  pte_lanes_store(w, c);
  PTE_LANES_EACH(pte_fma(x[i], z[i], w[i]));
}
PTE_ALWAYS pte_lanes pte_lanes_exp(pte_lanes a) { PTE_LANES_EACH(pte_exp(x[i])); }
PTE_ALWAYS pte_lanes pte_lanes_within(pte_lanes a, int low, int high) {
  PTE_LANES_EACH(pte_pick(pte_mask((i >= low) & (i < high)), x[i], -PTE_INFINITY));
}
PTE_ALWAYS float pte_lanes_top(pte_lanes a) {
  float x[PTE_LANE_COUNT];
  pte_lanes_store(x, a);
  for (int half = PTE_LANE_COUNT / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++)
      x[i] = pte_pick(pte_mask((x[i] > x[i + half]) | (x[i] != x[i])), x[i], x[i + half]);
  return x[0];
}
PTE_ALWAYS float pte_lanes_total(pte_lanes a) {
  float x[PTE_LANE_COUNT];
  pte_lanes_store(x, a);
  for (int half = PTE_LANE_COUNT / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) x[i] += x[i + half];
  return x[0];
}
#undef PTE_LANES_TWO
#undef PTE_LANES_EACH

#endif

#endif
