/* The emulated fma against libm's, which is exactly rounded, over random and nasty bits. */
#include <math.h>

#include "check.h"
#include "core/math.h"

static uint64_t state = 88172645463325252ull;
static uint32_t random_bits(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state >> 20);
}
static float from_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static uint32_t to_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return f != f ? 0x7fc00000u : u;
}

/* zeros, subnormals, neighbours of powers of two, the largest, infinity, NaN */
static const uint32_t nasty[] = {
    0,          1,          2,          3,          0x7fffff,   0x7ffffe,   0x800000,   0x800001,
    0xffffff,   0x1000000,  0x3f800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x40000000, 0x40400000,
    0x7f7fffff, 0x7f7ffffe, 0x7f000000, 0x7e800000, 0x7f800000, 0x7fc00000, 0x7f800001, 0x33800000,
    0x34000000, 0x33800001, 0x5f800000, 0x1f800000, 0x20000000, 0x5f000000, 0x4b800000, 0x4b7fffff,
    0x3fffffff, 0x3fc00000, 0x00400000, 0x0c000000};
enum { NASTY = sizeof nasty / sizeof *nasty };

static void compare(float a, float b, float c) {
  CHECK_EQUAL(to_bits(pte_fma_emulated(a, b, c)), to_bits(fmaf(a, b, c)));
}

/* c near -a*b (cancellation), or so far below or above that the last bits decide a tie */
static void compare_near(float a, float b) {
  uint32_t u = to_bits(a * b), e = u >> 23 & 255, shift = random_bits() % 52;
  compare(a, b, -from_bits(u + random_bits() % 5 - 2));
  uint32_t up = e + shift < 255 ? e + shift : 254, down = e > shift ? e - shift : 0;
  uint32_t mantissa = random_bits() & 1 ? random_bits() & 0x7fffff : 1u << random_bits() % 23;
  compare(a, b, from_bits((random_bits() & 1u) << 31 | up << 23 | mantissa));
  compare(a, b,
          from_bits((random_bits() & 1u) << 31 | down << 23 | (random_bits() & 1 ? mantissa : 0)));
}

static void all_triples_of_nasty_values_agree(void) {
  for (unsigned i = 0; i < NASTY * 2; i++)
    for (unsigned j = 0; j < NASTY * 2; j++)
      for (unsigned k = 0; k < NASTY * 2; k++)
        compare(from_bits(nasty[i / 2] | (i & 1u) << 31), from_bits(nasty[j / 2] | (j & 1u) << 31),
                from_bits(nasty[k / 2] | (k & 1u) << 31));
}

static void random_bits_ties_and_cancellations_agree(void) {
  for (unsigned i = 0; i < 100000; i++) {
    uint32_t a = random_bits(), b = random_bits(), few = 0xffffffffu << random_bits() % 23;
    compare(from_bits(a), from_bits(b), from_bits(random_bits()));
    compare_near(from_bits(a), from_bits(b)); /* any exponent: over- and underflow */
    compare_near(from_bits((a & 0x83ffffff & few) | 0x3c000000),
                 from_bits((b & 0x83ffffff & few) | 0x3c000000));
    compare_near(
        from_bits((a & 0x807fffff & few) | (50 + random_bits() % 28) << 23), /* subnormal results */
        from_bits((b & 0x807fffff & few) | (40 + random_bits() % 28) << 23));
    compare(from_bits(nasty[a % NASTY] | (b & 0x80000000)), from_bits(b),
            from_bits(nasty[random_bits() % NASTY]));
  }
}

int main(void) {
  all_triples_of_nasty_values_agree();
  random_bits_ties_and_cancellations_agree();
  return check_done();
}
