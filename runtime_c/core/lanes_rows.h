/* What softmax needs of sixteen lanes, beside what products do (core/lanes.h). The generic form
 * goes through memory: compilers vectorise each loop. */
#ifndef PTE_LANES_ROWS_H
#define PTE_LANES_ROWS_H

#include "core/lanes.h"

/* pte_lanes_fused: a * b + c. pte_lanes_within: x in lanes low .. high - 1, -inf elsewhere.
 * pte_lanes_exp: e^x, x at most 0 or a NaN. pte_lanes_top, pte_lanes_total: the largest (NaN where
 * any is) and the sum, by the tree (l, l + 8), (l, l + 4), (l, l + 2), (l, l + 1).
 * pte_lanes_totals: of `rows` side by side; pte_lanes_tops: the larger of by times the largest and
 * `least`, which is taken for a NaN, scaled before it is stored: wider loads of what was just
 * stored in parts wait until it is in L1. x has room for a multiple of four, out for one of
 * sixteen; what lies behind `rows` in x has some value, of tops -inf, and is `least` in out where
 * that is written. */
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
/* e^x = e 2^n: pte_exp up to the rounding of that, e as the result. */
PTE_ALWAYS __m512 pte_exp_parts_512(__m512 x, __m512 *n) {
  const __m512 magic = _mm512_set1_ps(PTE_MAGIC);
  __m512 shifted = _mm512_fmadd_ps(x, _mm512_set1_ps(0x1.715476p+0f), magic);
  *n = _mm512_sub_ps(shifted, magic);
  __m512 r = _mm512_fmadd_ps(*n, _mm512_set1_ps(-0x1.62e430p-1f), x);
  r = _mm512_fmadd_ps(*n, _mm512_set1_ps(0x1.05c610p-29f), r);
  __m512 q = _mm512_fmadd_ps(r, _mm512_set1_ps(0x1.6d5736p-10f), _mm512_set1_ps(0x1.1241d0p-7f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.5554e0p-5f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0x1.555486p-3f));
  q = _mm512_fmadd_ps(q, r, _mm512_set1_ps(0.5f));
  return _mm512_add_ps(_mm512_fmadd_ps(q, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0f));
}
/* pte_exp of what is at most 90: e 2^n is rounded once by vscalefps, as by the two products there.
 * Below -104 it is 0; left out, because results that vanish take an assist. */
PTE_ALWAYS __m512 pte_exp_below_512(__m512 x) {
  const __mmask16 keep = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-104.0f), _CMP_NLT_UQ);
  __m512 n, e = pte_exp_parts_512(x, &n);
  return _mm512_maskz_scalef_ps(keep, e, n);
}
PTE_ALWAYS __m512 pte_exp_512(__m512 x) { /* a NaN is the second operand: kept */
  return pte_exp_below_512(_mm512_min_ps(_mm512_set1_ps(90.0f), x));
}
PTE_ALWAYS pte_lanes pte_lanes_exp(pte_lanes x) { return (pte_lanes){pte_exp_below_512(x.all)}; }
/* Of four, step by step: a chain of its own for each is longer than what a core looks ahead. */
PTE_ALWAYS void pte_lanes_exp_4(pte_lanes *x) {
  const __m512 magic = _mm512_set1_ps(PTE_MAGIC);
  __m512 n[4], q[4];
  __mmask16 keep[4];
#define EACH(...)                                                                                  \
  _Pragma("GCC unroll 4") for (int i = 0; i < 4; i++) { __VA_ARGS__; }
#define SET(value) _mm512_set1_ps(value)
  EACH(keep[i] = _mm512_cmp_ps_mask(x[i].all, SET(-104.0f), _CMP_NLT_UQ))
  EACH(n[i] = _mm512_fmadd_ps(x[i].all, SET(0x1.715476p+0f), magic))
  EACH(n[i] = _mm512_sub_ps(n[i], magic))
  EACH(x[i].all = _mm512_fmadd_ps(n[i], SET(-0x1.62e430p-1f), x[i].all))
  EACH(x[i].all = _mm512_fmadd_ps(n[i], SET(0x1.05c610p-29f), x[i].all))
  EACH(q[i] = _mm512_fmadd_ps(x[i].all, SET(0x1.6d5736p-10f), SET(0x1.1241d0p-7f)))
  EACH(q[i] = _mm512_fmadd_ps(q[i], x[i].all, SET(0x1.5554e0p-5f)))
  EACH(q[i] = _mm512_fmadd_ps(q[i], x[i].all, SET(0x1.555486p-3f)))
  EACH(q[i] = _mm512_fmadd_ps(q[i], x[i].all, SET(0.5f)))
  EACH(q[i] = _mm512_fmadd_ps(q[i], _mm512_mul_ps(x[i].all, x[i].all), x[i].all))
  EACH(q[i] = _mm512_add_ps(q[i], SET(1.0f)))
  EACH(x[i].all = _mm512_maskz_scalef_ps(keep[i], q[i], n[i]))
#undef SET
#undef EACH
}
PTE_ALWAYS pte_lanes pte_lanes_within(pte_lanes x, int low, int high) {
  const __mmask16 inside = (__mmask16)((1u << high) - (1u << low));
  return (pte_lanes){_mm512_mask_mov_ps(_mm512_set1_ps(-PTE_INFINITY), inside, x.all)};
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
/* The tree of four rows at a time: a quarter of a register becomes a row's. */
#define PTE_LANES_ROWS(name, meet, done, ...)                                                      \
  PTE_ALWAYS void name(int64_t rows, const pte_lanes *x, __VA_ARGS__) {                            \
    for (int64_t i = 0; i < rows; i += 4) {                                                        \
      __m512 a = x[i].all, b = x[i + 1].all, c = x[i + 2].all, d = x[i + 3].all;                   \
      a = meet(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));                \
      c = meet(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee));                \
      a = meet(_mm512_shuffle_f32x4(a, c, 0x88), _mm512_shuffle_f32x4(a, c, 0xdd));                \
      a = meet(a, _mm512_permute_ps(a, 0x4e));                                                     \
      a = meet(a, _mm512_permute_ps(a, 0xb1));                                                     \
      __m128 y = _mm512_castps512_ps128(_mm512_maskz_compress_ps(0x1111, a));                      \
      _mm_storeu_ps(out + i, done);                                                                \
    }                                                                                              \
  }
PTE_LANES_ROWS(pte_lanes_tops, _mm512_max_ps,
               _mm_max_ps(_mm_mul_ps(y, _mm_set1_ps(by)), _mm_set1_ps(least)), float by,
               float least, float *out)
PTE_LANES_ROWS(pte_lanes_totals, _mm512_add_ps, y, float *out)
#undef PTE_LANES_ROWS

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
PTE_ALWAYS pte_lanes pte_lanes_within(pte_lanes a, int low, int high) {
  PTE_LANES_EACH(pte_pick(pte_mask((i >= low) & (i < high)), x[i], -PTE_INFINITY));
}

#if defined(__AVX2__) && defined(__FMA__)

/* Below -104 it is 0; left out, because results that vanish take an assist. */
PTE_ALWAYS __m256 pte_exp_256(__m256 x) {
#define SET(value) _mm256_set1_ps(value)
  const __m256 keep = _mm256_cmp_ps(x, SET(-104.0f), _CMP_NLT_UQ), magic = SET(PTE_MAGIC);
  x = _mm256_and_ps(x, keep);
  const __m256 shifted = _mm256_fmadd_ps(x, SET(0x1.715476p+0f), magic);
  const __m256 n = _mm256_sub_ps(shifted, magic);
  __m256 r = _mm256_fmadd_ps(n, SET(-0x1.62e430p-1f), x);
  r = _mm256_fmadd_ps(n, SET(0x1.05c610p-29f), r);
  __m256 q = _mm256_fmadd_ps(r, SET(0x1.6d5736p-10f), SET(0x1.1241d0p-7f));
  q = _mm256_fmadd_ps(q, r, SET(0x1.5554e0p-5f));
  q = _mm256_fmadd_ps(q, r, SET(0x1.555486p-3f));
  q = _mm256_fmadd_ps(q, r, SET(0.5f));
  q = _mm256_add_ps(_mm256_fmadd_ps(q, _mm256_mul_ps(r, r), r), SET(1.0f));
#undef SET
  const __m256i bias = _mm256_set1_epi32(127);
  const __m256i all = _mm256_sub_epi32(_mm256_castps_si256(shifted), _mm256_castps_si256(magic));
  const __m256i half = _mm256_srai_epi32(all, 1), rest = _mm256_sub_epi32(all, half);
  q = _mm256_mul_ps(q, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, bias), 23)));
  q = _mm256_mul_ps(q, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, bias), 23)));
  return _mm256_and_ps(q, keep);
}
PTE_ALWAYS pte_lanes pte_lanes_exp(pte_lanes x) {
  return (pte_lanes){pte_exp_256(x.lo), pte_exp_256(x.hi)};
}

/* Through arrays each step of a sum or a maximum would wait for the store before it. */
PTE_ALWAYS pte_lanes pte_lanes_subtract(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
PTE_ALWAYS pte_lanes pte_lanes_multiply(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
PTE_ALWAYS pte_lanes pte_lanes_divide(pte_lanes a, pte_lanes b) {
  return (pte_lanes){_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
PTE_ALWAYS pte_lanes pte_lanes_fused(pte_lanes a, pte_lanes b, pte_lanes c) {
  return (pte_lanes){_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
PTE_ALWAYS float pte_lanes_top(pte_lanes a) {
  __m256 x = pte_larger_256(a.lo, a.hi);
  x = pte_larger_256(x, _mm256_permute2f128_ps(x, x, 1));
  x = pte_larger_256(x, _mm256_permute_ps(x, 0x4e));
  return _mm256_cvtss_f32(pte_larger_256(x, _mm256_permute_ps(x, 0xb1)));
}
PTE_ALWAYS float pte_lanes_total(pte_lanes a) {
  __m256 both = _mm256_add_ps(a.lo, a.hi);
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

#else

#if PTE_LANE_SUMS == 1 /* plain C is to be small */
__attribute__((noinline, unused)) static pte_lanes pte_lanes_exp(pte_lanes a) {
#else
PTE_ALWAYS pte_lanes pte_lanes_exp(pte_lanes a) {
#endif
  PTE_LANES_EACH(pte_exp(x[i]));
}
PTE_LANES_TWO(pte_lanes_subtract, x[i] - z[i])
PTE_LANES_TWO(pte_lanes_multiply, x[i] * z[i])
PTE_LANES_TWO(pte_lanes_divide, x[i] / z[i])
PTE_ALWAYS pte_lanes pte_lanes_fused(pte_lanes a, pte_lanes b, pte_lanes c) {
  float z[PTE_LANE_COUNT], w[PTE_LANE_COUNT];
  pte_lanes_store(z, b);
  pte_lanes_store(w, c);
  PTE_LANES_EACH(pte_fma(x[i], z[i], w[i]));
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

#endif
PTE_ALWAYS void pte_lanes_tops(int64_t rows, const pte_lanes *x, float by, float least,
                               float *out) {
  for (int64_t i = 0; i < rows; i++) out[i] = pte_lanes_top(x[i]);
  for (int64_t i = 0; i < rows; i += PTE_LANE_COUNT)
    pte_lanes_store(out + i,
                    pte_lanes_most(pte_lanes_multiply(pte_lanes_load(out + i), pte_lanes_all(by)),
                                   pte_lanes_all(least)));
  for (int64_t i = rows; i % PTE_LANE_COUNT != 0; i++) out[i] = least;
}
PTE_ALWAYS void pte_lanes_totals(int64_t rows, const pte_lanes *x, float *out) {
  for (int64_t i = 0; i < rows; i++) out[i] = pte_lanes_total(x[i]);
}
#undef PTE_LANES_TWO
#undef PTE_LANES_EACH

#endif

#endif
