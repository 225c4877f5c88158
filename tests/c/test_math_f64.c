/* core/math_f64.h: the ulp that the step rows promise, against the C library in long double;
 * remainders and angles of any size exactly. */
// sources: core/math_far.c core/math_f64.c
#define _GNU_SOURCE
#include <float.h>
#include <math.h>

#include "check.h"
#include "core/math.h"

static uint64_t state = 88172645463325252ull;
static uint64_t random_bits(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

/* Where functions change their formula, or end. */
static const double edges[] = {
    0.0,        0x1p-1022, 0x1p-1074, 0x1p-28,   1e-8,      0.1716,    0.25,   0.347,  0.375,
    0.41421356, 0.4375,    0.5,       0.6875,    0.7071068, 0.84375,   1.0,    1.0397, 1.1875,
    1.25,       1.4142136, 1.5,       1.5707963, 2.0,       2.4142136, 2.4375, 2.857,  3.14159,
    4.0,        6.0,       20.0,      22.0,      28.0,      36.7,      40.0,   56.0,   88.7,
    104.0,      708.4,     709.78,    710.4758,  745.13,    0x1p20,    1e6,    0x1p26, 0x1p52,
    0x1p53,     1e300,     0x1p1023,  DBL_MAX,   INFINITY};
enum { EDGES = sizeof edges / sizeof *edges, RANDOM = 20000 };

/* Edges with 20 neighbours on either side, then every exponent, then -16 to 16; either sign. */
static double sample(uint32_t i) {
  double sign = i & 1 ? -1.0 : 1.0;
  i >>= 1;
  if (i < EDGES * 41) {
    int64_t bits = (int64_t)pte_bits_f64(edges[i / 41]) + (int64_t)(i % 41) - 20;
    return sign * pte_double(bits < 0 ? 0 : (uint64_t)bits);
  }
  if (i % 2) return sign * pte_double(random_bits() >> 1);
  return sign * (double)(random_bits() >> 11) * 0x1p-49;
}
enum { SAMPLES = 2 * (EDGES * 41 + RANDOM) };

/* NaN for NaN, infinities and signs of zero alike, else within `ulp` units of the last place. */
static bool close_to(double got, long double want, double ulp) {
  double rounded = (double)want;
  if (isnan(rounded) || isnan(got)) return isnan(rounded) && isnan(got);
  if (got == rounded) return got != 0 || signbit(got) == signbit(rounded);
  if (isinf(got) || isinf(rounded)) return fabsl(want) > (long double)DBL_MAX * (1 - 0x1p-51L);
  int exponent;
  (void)frexp(rounded, &exponent);
  long double unit = ldexpl(1.0L, exponent - 53 < -1074 ? -1074 : exponent - 53);
  return fabsl((long double)got - want) <= (long double)ulp * unit;
}

typedef struct function {
  const char *name;
  double (*mine)(double);
  long double (*wide)(long double);
  double ulp;
} function;

static const function functions[] = {
    {"exp",   pte_exp_f64,   expl,   2},
    {"log",   pte_log_f64,   logl,   2},
    {"sin",   pte_sin_f64,   sinl,   2},
    {"cos",   pte_cos_f64,   cosl,   2},
    {"tan",   pte_tan_f64,   tanl,   3},
    {"asin",  pte_asin_f64,  asinl,  3},
    {"acos",  pte_acos_f64,  acosl,  3},
    {"atan",  pte_atan_f64,  atanl,  3},
    {"sinh",  pte_sinh_f64,  sinhl,  3},
    {"cosh",  pte_cosh_f64,  coshl,  3},
    {"tanh",  pte_tanh_f64,  tanhl,  3},
    {"asinh", pte_asinh_f64, asinhl, 3},
    {"acosh", pte_acosh_f64, acoshl, 3},
    {"atanh", pte_atanh_f64, atanhl, 3},
    {"erf",   pte_erf_f64,   erfl,   2},
    {"log1p", pte_log1p_f64, log1pl, 2},
    {"expm1", pte_expm1_f64, expm1l, 2}
};

static void each_function_is_as_close_as_its_row_promises(void) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    const function *f = &functions[k];
    for (uint32_t i = 0; i < SAMPLES; i++) {
      double x = sample(i), got = f->mine(x);
      if (close_to(got, f->wide((long double)x), f->ulp)) continue;
      printf("%s(%a): expected %La, got %a\n", f->name, x, f->wide((long double)x), got);
      CHECK(!"within its ulp");
      break;
    }
  }
}

static void check_power(double x, double y) {
  double got = pte_pow_f64(x, y);
  if (close_to(got, powl((long double)x, (long double)y), 2)) return;
  printf("pow(%a, %a): expected %La, got %a\n", x, y, powl((long double)x, (long double)y), got);
  CHECK(!"within its ulp");
}

static void powers_are_close_and_have_the_special_values_of_c(void) {
  const double special[] = {0.0,  -0.0,  1.0,    -1.0,   2.0,   -2.0,     3.0,
                            0.5,  -0.5,  -3.0,   2.5,    NAN,   INFINITY, -INFINITY,
                            1e10, 1e-10, 0x1p53, 1025.0, 1e308, 0x1p-1074};
  enum { SPECIAL = sizeof special / sizeof *special };
  for (int i = 0; i < SPECIAL * SPECIAL; i++)
    check_power(special[i / SPECIAL], special[i % SPECIAL]);
  for (uint32_t i = 0; i < 200000 && failures == 0; i++) {
    double x = sample(i % SAMPLES), near = 1 + (double)(int64_t)random_bits() * 0x1p-68;
    check_power(x, (double)(int64_t)random_bits() * 0x1p-60);
    check_power(x, (double)(int)(random_bits() % 41) - 20);
    check_power(near, (double)(int64_t)random_bits() * 0x1p-50);
  }
}

static void remainders_are_those_of_c(void) {
  for (uint32_t i = 0; i < 100000; i++) {
    double x = sample(i % SAMPLES), y = i % 3 ? pte_double(random_bits()) : sample(i * 7 % SAMPLES);
    double got = pte_fmod_f64(x, y), want = fmod(x, y);
    CHECK(isnan(want) ? isnan(got) : pte_bits_f64(got) == pte_bits_f64(want));
    float p = pte_float((uint32_t)random_bits()), q = pte_float((uint32_t)(random_bits() >> 7));
    float less = pte_fmod(p, q), wanted = fmodf(p, q);
    CHECK(isnan(wanted) ? isnan(less) : pte_bits(less) == pte_bits(wanted));
    if (failures != 0) return;
  }
}

static void angles_of_any_size_turn_into_one_quarter(void) {
  for (uint32_t i = 0; i < SAMPLES; i++) {
    double x = sample(i);
    if (!(fabs(x) < (double)INFINITY)) continue;
    pte_turn_f64 t = pte_turn_wide(x);
    long double r = (long double)t.r + (long double)t.rest;
    long double sine = t.quarter & 1 ? cosl(r) : sinl(r);
    CHECK(t.quarter < 4 && fabsl(r) <= 0.78539816339744831L * (1 + 1e-9L));
    CHECK(fabsl((t.quarter & 2 ? -sine : sine) - sinl((long double)x)) <= 1e-18L);
    if (failures != 0) {
      printf("turn of %a\n", x);
      return;
    }
  }
}

static void far_angles_of_f32_are_close(void) {
  for (uint32_t i = 0; i < 200000 && failures == 0; i++) {
    float x = pte_float((uint32_t)random_bits());
    if (!(fabsf(x) > 1000.0f)) continue;
    CHECK(isinf(x) ? isnan(pte_sin_far(x)) && isnan(pte_cos_far(x)) && isnan(pte_tan_far(x))
                   : fabs((double)pte_sin_far(x) - sin((double)x)) < 0x1p-23 &&
                         fabs((double)pte_cos_far(x) - cos((double)x)) < 0x1p-23 &&
                         fabs((double)pte_tan_far(x) / tan((double)x) - 1) < 0x1p-21);
  }
  CHECK(isnan(pte_sin_far(NAN)) && isnan(pte_cos_far(NAN)) && isnan(pte_tan_far(NAN)));
}

int main(void) {
  if (LDBL_MANT_DIG > DBL_MANT_DIG) { /* else the library has no better answer */
    each_function_is_as_close_as_its_row_promises();
    powers_are_close_and_have_the_special_values_of_c();
    angles_of_any_size_turn_into_one_quarter();
  }
  remainders_are_those_of_c();
  far_angles_of_f32_are_close();
  return check_done();
}
