/* Elementary functions of f32: polynomials in pte_fma, minimax by weighted least squares,
 * coefficients from the constant term up. Each comment states the largest error found, in ulp, by
 * tests/ops/test_math.py.
 *
 * sin, cos and tan are branch-free in their `_near` form, for |x| <= PTE_NEAR; the others for every
 * x. */
#ifndef PTE_MATH_F32_H
#define PTE_MATH_F32_H

#include "core/math_far.h"
#include "core/math_turn.h"
#include "core/scalar.h"

#define PTE_NEAR 65536.0f

/* 1.5 * 2^23: x + MAGIC has no bits behind the point, and its lowest bits are the integer. */
#define PTE_MAGIC 12582912.0f

/* --- exponentials
 * ---------------------------------------------------------------------------------------------------
 */

/* e^x = 2^n e^r, |r| <= ln(2) / 2. Cody and Waite 1980. */
typedef struct pte_power {
  float r;
  int32_t n;
} pte_power;

PTE_ALWAYS pte_power pte_exp_reduce(float x) {
  float shifted = pte_fma(x, 0x1.715476p+0f, PTE_MAGIC);
  float n = shifted - PTE_MAGIC;
  float r = pte_fma(n, -0x1.62e430p-1f, x);
  r = pte_fma(n, 0x1.05c610p-29f, r);
  return (pte_power){r, (int32_t)(pte_bits(shifted) - pte_bits(PTE_MAGIC))};
}

/* 2^n for n in -126 .. 127 */
PTE_ALWAYS float pte_power_of_two(int32_t n) { return pte_float((uint32_t)(n + 127) << 23); }

/* e^r of a reduced x */
PTE_ALWAYS float pte_exp_fraction(float r) {
  float q = pte_fma(r, 0x1.6d5736p-10f, 0x1.1241d0p-7f);
  q = pte_fma(q, r, 0x1.5554e0p-5f);
  q = pte_fma(q, r, 0x1.555486p-3f);
  q = pte_fma(q, r, 0.5f);
  return pte_fma(q, r * r, r) + 1.0f;
}

/* e^x * 2^shift, shift 0 or -1; two factors because 2^n alone may not be a normal number. */
PTE_ALWAYS float pte_exp_scaled(float x, int32_t shift) {
  float low = pte_pick(pte_mask(x < -104.0f), -104.0f, x);
  pte_power p = pte_exp_reduce(pte_pick(pte_mask(x > 90.0f), 90.0f, low));
  int32_t n = p.n + shift, half = n >> 1;
  return pte_exp_fraction(p.r) * pte_power_of_two(half) * pte_power_of_two(n - half);
}

PTE_ALWAYS float pte_exp(float x) { return pte_exp_scaled(x, 0); }

PTE_ALWAYS float pte_expm1(float x) {
  float low = pte_pick(pte_mask(x < -20.0f), -20.0f, x);
  pte_power p = pte_exp_reduce(pte_pick(pte_mask(x > 89.0f), 89.0f, low));
  float q = pte_fma(p.r, 0x1.a296b0p-13f, 0x1.6d4710p-10f);
  q = pte_fma(q, p.r, 0x1.110fdep-7f);
  q = pte_fma(q, p.r, 0x1.5554eep-5f);
  q = pte_fma(q, p.r, 0x1.555556p-3f);
  q = pte_fma(q, p.r, 0.5f);
  float e = pte_fma(q, p.r * p.r, p.r);
  float scale = pte_power_of_two(p.n - 1); /* half of 2^n: n may be 128 */
  float y = pte_fma(e, scale, scale - 0.5f) * 2.0f;
  return pte_copysign(pte_pick(pte_mask(p.n == 0), e, y), x);
}

PTE_ALWAYS float pte_tanh(float x) {
  float a = pte_abs(x);
  float t = pte_expm1(2.0f * pte_pick(pte_mask(a > 10.0f), 10.0f, a));
  return pte_copysign(t / (t + 2.0f), x);
}

PTE_ALWAYS float pte_sinh(float x) {
  float a = pte_abs(x), s = x * x;
  float q = pte_fma(s, 0x1.75e5a0p-19f, 0x1.a01fe2p-13f);
  q = pte_fma(q, s, 0x1.1110e4p-7f);
  q = pte_fma(q, s, 0x1.555556p-3f);
  float small = pte_fma(q, a * s, a);
  float e = pte_exp_scaled(a, -1);
  return pte_copysign(pte_pick(pte_mask(a < 1.0f), small, e - 0.25f / e), x);
}

PTE_ALWAYS float pte_cosh(float x) {
  float e = pte_exp_scaled(pte_abs(x), -1);
  return e + 0.25f / e;
}

/* --- logarithms
 * -----------------------------------------------------------------------------------------------------
 */

/* ln(2^n (1 + f)), f in [sqrt(1/2) - 1, sqrt(2) - 1]: n ln 2 + f - f^2 / 2 + f^3 q(f) */
PTE_ALWAYS float pte_log_join(float n, float f) {
  float q = pte_fma(f, -0x1.413ce6p-4f, 0x1.087d80p-3f);
  q = pte_fma(q, f, -0x1.0d4d52p-3f);
  q = pte_fma(q, f, 0x1.225d16p-3f);
  q = pte_fma(q, f, -0x1.546c66p-3f);
  q = pte_fma(q, f, 0x1.99a5fap-3f);
  q = pte_fma(q, f, -0x1.00024ap-2f);
  q = pte_fma(q, f, 0x1.55554ap-2f);
  q = pte_fma(q, f, -0.5f);
  float low = pte_fma(q, f * f, n * -0x1.05c610p-29f);
  return pte_fma(n, 0x1.62e430p-1f, f + low);
}

/* n of x = 2^n m, m in [sqrt(1/2), sqrt(2)), from the bits of a positive normal x */
PTE_ALWAYS int32_t pte_log_exponent(uint32_t bits) { return (int32_t)(bits - 0x3f3504f3u) >> 23; }

PTE_ALWAYS float pte_log_special(float x, float y) {
  y = pte_pick(pte_mask(x < PTE_INFINITY), y, x);
  y = pte_pick(pte_mask(x == 0.0f), -PTE_INFINITY, y);
  return pte_pick(pte_mask(x < 0.0f), PTE_NAN, y);
}

PTE_ALWAYS float pte_log(float x) {
  uint32_t tiny = pte_mask(x < 0x1p-126f);
  uint32_t bits = pte_bits(pte_pick(tiny, x * 0x1p23f, x));
  int32_t n = pte_log_exponent(bits);
  float f = pte_float(bits - ((uint32_t)n << 23)) - 1.0f;
  return pte_log_special(x, pte_log_join((float)n - pte_pick(tiny, 23.0f, 0.0f), f));
}

/* 1 + x = 2^n m; m - 1 = x 2^-n + (2^-n - 1) with one rounding, so that nothing of a small x is
 * lost. */
PTE_ALWAYS float pte_log1p(float x) {
  float u = pte_pick(pte_mask(x < 0x1p24f), 1.0f + x, x);
  uint32_t bits = pte_bits(u);
  int32_t n = pte_log_exponent(bits);
  float scale = pte_float((uint32_t)(127 - n) << 23);
  float f = pte_fma(x, scale, scale - 1.0f);
  f = pte_pick(pte_mask(x < 0x1p24f), f, pte_float(bits - ((uint32_t)n << 23)) - 1.0f);
  return pte_pick(pte_mask(x == 0.0f), x, pte_log_special(u, pte_log_join((float)n, f)));
}

PTE_ALWAYS float pte_asinh(float x) {
  float a = pte_abs(x);
  uint32_t big = pte_mask(a > 0x1p25f); /* ln(2 a), and a^2 may overflow */
  float u = a + a * a / (1.0f + pte_sqrt(pte_fma(a, a, 1.0f)));
  float y = pte_log1p(pte_pick(big, a, u)) + pte_pick(big, 0x1.62e430p-1f, 0.0f);
  return pte_copysign(y, x);
}

PTE_ALWAYS float pte_acosh(float x) {
  float t = x - 1.0f;
  uint32_t big = pte_mask(x > 0x1p25f);
  float u = t + pte_sqrt(t * (t + 2.0f));
  float y = pte_log1p(pte_pick(big, x, u)) + pte_pick(big, 0x1.62e430p-1f, 0.0f);
  return pte_pick(pte_mask(x < 1.0f), PTE_NAN, y);
}

PTE_ALWAYS float pte_atanh(float x) {
  float a = pte_abs(x);
  return pte_copysign(0.5f * pte_log1p(2.0f * a / (1.0f - a)), x);
}

/* --- angles
 * ---------------------------------------------------------------------------------------------------------
 */

/* pi / 2 in three floats. The first product is exact, because the difference keeps only its last
 * bits; of the second, what rounding loses in the product and in the sum is kept. Cody and Waite
 * 1980. */
PTE_ALWAYS pte_turn pte_turn_near(float x) {
  float shifted = pte_fma(x, 0x1.45f306p-1f, PTE_MAGIC);
  float n = shifted - PTE_MAGIC;
  float first = pte_fma(n, -0x1.921fb6p+0f, x);
  float second = n * 0x1.777a5cp-25f;
  float lost = pte_fma(n, 0x1.777a5cp-25f, -second);
  float r = first + second, part = r - first;
  float rest = (first - (r - part)) + (second - part);
  return (pte_turn){r, pte_fma(n, 0x1.ee59dap-50f, lost + rest), pte_bits(shifted) & 3};
}

PTE_ALWAYS float pte_sin_near(float x) {
  return pte_pick(pte_mask(x == 0.0f), x, pte_sine(pte_turn_near(x), 0));
}
PTE_ALWAYS float pte_cos_near(float x) { return pte_sine(pte_turn_near(x), 1); }
PTE_ALWAYS float pte_tan_near(float x) {
  return pte_pick(pte_mask(x == 0.0f), x, pte_tangent(pte_turn_near(x)));
}

PTE_ALWAYS float pte_sin(float x) {
  return pte_abs(x) <= PTE_NEAR ? pte_sin_near(x) : pte_sin_far(x);
}
PTE_ALWAYS float pte_cos(float x) {
  return pte_abs(x) <= PTE_NEAR ? pte_cos_near(x) : pte_cos_far(x);
}
PTE_ALWAYS float pte_tan(float x) {
  return pte_abs(x) <= PTE_NEAR ? pte_tan_near(x) : pte_tan_far(x);
}

/* asin(x) for 0 <= x <= 1/2, given s = x^2 */
PTE_ALWAYS float pte_asin_small(float x, float s) {
  float q = pte_fma(s, 0x1.5a552ap-5f, 0x1.8b18bap-6f);
  q = pte_fma(q, s, 0x1.7499b8p-5f);
  q = pte_fma(q, s, 0x1.3300ccp-4f);
  q = pte_fma(q, s, 0x1.5555ccp-3f);
  return pte_fma(q, x * s, x);
}

/* Above 1/2: asin(x) = pi / 2 - 2 asin(sqrt((1 - x) / 2)) */
PTE_ALWAYS float pte_asin(float x) {
  float a = pte_abs(x);
  uint32_t large = pte_mask(a > 0.5f);
  float half = pte_fma(a, -0.5f, 0.5f);
  float y = pte_asin_small(pte_pick(large, pte_sqrt(half), a), pte_pick(large, half, a * a));
  return pte_copysign(pte_pick(large, pte_fma(y, -2.0f, 0x1.921fb6p+0f), y), x);
}

PTE_ALWAYS float pte_acos(float x) {
  float a = pte_abs(x);
  uint32_t large = pte_mask(a > 0.5f);
  float half = pte_fma(a, -0.5f, 0.5f);
  float y = pte_asin_small(pte_pick(large, pte_sqrt(half), a), pte_pick(large, half, a * a));
  float near_one = pte_pick(pte_mask(x < 0.0f), pte_fma(y, -2.0f, 0x1.921fb6p+1f), 2.0f * y);
  return pte_pick(large, near_one, 0x1.921fb6p+0f - pte_copysign(y, x));
}

/* Above tan(pi / 8): atan(x) = pi / 4 + atan((x - 1) / (x + 1)); above its inverse: pi / 2 - atan(1
 * / x). */
PTE_ALWAYS float pte_atan(float x) {
  float a = pte_abs(x);
  uint32_t middle = pte_mask(a > 0x1.a8279ap-2f), large = pte_mask(a > 0x1.3504f4p+1f);
  float over = pte_pick(large, -1.0f, pte_pick(middle, a - 1.0f, a));
  float under = pte_pick(large, a, pte_pick(middle, a + 1.0f, 1.0f));
  float base = pte_pick(large, 0x1.921fb6p+0f, pte_pick(middle, 0x1.921fb6p-1f, 0.0f));
  float t = over / under, s = t * t;
  float q = pte_fma(s, -0x1.f30036p-5f, 0x1.b229f4p-4f);
  q = pte_fma(q, s, -0x1.23ba02p-3f);
  q = pte_fma(q, s, 0x1.9991e6p-3f);
  q = pte_fma(q, s, -0x1.55554ap-2f);
  return pte_copysign(base + pte_fma(q, t * s, t), x);
}

/* --- erf and powers
 * -------------------------------------------------------------------------------------------------
 */

/* x + x p(x^2), and 1 - exp(p(|x|)) above 0.9277. Source of the split: N. Juffa. */
PTE_ALWAYS float pte_erf(float x) {
  float a = pte_abs(x), s = x * x;
  float b = pte_pick(pte_mask(a > 4.0f), 4.0f, a), sb = b * b;
  float r = pte_fma(b, -0x1.220000p-16f, 0x1.91cfb2p-12f);
  float u = pte_fma(b, -0x1.fd1438p-9f, 0x1.8d6342p-6f);
  r = pte_fma(r, sb, u);
  r = pte_fma(r, b, -0x1.b55cb8p-4f);
  r = pte_fma(r, b, -0x1.450aa0p-1f);
  r = pte_fma(r, b, -0x1.079d0cp-3f);
  r = pte_fma(r, b, -b);
  pte_power p = pte_exp_reduce(r); /* of -18 .. 0, or a NaN, which stays one */
  float large = 1.0f - pte_exp_fraction(p.r) * pte_power_of_two(p.n);
  float q = pte_fma(s, -0x1.38e000p-11f, 0x1.471a58p-8f);
  q = pte_fma(q, s, -0x1.b691b2p-6f);
  q = pte_fma(q, s, 0x1.ce1c44p-4f);
  q = pte_fma(q, s, -0x1.812700p-2f);
  q = pte_fma(q, s, 0x1.06eba8p-3f);
  float small = pte_fma(q, a, a);
  return pte_copysign(pte_pick(pte_mask(a > 0.927734375f), large, small), x);
}

/* log2 of a positive normal f64, to 2^-44: enough for y log2(x) < 2^8 to keep 36 bits behind the
 * point */
PTE_ALWAYS double pte_log2_wide(double x) {
  uint64_t bits = pte_bits_f64(x) - 0x3fe6a09e667f3bcdull;
  uint64_t n = bits >> 52; /* modulo 2^12 */
  double m = pte_double((bits & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  double exponent =
      pte_double((((n + 2048) & 4095) | 0x4330000000000000ull)) - (4503599627370496.0 + 2048.0);
  double f = (m - 1.0) / (m + 1.0), s = f * f;
  double q = 0x1.f17a7f259f542p-3 * s + 0x1.0bb854e8f1f99p-2;
  q = q * s + 0x1.484fa59e748d8p-2;
  q = q * s + 0x1.a6175698fda8dp-2;
  q = q * s + 0x1.2776c5167ef2fp-1;
  q = q * s + 0x1.ec709dc39ccb5p-1;
  q = q * s + 0x1.71547652b82ffp+1;
  return exponent + f * q;
}

/* 2^x rounded to f32, |x| <= 1000 */
PTE_ALWAYS float pte_exp2_wide(double x) {
  double shifted = x + 0x1.8p52;
  double r = x - (shifted - 0x1.8p52);
  double q = 0x1.00f54a5f7a680p-16 * r + 0x1.446ca20dde67bp-13;
  q = q * r + 0x1.5d871991deaeap-10;
  q = q * r + 0x1.3b29d887fa457p-7;
  q = q * r + 0x1.c6b08e0381ce0p-5;
  q = q * r + 0x1.ebfbe0aa42cd8p-3;
  q = q * r + 0x1.62e42fef6e600p-1;
  q = q * r + 0x1.ffffffffa6e79p-1;
  return (float)(q * pte_double((pte_bits_f64(shifted) + 1023) << 52));
}

/* |x|^y = 2^(y log2 |x|) in f64; then signs and what C says of zeros, ones, infinities and NaN. */
PTE_ALWAYS float pte_pow(float x, float y) {
  float a = pte_abs(x);
  double wide = (double)a;
  double l = pte_log2_wide(wide);
  l = pte_pick_f64(pte_mask_f64(a == 0.0f), -(double)PTE_INFINITY, l);
  l = pte_pick_f64(pte_mask_f64(a < PTE_INFINITY), l, wide);
  double z = (double)y * l;
  z = pte_pick_f64(pte_mask_f64(z > 200.0), 200.0, z);
  z = pte_pick_f64(pte_mask_f64(z < -200.0), -200.0, z);
  float power = pte_exp2_wide(z);
  float whole = pte_nearest(y), half = 0.5f * y;
  uint32_t integer = pte_mask(whole == y);
  uint32_t odd = integer & ~pte_mask(pte_nearest(half) == half);
  uint32_t negative = 0u - (pte_bits(x) >> 31);
  power = pte_float(pte_bits(power) ^ (odd & negative & 0x80000000u));
  power = pte_pick(pte_mask(x < 0.0f) & pte_mask(a < PTE_INFINITY) & ~integer, PTE_NAN, power);
  uint32_t far = pte_mask(pte_abs(y) == PTE_INFINITY);
  uint32_t one = pte_mask(x == 1.0f) | pte_mask(y == 0.0f) | (pte_mask(a == 1.0f) & far);
  return pte_pick(one, 1.0f, power);
}

#endif
