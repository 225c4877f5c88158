/* core/math.h: what is emulated gives the bits of the instruction; conversions to half types are
 * exact. */
// sources: core/math_far.c core/math_f64.c
#include "check.h"
#include "core/half.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGET_FMA __attribute__((target("fma")))
static int has_fma(void) { return __builtin_cpu_supports("fma"); }
#elif defined(__aarch64__)
#define TARGET_FMA
static int has_fma(void) { return 1; }
#else
#define TARGET_FMA
static int has_fma(void) { return 0; }
#endif

static uint64_t state = 88172645463325252ull;
static uint32_t random_bits(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state >> 20);
}

static uint32_t canonical(float x) { return x != x ? 0x7fc00000u : pte_bits(x); }

static const uint32_t nasty[] = {
    0,          1,          2,          3,          0x7fffff,   0x7ffffe,   0x800000,
    0x800001,   0xffffff,   0x1000000,  0x3f800000, 0x3f800001, 0x3f7fffff, 0x3f000000,
    0x40000000, 0x40400000, 0x7f7fffff, 0x7f7ffffe, 0x7f000000, 0x7e800000, 0x7f800000,
    0x7fc00000, 0x33800000, 0x34000000, 0x33800001, 0x5f800000, 0x1f800000, 0x20000000,
    0x5f000000, 0x4b800000, 0x4b7fffff, 0x3fffffff, 0x3fc00000, 0x00400000, 0x0c000000};
enum { NASTY = sizeof nasty / sizeof *nasty };

static float signed_nasty(int i) { return pte_float(nasty[i / 2] | (uint32_t)(i & 1) << 31); }

TARGET_FMA static void check_fma(float a, float b, float c) {
  CHECK_EQUAL(canonical(pte_fma_emulated(a, b, c)), canonical(__builtin_fmaf(a, b, c)));
}

static void emulated_fma_of_special_numbers_is_the_instruction(void) {
  for (int i = 0; i < 2 * NASTY; i++)
    for (int j = 0; j < 2 * NASTY; j++)
      for (int k = 0; k < 2 * NASTY; k++)
        check_fma(signed_nasty(i), signed_nasty(j), signed_nasty(k));
}

/* c near -a b, or so far below or above it that the last bits decide a tie */
static void check_near(float a, float b) {
  uint32_t product = pte_bits(a * b), exponent = product >> 23 & 255, shift = random_bits() % 52;
  uint32_t up = exponent + shift < 255 ? exponent + shift : 254,
           down = exponent > shift ? exponent - shift : 0;
  uint32_t mantissa = random_bits() & 1 ? random_bits() & 0x7fffff : 1u << random_bits() % 23;
  uint32_t sign = random_bits() << 31;
  check_fma(a, b, -pte_float(product + random_bits() % 5 - 2));
  check_fma(a, b, pte_float(sign | up << 23 | mantissa));
  check_fma(a, b, pte_float(sign | down << 23 | (random_bits() & 1 ? mantissa : 0)));
}

static void emulated_fma_rounds_once(void) {
  for (int i = 0; i < 100000; i++) {
    uint32_t a = random_bits(), b = random_bits(), few = 0xffffffffu << random_bits() % 23;
    check_fma(pte_float(a), pte_float(b), pte_float(random_bits()));
    check_near(pte_float(a), pte_float(b)); /* any exponent: over- and underflow */
    check_near(pte_float((a & 0x83ffffff & few) | 0x3c000000),
               pte_float((b & 0x83ffffff & few) | 0x3c000000));
    check_near(
        pte_float((a & 0x807fffff & few) | (50 + random_bits() % 28) << 23), /* subnormal results */
        pte_float((b & 0x807fffff & few) | (40 + random_bits() % 28) << 23));
  }
}

static void square_root_by_digits_is_the_instruction(void) {
  for (int i = 0; i < 2 * NASTY; i++) {
    float x = signed_nasty(i);
    CHECK_EQUAL(canonical((float)pte_sqrt_digits((double)x, 24)), canonical(pte_sqrt(x)));
  }
  for (int i = 0; i < 200000; i++) {
    float x = pte_float(random_bits() & 0x7fffffff);
    uint64_t wide = ((uint64_t)random_bits() << 32 | random_bits()) & ~(1ull << 63);
    if (x < PTE_INFINITY)
      CHECK_EQUAL(pte_bits((float)pte_sqrt_digits((double)x, 24)), pte_bits(pte_sqrt(x)));
    if (wide < 0x7ffull << 52)
      CHECK_EQUAL(pte_bits_f64(pte_sqrt_digits(pte_double(wide), 53)),
                  pte_bits_f64(pte_sqrt_f64(pte_double(wide))));
  }
}

static void every_half_survives_the_way_to_f32_and_back(void) {
  for (uint32_t i = 0; i < 65536; i++) {
    uint16_t half = (uint16_t)i;
    float wide = pte_f32_from_f16(half), brain = pte_f32_from_bf16(half);
    if (wide == wide) CHECK_EQUAL(pte_f16_from_f32(wide), half);
    else CHECK_EQUAL((half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0, 1);
    if (brain == brain) CHECK_EQUAL(pte_bf16_from_f32(brain), half);
  }
}

/* Halfway between two neighbours the even one; a step beside it the nearer one. */
static void halves_round_to_nearest_even(void) {
  for (uint32_t i = 0; i < 0x7bff; i++) {
    float low = pte_f32_from_f16((uint16_t)i), high = pte_f32_from_f16((uint16_t)(i + 1));
    float middle = (low + high) * 0.5f; /* exact */
    CHECK_EQUAL(pte_f16_from_f32(middle), i + (i & 1));
    CHECK_EQUAL(pte_f16_from_f32(pte_float(pte_bits(middle) - 1)), i);
    CHECK_EQUAL(pte_f16_from_f32(-pte_float(pte_bits(middle) + 1)), (i + 1) | 0x8000);
  }
  CHECK_EQUAL(pte_f16_from_f32(65519.996f), 0x7bff);
  CHECK_EQUAL(pte_f16_from_f32(65520.0f), 0x7c00);
}

int main(void) {
  if (has_fma()) {
    emulated_fma_of_special_numbers_is_the_instruction();
    emulated_fma_rounds_once();
  }
  square_root_by_digits_is_the_instruction();
  every_half_survives_the_way_to_f32_and_back();
  halves_round_to_nearest_even();
  return check_done();
}
