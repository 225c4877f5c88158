/* Elementary functions of f64: multiplications and additions rounded apart, a few ulp, the same
 * bits on every target. Scalar and with branches, in core/math_f64.c; pte_turn_wide in
 * core/math_far.c. */
#ifndef PTE_MATH_F64_H
#define PTE_MATH_F64_H

#include <stdint.h>

double pte_exp_f64(double x);
double pte_log_f64(double x);
double pte_sin_f64(double x);
double pte_cos_f64(double x);
double pte_tan_f64(double x);
double pte_asin_f64(double x);
double pte_acos_f64(double x);
double pte_atan_f64(double x);
double pte_sinh_f64(double x);
double pte_cosh_f64(double x);
double pte_tanh_f64(double x);
double pte_asinh_f64(double x);
double pte_acosh_f64(double x);
double pte_atanh_f64(double x);
double pte_erf_f64(double x);
double pte_log1p_f64(double x);
double pte_expm1_f64(double x);
double pte_pow_f64(double x, double y);

/* Remainder of the division, of x's sign, exact; NaN where y is 0 or x infinite. */
double pte_fmod_f64(double x, double y);
float pte_fmod(float x, float y);

/* x = quarter * pi / 2 + r + rest, |r| <= pi / 4, for every finite x; `rest` is what r lost by
 * rounding. */
typedef struct pte_turn_f64 {
  double r, rest;
  uint32_t quarter;
} pte_turn_f64;
pte_turn_f64 pte_turn_wide(double x);

#endif
