/* Arithmetic that gives the same bits on every target: fused multiply-add, square root, rounding to
 * integers.
 *
 * Everything is branch-free unless it says otherwise: choices are masks, so that compilers
 * vectorise loops over these functions without knowing that floating-point operations do not trap.
 * f32 uses pte_fma; f64 never does. */
#ifndef PTE_SCALAR_H
#define PTE_SCALAR_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
#if defined(__SSE2__) && !defined(__NO_MATH_ERRNO__)
#include <emmintrin.h>
#endif

/* x87 would keep f32 and f64 in 80 bits, which breaks the error-free sums below. */
_Static_assert(FLT_EVAL_METHOD == 0, "f32 and f64 must be computed in their own precision");

/* In front of a loop over tiles: destination and sources are either the same or apart. A hint:
 * clang is not to complain of a loop that it leaves as it is. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define PTE_LANES _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define PTE_LANES _Pragma("GCC ivdep")
#else
#define PTE_LANES
#endif

/* A call in a loop over elements keeps it from being vectorised, so size does not decide what is
 * inlined. */
#define PTE_ALWAYS static inline __attribute__((always_inline))

#define PTE_INFINITY ((float)(1e300 * 1e300))
#define PTE_NAN      ((float)(1e300 * 1e300 * 0.0))

static inline uint32_t pte_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float pte_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t pte_bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double pte_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* All ones where `condition` is 1, zero where it is 0. */
static inline uint32_t pte_mask(int condition) { return 0u - (uint32_t)condition; }
static inline uint64_t pte_mask_f64(int condition) { return 0u - (uint64_t)condition; }

/* a where the mask is ones, else b. */
static inline float pte_pick(uint32_t mask, float a, float b) {
  return pte_float((pte_bits(a) & mask) | (pte_bits(b) & ~mask));
}
static inline double pte_pick_f64(uint64_t mask, double a, double b) {
  return pte_double((pte_bits_f64(a) & mask) | (pte_bits_f64(b) & ~mask));
}

static inline float pte_abs(float x) { return pte_float(pte_bits(x) & 0x7fffffffu); }
static inline double pte_abs_f64(double x) { return pte_double(pte_bits_f64(x) & ~(1ull << 63)); }

static inline float pte_copysign(float magnitude, float sign) {
  return pte_float((pte_bits(magnitude) & 0x7fffffffu) | (pte_bits(sign) & 0x80000000u));
}
static inline double pte_copysign_f64(double magnitude, double sign) {
  return pte_double((pte_bits_f64(magnitude) & ~(1ull << 63)) | (pte_bits_f64(sign) & 1ull << 63));
}

/* --- fused multiply-add
 * ----------------------------------------------------------------------------------------- */

/* The product of two floats is exact in double (24 + 24 <= 53 bits, exponents -298 .. 256), so one
 * error is left, that of the sum. Rounding it to odd (truncate, then set the last bit if anything
 * was lost) makes the second rounding, to float, the only one: 53 >= 24 + 2. An infinity or a NaN
 * has error NaN and is passed on. In integer operations throughout: comparisons would become
 * branches that nothing predicts. Source: Boldo and Melquiond 2008, Knuth's two-sum. */
static inline float pte_fma_emulated(float a, float b, float c) {
  double product = (double)a * (double)b;
  double addend = (double)c;
  double sum = product + addend;
  double part = sum - product;
  double error = (product - (sum - part)) + (addend - part);
  uint64_t bits = pte_bits_f64(sum), lost = pte_bits_f64(error);
  uint64_t magnitude = lost & ~(1ull << 63);
  uint64_t inexact = (0 - magnitude) >> 63; /* not zero */
  uint64_t finite = ~(magnitude + (1ull << 52)) >> 63;
  uint64_t step = inexact & finite & ~bits; /* bit 0: the last bit must be set */
  uint64_t away = ~(bits ^ lost) >> 63;     /* the exact value has larger magnitude */
  bits += ((step & away) << 1) - (step & 1);
  return (float)pte_double(bits);
}

/* clang says it of RISC-V by the extension alone. */
#if !defined(PTE_FMA_EMULATE) && (defined(__FMA__) || defined(__FP_FAST_FMAF) ||                   \
                                  defined(__ARM_FEATURE_FMA) || defined(__riscv_f))
static inline float pte_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
static inline float pte_fma(float a, float b, float c) { return pte_fma_emulated(a, b, c); }
#endif

/* --- square root
 * ------------------------------------------------------------------------------------------------
 */

/* Correctly rounded, by integers, one digit a step: for processors without the instruction. Not
 * branch-free. */
static inline double pte_sqrt_digits(double x, int precision) {
  uint64_t bits = pte_bits_f64(x);
  if (!(x > 0) || x > DBL_MAX) return x == 0 || x > 0 ? x : (double)PTE_NAN;
  int exponent = (int)(bits >> 52) - 1075;
  uint64_t m = bits & ((1ull << 52) - 1);
  if (bits >> 52) m |= 1ull << 52;
  else exponent++;
  while (m < 1ull << 52) m <<= 1, exponent--;
  if (exponent & 1) m <<= 1, exponent--;
  uint64_t root = 0,
           rest = 0; /* root^2 + rest = the digits of m read so far; two extra digits round */
  for (int digit = 0; digit < precision + 2; digit++) {
    int shift = 52 - 2 * digit;
    uint64_t pair = shift >= 0 ? m >> shift & 3 : 0;
    uint64_t trial = root << 2 | 1;
    rest = rest << 2 | pair;
    root <<= 1;
    if (rest >= trial) rest -= trial, root |= 1;
  }
  root |= rest != 0;
  uint64_t kept = root >> 2, low = root & 3;
  kept += (low > 2) | ((low == 2) & (kept & 1));
  int power = exponent / 2 + 27 - precision; /* m has 27 pairs of digits: value = kept * 2^power */
  return (double)kept * pte_double((uint64_t)(1023 + power) << 52);
}

#if defined(PTE_SQRT_DIGITS)
static inline float pte_sqrt(float x) { return (float)pte_sqrt_digits((double)x, 24); }
static inline double pte_sqrt_f64(double x) { return pte_sqrt_digits(x, 53); }
#elif defined(__NO_MATH_ERRNO__) && (defined(__SSE2__) || defined(__aarch64__))
static inline float pte_sqrt(float x) { return __builtin_sqrtf(x); }
static inline double pte_sqrt_f64(double x) { return __builtin_sqrt(x); }
#elif defined(__SSE2__) /* with errno the builtin would call libm for negative numbers */
static inline float pte_sqrt(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
static inline double pte_sqrt_f64(double x) {
  __m128d v = _mm_set_sd(x);
  return _mm_cvtsd_f64(_mm_sqrt_sd(v, v));
}
#elif defined(__aarch64__)
static inline float pte_sqrt(float x) {
  float y;
  __asm__("fsqrt %s0, %s1" : "=w"(y) : "w"(x));
  return y;
}
static inline double pte_sqrt_f64(double x) {
  double y;
  __asm__("fsqrt %d0, %d1" : "=w"(y) : "w"(x));
  return y;
}
#else
static inline float pte_sqrt(float x) { return (float)pte_sqrt_digits((double)x, 24); }
static inline double pte_sqrt_f64(double x) { return pte_sqrt_digits(x, 53); }
#endif

/* --- to integers, as floats
 * --------------------------------------------------------------------------------------- */

/* Adding 2^23 leaves no bits behind the point; larger numbers are integers already. Signs of zero
 * are kept. */
static inline float pte_nearest(float x) {
  float magnitude = pte_abs(x);
  float whole = (magnitude + 8388608.0f) - 8388608.0f;
  return pte_pick(pte_mask(magnitude < 8388608.0f), pte_copysign(whole, x), x);
}

static inline float pte_floor(float x) {
  float n = pte_nearest(x);
  return pte_copysign(n - pte_pick(pte_mask(n > x), 1.0f, 0.0f), x);
}

static inline float pte_ceil(float x) {
  float n = pte_nearest(x);
  return pte_copysign(n + pte_pick(pte_mask(n < x), 1.0f, 0.0f), x);
}

static inline float pte_trunc(float x) {
  float magnitude = pte_abs(x), n = pte_nearest(magnitude);
  return pte_copysign(n - pte_pick(pte_mask(n > magnitude), 1.0f, 0.0f), x);
}

static inline double pte_nearest_f64(double x) {
  double magnitude = pte_abs_f64(x);
  double whole = (magnitude + 4503599627370496.0) - 4503599627370496.0;
  return pte_pick_f64(pte_mask_f64(magnitude < 4503599627370496.0), pte_copysign_f64(whole, x), x);
}

static inline double pte_floor_f64(double x) {
  double n = pte_nearest_f64(x);
  return pte_copysign_f64(n - pte_pick_f64(pte_mask_f64(n > x), 1.0, 0.0), x);
}

static inline double pte_ceil_f64(double x) {
  double n = pte_nearest_f64(x);
  return pte_copysign_f64(n + pte_pick_f64(pte_mask_f64(n < x), 1.0, 0.0), x);
}

static inline double pte_trunc_f64(double x) {
  double magnitude = pte_abs_f64(x), n = pte_nearest_f64(magnitude);
  return pte_copysign_f64(n - pte_pick_f64(pte_mask_f64(n > magnitude), 1.0, 0.0), x);
}

#endif
