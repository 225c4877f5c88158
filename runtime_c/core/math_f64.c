/* See math_f64.h. The usual reductions; polynomials minimax by weighted least squares, from the
 * constant term up. */
#include "core/math_f64.h"

#include "core/scalar.h"

#define INFINITE         ((double)PTE_INFINITY)
#define NOT_A_NUMBER     ((double)PTE_NAN)
#define POLYNOMIAL(x, c) polynomial(x, c, sizeof c / sizeof *c)

static double polynomial(double x, const double *c, size_t count) {
  double y = c[count - 1];
  for (size_t i = count - 1; i-- > 0;) y = y * x + c[i];
  return y;
}

/* a + b and a * b, with what their rounding lost. Knuth; Dekker 1971. */
typedef struct pair {
  double high, low;
} pair;

static pair sum_of(double a, double b) {
  double sum = a + b, part = sum - a;
  return (pair){sum, (a - (sum - part)) + (b - part)};
}

static pair product_of(double a, double b) {
  double ca = 134217729.0 * a, cb = 134217729.0 * b;
  double a1 = ca - (ca - a), b1 = cb - (cb - b), a2 = a - a1, b2 = b - b1;
  double product = a * b;
  return (pair){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

static double power_of_two(int n) { return pte_double((uint64_t)(n + 1023) << 52); }

/* --- exponentials
 * ---------------------------------------------------------------------------------------------------
 */

/* e^(high + low) 2^shift, |high| <= 800 */
static double exp_pair(double high, double low, int shift) {
  static const double c[] = {0x1.000000000000dp-1,  0x1.555555555555cp-3,  0x1.555555554f7d9p-5,
                             0x1.111111110e7f7p-7,  0x1.6c16c18770b0cp-10, 0x1.a01a01b568a71p-13,
                             0x1.a01991c34f698p-16, 0x1.71ddeb23f2a40p-19, 0x1.28b4bbeb68e1bp-22,
                             0x1.af74b1d0a3f77p-26};
  double n = pte_nearest_f64(high * 0x1.71547652b82fep+0);
  double first = high - n * 0x1.62e42feep-1; /* exact: 32 bits times 11 */
  double second = low - n * 0x1.a39ef35793c76p-33;
  double r = first + second, rest = (first - r) + second;
  double e = 1.0 + (r + (rest + r * r * POLYNOMIAL(r, c)));
  int power = (int)n + shift, half = power / 2;
  return e * power_of_two(half) * power_of_two(power - half);
}

double pte_exp_f64(double x) {
  if (x != x) return x;
  if (x > 710.0) return INFINITE;
  return x < -746.0 ? 0.0 : exp_pair(x, 0.0, 0);
}

double pte_expm1_f64(double x) {
  static const double c[] = {0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.5555555555559p-5,
                             0x1.111111110f5a7p-7,  0x1.6c16c16c147fcp-10, 0x1.a01a01b07992bp-13,
                             0x1.a01a01b0353c8p-16, 0x1.71ddf68485002p-19, 0x1.27e4c5ff9d3d9p-22,
                             0x1.af62699da015ep-26, 0x1.1f957b6a8191dp-29};
  if (x != x || x == 0.0) return x;
  if (x > 710.0) return INFINITE;
  if (x < -40.0) return -1.0;
  double n = pte_nearest_f64(x * 0x1.71547652b82fep+0);
  double first = x - n * 0x1.62e42feep-1, second = -(n * 0x1.a39ef35793c76p-33);
  double r = first + second, rest = (first - r) + second;
  double p = r + (rest + r * r * POLYNOMIAL(r, c));
  if (n == 0.0) return p;
  double scale = power_of_two((int)n - 1); /* half: n may be 1024 */
  return (p * scale + (scale - 0.5)) * 2.0;
}

double pte_tanh_f64(double x) {
  double a = pte_abs_f64(x);
  if (a > 22.0) return pte_copysign_f64(1.0, x);
  double t = pte_expm1_f64(2.0 * a);
  return pte_copysign_f64(t / (t + 2.0), x);
}

double pte_sinh_f64(double x) {
  double a = pte_abs_f64(x);
  if (!(a < 800.0)) return x * INFINITE; /* NaN too */
  if (a > 22.0) return pte_copysign_f64(exp_pair(a, 0.0, -1), x);
  double t = pte_expm1_f64(a);
  return pte_copysign_f64(0.5 * (t + t / (t + 1.0)), x);
}

double pte_cosh_f64(double x) {
  double a = pte_abs_f64(x);
  if (!(a < 800.0)) return a * INFINITE;
  double e = exp_pair(a, 0.0, -1);
  return e + 0.25 / e;
}

/* --- logarithms
 * -----------------------------------------------------------------------------------------------------
 */

/* x = 2^n (1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1], x positive and finite */
static double split(double x, int *n) {
  int shift = x < 0x1p-1022 ? 54 : 0;
  uint64_t bits = pte_bits_f64(shift ? x * 0x1p54 : x);
  uint64_t above = bits - 0x3fe6a09e667f3bcdull + (1ull << 62); /* the bias keeps it positive */
  *n = (int)(above >> 52) - 1024 - shift;
  return pte_double(bits - (((above >> 52) - 1024) << 52)) - 1.0;
}

/* ln(2^n (1 + f)), by 2 atanh(f / (2 + f)) */
static double log_join(int n, double f) {
  static const double c[] = {0x1.5555555555593p-1, 0x1.999999997f9b4p-2, 0x1.2492494230f45p-2,
                             0x1.c71c51d0690bep-3, 0x1.74664b8d724e3p-3, 0x1.39a05d5db2810p-3,
                             0x1.2f13fed738556p-3};
  double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  double r = s * (half + z * POLYNOMIAL(z, c)), k = (double)n;
  return k * 0x1.62e42feep-1 - ((half - (r + k * 0x1.a39ef35793c76p-33)) - f);
}

double pte_log_f64(double x) {
  if (!(x > 0.0) || x == INFINITE) return x == 0.0 ? -INFINITE : x < 0.0 ? NOT_A_NUMBER : x;
  int n;
  double f = split(x, &n);
  return log_join(n, f);
}

double pte_log1p_f64(double x) {
  if (!(x > -1.0) || x == INFINITE) return x == -1.0 ? -INFINITE : x < -1.0 ? NOT_A_NUMBER : x;
  if (x == 0.0) return x;
  pair u = sum_of(1.0, x);
  int n;
  double f = split(u.high, &n);
  return log_join(n, n == 0 ? x : f + (n > -1000 && n < 1000 ? u.low * power_of_two(-n) : 0.0));
}

double pte_asinh_f64(double x) {
  double a = pte_abs_f64(x);
  double y = a > 0x1p54 ? pte_log_f64(a) + 0x1.62e42fefa39efp-1
                        : pte_log1p_f64(a + a * a / (1.0 + pte_sqrt_f64(a * a + 1.0)));
  return pte_copysign_f64(y, x);
}

double pte_acosh_f64(double x) {
  double t = x - 1.0;
  if (x < 1.0) return NOT_A_NUMBER;
  return x > 0x1p54 ? pte_log_f64(x) + 0x1.62e42fefa39efp-1
                    : pte_log1p_f64(t + pte_sqrt_f64(t * (t + 2.0)));
}

double pte_atanh_f64(double x) {
  double a = pte_abs_f64(x);
  return pte_copysign_f64(0.5 * pte_log1p_f64(2.0 * a / (1.0 - a)), x);
}

/* --- angles
 * ---------------------------------------------------------------------------------------------------------
 */

static double sin_turn(pte_turn_f64 t) {
  static const double c[] = {-0x1.5555555555549p-3, 0x1.111111110f881p-7,   -0x1.a01a019c0e97fp-13,
                             0x1.71de3572ce989p-19, -0x1.ae5e6107d9a90p-26, 0x1.5d912ee21e770p-33};
  double s = t.r * t.r;
  return t.r + (t.rest + t.r * s * POLYNOMIAL(s, c));
}

static double cos_turn(pte_turn_f64 t) {
  static const double c[] = {0x1.555555555554bp-5,  -0x1.6c16c16c15030p-10,
                             0x1.a01a019c92e4fp-16, -0x1.27e4f7f48388bp-22,
                             0x1.1ee9ddc316a58p-29, -0x1.8fa77106e6d06p-37};
  double s = t.r * t.r, half = 0.5 * s, w = 1.0 - half;
  return w + (((1.0 - w) - half) + (s * s * POLYNOMIAL(s, c) - t.r * t.rest));
}

static double sine(double x, uint32_t quarters) {
  if (!(pte_abs_f64(x) < INFINITE)) return x - x;
  pte_turn_f64 t = pte_turn_wide(x);
  uint32_t quarter = t.quarter + quarters;
  double y = quarter & 1 ? cos_turn(t) : sin_turn(t);
  return quarter & 2 ? -y : y;
}

double pte_sin_f64(double x) { return x == 0.0 ? x : sine(x, 0); }
double pte_cos_f64(double x) { return sine(x, 1); }

double pte_tan_f64(double x) {
  if (x == 0.0) return x;
  if (!(pte_abs_f64(x) < INFINITE)) return x - x;
  pte_turn_f64 t = pte_turn_wide(x);
  return t.quarter & 1 ? -cos_turn(t) / sin_turn(t) : sin_turn(t) / cos_turn(t);
}

/* asin(x), 0 <= x <= 1/2, given s = x^2 */
static double asin_small(double x, double s) {
  static const double c[] = {0x1.5555555555578p-3, 0x1.333333332df29p-4, 0x1.6db6db722a0cap-5,
                             0x1.f1c71a8c37a72p-6, 0x1.6e8bdfd3b1f7dp-6, 0x1.1c49df6b2d953p-6,
                             0x1.ca21210048f8ap-7, 0x1.7578b60092ae3p-7, 0x1.61841afaa724ap-7,
                             0x1.e1c0a165df803p-9, 0x1.64e2e7cd95d37p-6, -0x1.59ca40e45e511p-6,
                             0x1.0bd68370e02b6p-5};
  return x + x * s * POLYNOMIAL(s, c);
}

double pte_asin_f64(double x) {
  double a = pte_abs_f64(x);
  if (!(a <= 1.0)) return NOT_A_NUMBER;
  if (a <= 0.5) return pte_copysign_f64(asin_small(a, a * a), x);
  double s = 0.5 * (1.0 - a), y = asin_small(pte_sqrt_f64(s), s);
  return pte_copysign_f64(0x1.921fb54442d18p+0 - (2.0 * y - 0x1.1a62633145c07p-54), x);
}

double pte_acos_f64(double x) {
  double a = pte_abs_f64(x);
  if (!(a <= 1.0)) return NOT_A_NUMBER;
  if (a <= 0.5)
    return 0x1.921fb54442d18p+0 -
           (pte_copysign_f64(asin_small(a, a * a), x) - 0x1.1a62633145c07p-54);
  double s = 0.5 * (1.0 - a), y = 2.0 * asin_small(pte_sqrt_f64(s), s);
  return x < 0.0 ? 0x1.921fb54442d18p+1 - (y - 0x1.1a62633145c07p-53) : y;
}

double pte_atan_f64(double x) {
  static const double c[] = {-0x1.555555555553dp-2, 0x1.9999999995883p-3,  -0x1.24924922ae1e1p-3,
                             0x1.c71c70e654c4ep-4,  -0x1.745cf8e2c592ep-4, 0x1.3b11196d19a88p-4,
                             -0x1.10ebba4f9e619p-4, 0x1.df0f51909aee3p-5,  -0x1.9cd2709b1fe68p-5,
                             0x1.37d3db7b41977p-5,  -0x1.25643c5f9feecp-6};
  double a = pte_abs_f64(x), t = a, high = 0.0, low = 0.0;
  if (a > 2.414213562373095) t = -1.0 / a, high = 0x1.921fb54442d18p+0, low = 0x1.1a62633145c07p-54;
  else if (a > 0.41421356237309503)
    t = (a - 1.0) / (a + 1.0), high = 0x1.921fb54442d18p-1, low = 0x1.1a62633145c07p-55;
  double s = t * t;
  return pte_copysign_f64(high + (t + (t * s * POLYNOMIAL(s, c) + low)), x);
}

/* --- erf and powers
 * -------------------------------------------------------------------------------------------------
 */

/* erfc(x) e^(x^2) in pieces, about their middles */
static double erfc_scaled(double x) {
  static const double c0[] = {
      0x1.78a6921387677p-2,  -0x1.abaacdbfa8afbp-3,  0x1.b56f45eefb2c8p-4,  -0x1.9b635ac62a81ap-5,
      0x1.68a25a5cc3648p-6,  -0x1.299636cb58915p-7,  0x1.d1b6a9d8cf027p-9,  -0x1.5b8bdc2098d48p-10,
      0x1.f0eb0a32fd9d5p-12, -0x1.55b16b2e6f85cp-13, 0x1.ce054c89fabc0p-15, -0x1.28c898c577accp-16};
  static const double c1[] = {
      0x1.23cfc2f1dc7e0p-2,  -0x1.0c3d538446445p-3,  0x1.c8d0cef0f8dedp-5,  -0x1.6cb52fe48b4e5p-6,
      0x1.13648a0f607f0p-7,  -0x1.8bf716a17746dp-9,  0x1.106bdb9960e60p-10, -0x1.6838940448139p-12,
      0x1.cb40dde0b11bcp-14, -0x1.1b200dfd1b46ap-15, 0x1.57a5a502baf41p-17, -0x1.8facc962fe8c2p-19};
  static const double c2[] = {
      0x1.c3987d04d0b8ap-3,  -0x1.4baeac94dc863p-4,  0x1.cdc880a064726p-6,  -0x1.32a8abc8f60fep-7,
      0x1.8680d2635a5e5p-9,  -0x1.deb45e47cc03ep-11, 0x1.1b64bdaf6ce78p-12, -0x1.44f92396b80c5p-14,
      0x1.69a61b4968061p-16, -0x1.87946480758f6p-18, 0x1.a8cff46f9639bp-20, -0x1.b6bd4bdf9756cp-22};
  static const double c3[] = {
      0x1.48f8f10299a16p-3,  -0x1.696d353effb82p-5,  0x1.804cc1580dc8ep-7,  -0x1.8c84c13e32275p-9,
      0x1.8de5f09955f3bp-11, -0x1.851180c5e0801p-13, 0x1.7352202f0967cp-15, -0x1.5a6307fb71aecp-17,
      0x1.3bda43f77f5aap-19, -0x1.1a6f7ed3e9f25p-21, 0x1.05da6e6e9d2ecp-23, -0x1.c5f3a5893583fp-26};
  static const double c4[] = {
      0x1.c57239ea668cdp-4,   -0x1.5d8433a80010fp-6,  0x1.08cf7fda4f477p-8,
      -0x1.8abda7863e93cp-11, 0x1.21a19b32d8ee5p-13,  -0x1.a1f64de6ecc6fp-16,
      0x1.298278de3ef82p-18,  -0x1.c04f20c0772fep-21, 0x1.3aaa24dd97508p-23};
  if (x < 1.5) return POLYNOMIAL(x - 1.25, c0);
  if (x < 2.0) return POLYNOMIAL(x - 1.75, c1);
  if (x < 2.75) return POLYNOMIAL(x - 2.375, c2);
  if (x < 4.0) return POLYNOMIAL(x - 3.375, c3);
  return POLYNOMIAL(x - 5.0, c4);
}

double pte_erf_f64(double x) {
  static const double c[] = {0x1.20dd750429b6dp+0,   -0x1.812746b0379a2p-2,  0x1.ce2f21a03fd28p-4,
                             -0x1.b82ce311ba519p-6,  0x1.565bccf084c63p-8,   -0x1.c02daed7daa52p-11,
                             0x1.f9a2958b3c2dfp-14,  -0x1.f4c7bf3f04fafp-17, 0x1.b96191e4b488ap-20,
                             -0x1.5b191f9e358d4p-23, 0x1.cdc82ce206137p-27,  -0x1.75bc9c4417850p-31,
                             -0x1.122265b109aeep-36};
  double a = pte_abs_f64(x);
  if (a != a) return x;
  if (a < 1.0) return x * POLYNOMIAL(a * a, c);
  double y = a > 6.0 ? 1.0 : 1.0 - pte_exp_f64(-a * a) * erfc_scaled(a);
  return pte_copysign_f64(y, x);
}

/* ln(x) to about 2^-65, x positive and finite: 2 s + 2/3 s^3 + s^5 tail(s^2), s = f / (2 + f), in
 * pairs */
static pair log_pair(double x) {
  static const double c[] = {0x1.9999999999995p-2, 0x1.2492492493162p-2, 0x1.c71c71c560f92p-3,
                             0x1.745d183fd4473p-3, 0x1.3b135f6fbb5fap-3, 0x1.11212998d3abcp-3,
                             0x1.de225a1633863p-4, 0x1.eb96642099528p-4};
  int n;
  double f = split(x, &n), k = (double)n;
  pair under = sum_of(2.0, f);
  double s = f / under.high;
  pair back = product_of(s, under.high);
  double s_low = (((f - back.high) - back.low) - s * under.low) / under.high;
  pair z = product_of(s, s);
  z.low += 2.0 * s * s_low;
  pair cube = product_of(z.high, s);
  cube.low += z.low * s + z.high * s_low;
  pair third = product_of(cube.high, 0x1.5555555555555p-1);
  third.low += cube.low * 0x1.5555555555555p-1 + cube.high * 0x1.5555555555555p-55;
  third.low += cube.high * z.high * POLYNOMIAL(z.high, c);
  pair sum = sum_of(2.0 * s, third.high);
  sum.low += 2.0 * s_low + third.low;
  pair all = sum_of(k * 0x1.62e42feep-1, sum.high);
  all.low += sum.low + k * 0x1.a39ef35793c76p-33;
  return sum_of(all.high, all.low);
}

/* |x|^y for finite x > 0 and finite y */
static double power(double x, double y) {
  pair l = log_pair(x);
  double rough = y * l.high;
  if (rough > 720.0) return INFINITE;
  if (rough < -760.0) return 0.0;
  if (pte_abs_f64(y) < 0x1p-900) return 1.0; /* and the pieces of a product would vanish */
  pair z = product_of(y, l.high);
  z.low += y * l.low;
  return exp_pair(z.high, z.low, 0);
}

double pte_pow_f64(double x, double y) {
  double a = pte_abs_f64(x);
  if (x == 1.0 || y == 0.0) return 1.0;
  if (x != x || y != y) return NOT_A_NUMBER;
  bool integer = pte_nearest_f64(y) == y;
  bool odd = integer && pte_nearest_f64(0.5 * y) != 0.5 * y;
  if (x < 0.0 && !integer && a < INFINITE) return NOT_A_NUMBER;
  double result;
  if (a == 1.0) result = 1.0;
  else if (a == 0.0 || a == INFINITE || pte_abs_f64(y) == INFINITE)
    result = (a > 1.0) == (y > 0.0) ? INFINITE : 0.0;
  else result = power(a, y);
  return odd && pte_bits_f64(x) >> 63 ? -result : result;
}
