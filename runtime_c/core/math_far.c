/* Angles of any size: x modulo pi / 2, and the f32 functions of angles beyond PTE_NEAR; exact
 * remainders of divisions. Payne and Hanek 1983 in integers; scalar. */
#include "core/math_far.h"

#include "core/math_f64.h"
#include "core/math_turn.h"

/* 2 / pi after the point, 32 bits a word, highest first: enough for x < 2^1024. */
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
};

enum { WINDOW = 6 }; /* words: 192 bits of the product are right but for the last 55 */

/* Bits position .. position + 31 after the point; bits before the point are 0. */
static uint32_t bits_at(int position) {
  if (position <= -32) return 0;
  if (position < 0) return two_over_pi[0] >> -position;
  int word = position / 32, shift = position % 32;
  if (shift == 0) return two_over_pi[word];
  return two_over_pi[word] << shift | two_over_pi[word + 1] >> (32 - shift);
}

/* product = m * window modulo 2^192, words from the lowest on. */
static void multiply(uint64_t m, int position, uint32_t *product) {
  uint32_t low = (uint32_t)m, high = (uint32_t)(m >> 32);
  uint64_t carry = 0;
  for (int i = 0; i < WINDOW; i++) {
    uint64_t here = (uint64_t)bits_at(position + 32 * (WINDOW - 1 - i));
    uint64_t below = i > 0 ? (uint64_t)bits_at(position + 32 * (WINDOW - i)) : 0;
    uint64_t a = here * low, b = below * high;
    uint64_t sum = (a & 0xffffffffu) + (b & 0xffffffffu) + (carry & 0xffffffffu);
    product[i] = (uint32_t)sum;
    carry = (carry >> 32) + (a >> 32) + (b >> 32) + (sum >> 32);
  }
}

/* a + b = sum + error, exactly. Knuth's two-sum. */
static double two_sum(double a, double b, double *error) {
  double sum = a + b, part = sum - a;
  *error = (a - (sum - part)) + (b - part);
  return sum;
}

/* a * b = product + error, exactly, without fma. Dekker 1971. */
static double two_product(double a, double b, double *error) {
  double ca = 134217729.0 * a, cb = 134217729.0 * b;
  double a1 = ca - (ca - a), b1 = cb - (cb - b), a2 = a - a1, b2 = b - b1;
  double product = a * b;
  *error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
  return product;
}

/* The fraction of a quarter turn in the upper 190 bits of `t`, signed and to nearest, in two parts
 * of 53 bits. */
static void fraction(uint32_t *t, double *high, double *low, uint32_t *quarter) {
  uint64_t top = (uint64_t)t[5] << 32 | t[4], middle = (uint64_t)t[3] << 32 | t[2];
  *quarter = (uint32_t)(top >> 62);
  top = top << 2 | middle >> 62;
  middle = middle << 2 | t[1] >> 30;
  uint64_t negative = top >> 63;
  *quarter = (*quarter + (uint32_t)negative) & 3;
  if (negative) top = ~top, middle = ~middle; /* off by 2^-128 */
  int shift = 0; /* at most 63: no f64 comes closer to a multiple of pi / 2 than 2^-62 */
  while (shift < 63 && !(top >> 63)) top = top << 1 | middle >> 63, middle <<= 1, shift++;
  uint64_t first = top >> 11, second = (top & 2047) << 42 | middle >> 22;
  double unit = pte_double((uint64_t)(1023 - 53 - shift) << 52);
  double sign = negative ? -1.0 : 1.0;
  *high = sign * (double)first * unit;
  *low = sign * (double)second * unit * 0x1p-53;
}

static pte_turn_f64 turn_huge(double x) {
  uint64_t bits = pte_bits_f64(pte_abs_f64(x));
  uint64_t m = (bits & 0xfffffffffffffull) | 1ull << 52;
  int exponent = (int)(bits >> 52) - 1075; /* x = m 2^exponent */
  uint32_t product[WINDOW];
  multiply(m, exponent - 2, product); /* bits before make multiples of 4 */
  double high, low, error;
  pte_turn_f64 turn;
  fraction(product, &high, &low, &turn.quarter);
  double r = two_product(high, 0x1.921fb54442d18p+0, &error);
  error += high * 0x1.1a62633145c07p-54 + low * 0x1.921fb54442d18p+0;
  turn.r = r + error;
  turn.rest = (r - turn.r) + error;
  if (x > 0) return turn;
  return (pte_turn_f64){-turn.r, -turn.rest, (4 - turn.quarter) & 3};
}

/* pi / 2 in three parts of 33 bits and a rest: n times a part is exact for n < 2^20. Cody and Waite
 * 1980. */
static pte_turn_f64 turn_moderate(double x) {
  double n = pte_nearest_f64(x * 0x1.45f306dc9c883p-1), e1, e2;
  double a = x - n * 0x1.921fb544p+0;
  a = two_sum(a, n * -0x1.0b4611a6p-34, &e1);
  a = two_sum(a, n * -0x1.3198a2e0p-69, &e2);
  double rest = (e1 + e2) - n * 0x1.b839a252049c1p-104;
  double r = a + rest;
  return (pte_turn_f64){r, (a - r) + rest, (uint32_t)(int32_t)n & 3};
}

pte_turn_f64 pte_turn_wide(double x) {
  return pte_abs_f64(x) < 1e6 ? turn_moderate(x) : turn_huge(x);
}

/* --- f32 beyond PTE_NEAR
 * -------------------------------------------------------------------------------------------- */

static pte_turn turn_far(float x) {
  pte_turn_f64 wide = pte_turn_wide((double)x);
  float r = (float)wide.r;
  return (pte_turn){r, (float)(wide.r - (double)r), wide.quarter};
}

float pte_sin_far(float x) { return pte_abs(x) < PTE_INFINITY ? pte_sine(turn_far(x), 0) : x - x; }
float pte_cos_far(float x) { return pte_abs(x) < PTE_INFINITY ? pte_sine(turn_far(x), 1) : x - x; }
float pte_tan_far(float x) { return pte_abs(x) < PTE_INFINITY ? pte_tangent(turn_far(x)) : x - x; }

/* --- remainders
 * -----------------------------------------------------------------------------------------------------
 */

/* Long division of the mantissas, as many bits a step as fit. */
double pte_fmod_f64(double x, double y) {
  uint64_t a = pte_bits_f64(pte_abs_f64(x)), b = pte_bits_f64(pte_abs_f64(y));
  const uint64_t infinite = 0x7ffull << 52;
  if (b == 0 || a >= infinite || b > infinite) return (double)PTE_NAN;
  if (a < b) return x;
  int ea = (int)(a >> 52), eb = (int)(b >> 52);
  uint64_t ma = (a & 0xfffffffffffffull) | (uint64_t)(ea > 0) << 52;
  uint64_t mb = (b & 0xfffffffffffffull) | (uint64_t)(eb > 0) << 52;
  ea += ea == 0;
  eb += eb == 0;
  uint64_t rest = ma % mb;
  for (int left = ea - eb; left > 0 && rest != 0;) {
    int shift = left < 11 ? left : 11; /* rest < 2^53 */
    rest = (rest << shift) % mb;
    left -= shift;
  }
  while (rest != 0 && rest >> 52 == 0 && eb > 1) rest <<= 1, eb--;
  uint64_t bits = rest >> 52 ? (rest & 0xfffffffffffffull) | (uint64_t)eb << 52 : rest;
  return pte_copysign_f64(pte_double(bits), x);
}

/* Exact in f64, and the remainder of two f32 is an f32. */
float pte_fmod(float x, float y) { return (float)pte_fmod_f64((double)x, (double)y); }
