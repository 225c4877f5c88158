/* core/math_f64.h: the ulp that the step rows promise, against the C library in long double;
 * remainders and angles of any size exactly. And the bits, which no release may change. */
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
  if (isinf(want)) return false;
  const long double most = (long double)DBL_MAX * (1 - 0x1p-51L);
  if (isinf(got) || isinf(rounded))
    return fabsl(want) > most && fabsl((long double)got) > most && signbit(got) == signbit(rounded);
  int exponent;
  (void)frexp(rounded, &exponent);
  long double unit = ldexpl(1.0L, exponent - 53 < -1074 ? -1074 : exponent - 53);
  return fabsl((long double)got - want) <= (long double)ulp * unit;
}

/* Goes on with a hash (FNV-1a) of results; all NaN are one. */
static void mix(uint64_t *hash, double got) {
  uint64_t bits = isnan(got) ? 0x7ff8000000000000ull : pte_bits_f64(got);
  for (int i = 0; i < 8; i++) *hash = (*hash ^ (bits >> 8 * i & 255)) * 0x100000001b3ull;
}
#define HASH_BEGIN 0xcbf29ce484222325ull

static void check_bits(const char *name, uint64_t hash, uint64_t expected) {
  if (hash == expected) return;
  printf("%s: bits 0x%016llxull, expected 0x%016llxull\n", name, (unsigned long long)hash,
         (unsigned long long)expected);
  failures++;
}

typedef struct function {
  const char *name;
  double (*mine)(double);
  long double (*wide)(long double);
  double ulp;
  uint64_t bits; /* of its results on the samples */
} function;

static const function functions[] = {
    {"exp",   pte_exp_f64,   expl,   2, 0xb12038df15eecf5full},
    {"log",   pte_log_f64,   logl,   2, 0x69ddcc74bd550fd0ull},
    {"sin",   pte_sin_f64,   sinl,   2, 0xfcf12a851cb66303ull},
    {"cos",   pte_cos_f64,   cosl,   2, 0x4f1f7060015d4a36ull},
    {"tan",   pte_tan_f64,   tanl,   3, 0xa91c7f06bb6aca37ull},
    {"asin",  pte_asin_f64,  asinl,  3, 0x6ce4852157220544ull},
    {"acos",  pte_acos_f64,  acosl,  3, 0x860ce2a0c31cb98full},
    {"atan",  pte_atan_f64,  atanl,  3, 0xfebb0105a6f7ac85ull},
    {"sinh",  pte_sinh_f64,  sinhl,  3, 0xb9e851a3b40876ceull},
    {"cosh",  pte_cosh_f64,  coshl,  3, 0xbe55943c62198588ull},
    {"tanh",  pte_tanh_f64,  tanhl,  3, 0x4206d4b317393f78ull},
    {"asinh", pte_asinh_f64, asinhl, 3, 0x26e8b8393d02eca0ull},
    {"acosh", pte_acosh_f64, acoshl, 3, 0xb2a8439a4ec81603ull},
    {"atanh", pte_atanh_f64, atanhl, 3, 0x8965b15494d79a45ull},
    {"erf",   pte_erf_f64,   erfl,   2, 0x7b94b0613fef66b9ull},
    {"log1p", pte_log1p_f64, log1pl, 2, 0x0d49b31cd24cfa21ull},
    {"expm1", pte_expm1_f64, expm1l, 2, 0x30b7bb89c9e51fe9ull}
};

static void each_function_has_the_bits_of_every_release(void) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    uint64_t hash = HASH_BEGIN;
    state = 88172645463325252ull;
    for (uint32_t i = 0; i < SAMPLES; i++) mix(&hash, functions[k].mine(sample(i)));
    check_bits(functions[k].name, hash, functions[k].bits);
  }
}

static void each_function_is_as_close_as_its_row_promises(void) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    const function *f = &functions[k];
    for (uint32_t i = 0; i < SAMPLES; i++) {
      double x = sample(i), got = f->mine(x);
      if (close_to(got, f->wide((long double)x), f->ulp)) continue;
      printf("%s(%a): expected %La, got %a\n", f->name, x, f->wide((long double)x), got);
      failures++;
      break;
    }
  }
}

static void check_power(double x, double y) {
  double got = pte_pow_f64(x, y);
  if (close_to(got, powl((long double)x, (long double)y), 2)) return;
  printf("pow(%a, %a): expected %La, got %a\n", x, y, powl((long double)x, (long double)y), got);
  failures++;
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

static void powers_have_the_bits_of_every_release(void) {
  uint64_t hash = HASH_BEGIN;
  state = 88172645463325252ull;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    double x = sample(i), near = 1 + (double)(int64_t)random_bits() * 0x1p-68;
    mix(&hash, pte_pow_f64(x, (double)(int64_t)random_bits() * 0x1p-60));
    mix(&hash, pte_pow_f64(x, (double)(int)(random_bits() % 41) - 20));
    mix(&hash, pte_pow_f64(near, (double)(int64_t)random_bits() * 0x1p-50));
  }
  check_bits("pow", hash, 0xbef6374a5bd6f8abull);
}

static void remainders_are_those_of_c(void) {
  for (uint32_t i = 0; i < 100000; i++) {
    double x = sample(i % SAMPLES), y = i % 3 ? pte_double(random_bits()) : sample(i * 7 % SAMPLES);
    double got = pte_fmod_f64(x, y), want = fmod(x, y);
    CHECK(isnan(want) ? isnan(got) : pte_bits_f64(got) == pte_bits_f64(want));
    float p = pte_float((uint32_t)random_bits()), q = pte_float((uint32_t)(random_bits() >> 7));
    float less = pte_fmod(p, q), wanted = fmodf(p, q);
    CHECK(isnan(wanted) ? isnan(less) : pte_bits(less) == pte_bits(wanted));
    x = pte_double(random_bits() >> (12 + i % 52)),
    y = pte_double(random_bits() >> (12 + i / 52 % 52));
    if (y != 0) CHECK(pte_fmod_f64(x, y) == fmod(x, y)); /* neither has a leading one of its own */
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

/* Those that come closest to a multiple of pi / 2: all but one of a hundred bits cancel. */
static void angles_next_to_a_quarter_keep_their_digits(void) {
  static const double near[] = {0x1.6ac5b262ca1ffp+849, 0x1.13dd7a9f1a3aap+60, 0x1.921fb54442d18p+0,
                                0x1.2d97c7f3321d2p+1, 0x1.6bf9e59eba2a5p+20};
  for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
    CHECK(close_to(pte_sin_f64(near[i]), sinl((long double)near[i]), 2));
    CHECK(close_to(pte_cos_f64(near[i]), cosl((long double)near[i]), 2));
    CHECK(close_to(pte_tan_f64(near[i]), tanl((long double)near[i]), 3));
  }
}

static void far_angles_have_the_bits_of_every_release(void) {
  uint64_t hash = HASH_BEGIN;
  state = 88172645463325252ull;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    float x = pte_float((uint32_t)random_bits());
    mix(&hash, (double)pte_sin_far(x));
    mix(&hash, (double)pte_cos_far(x));
    mix(&hash, (double)pte_tan_far(x));
  }
  check_bits("far", hash, 0x3612060592debf18ull);
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
  static const float none[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; i++)
    CHECK(isnan(pte_sin_far(none[i])) && isnan(pte_cos_far(none[i])) &&
          isnan(pte_tan_far(none[i])));
}

int main(void) {
  if (LDBL_MANT_DIG > DBL_MANT_DIG) { /* else the library has no better answer */
    each_function_is_as_close_as_its_row_promises();
    powers_are_close_and_have_the_special_values_of_c();
    angles_of_any_size_turn_into_one_quarter();
    angles_next_to_a_quarter_keep_their_digits();
  }
  each_function_has_the_bits_of_every_release();
  powers_have_the_bits_of_every_release();
  far_angles_have_the_bits_of_every_release();
  remainders_are_those_of_c();
  far_angles_of_f32_are_close();
  return check_done();
}
