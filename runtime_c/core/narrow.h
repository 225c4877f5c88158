/* Narrow elements: what the codes of the 8-, 6- and 4-bit floats mean, and f32 rounded to them.
 *
 * A code is sign, exponent, mantissa from the top; exponent 0 is subnormal. What lies at the top of
 * the range differs: IEEE    infinity, then NaNs               F8E5M2 FN      no infinity, all ones
 * is NaN      F8E4M3 FNUZ    NaN where -0 would be, no -0      F8E4M3FNUZ, F8E5M2FNUZ FINITE
 * neither infinity nor NaN          F6E2M3, F6E3M2, F4E2M1 F8E8M0 is a bare exponent: 2^(code -
 * 127), 255 is NaN, no zero, no sign. Source: OCP MX v1.0, OCP FP8, ONNX Cast. */
#ifndef PTE_NARROW_H
#define PTE_NARROW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pteron/types.h"

enum {
  PTE_NARROW_NONE,
  PTE_NARROW_IEEE,
  PTE_NARROW_FN,
  PTE_NARROW_FNUZ,
  PTE_NARROW_FINITE,
  PTE_NARROW_E8M0
};

typedef struct pte_narrow {
  uint8_t kind;
  uint8_t exponent, mantissa; /* bits */
  uint8_t bias;
  uint8_t top; /* largest finite code without its sign */
  uint8_t nan; /* FINITE: a zero of the other sign, as ml_dtypes has it */
} pte_narrow;

static inline pte_narrow pte_narrow_of(unsigned dtype) {
  switch (dtype) {
  case PTE_F8E4M3: return (pte_narrow){PTE_NARROW_FN, 4, 3, 7, 0x7e, 0x7f};
  case PTE_F8E5M2: return (pte_narrow){PTE_NARROW_IEEE, 5, 2, 15, 0x7b, 0x7e};
  case PTE_F8E4M3FNUZ: return (pte_narrow){PTE_NARROW_FNUZ, 4, 3, 8, 0x7f, 0x80};
  case PTE_F8E5M2FNUZ: return (pte_narrow){PTE_NARROW_FNUZ, 5, 2, 16, 0x7f, 0x80};
  case PTE_F6E2M3: return (pte_narrow){PTE_NARROW_FINITE, 2, 3, 1, 0x1f, 0x20};
  case PTE_F6E3M2: return (pte_narrow){PTE_NARROW_FINITE, 3, 2, 3, 0x1f, 0x20};
  case PTE_F4E2M1: return (pte_narrow){PTE_NARROW_FINITE, 2, 1, 1, 0x07, 0x08};
  case PTE_F8E8M0: return (pte_narrow){PTE_NARROW_E8M0, 8, 0, 127, 254, 255};
  default: return (pte_narrow){PTE_NARROW_NONE, 0, 0, 0, 0, 0};
  }
}

static inline float pte_narrow_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The number that `code` stands for: exact. */
static inline float pte_narrow_decode(pte_narrow n, uint32_t code) {
  uint32_t magnitude_bits = (uint32_t)n.exponent + n.mantissa, sign = code >> magnitude_bits << 31;
  uint32_t magnitude = code & ((1u << magnitude_bits) - 1);
  if (n.kind == PTE_NARROW_E8M0)
    return pte_narrow_float(code == 255 ? 0x7fc00000u : code == 0 ? 0x00400000u : code << 23);
  if (n.kind == PTE_NARROW_FNUZ && code == n.nan) return pte_narrow_float(0x7fc00000u);
  if (n.kind == PTE_NARROW_FN && magnitude == n.nan) return pte_narrow_float(0x7fc00000u | sign);
  if (n.kind == PTE_NARROW_IEEE && magnitude > n.top)
    return pte_narrow_float(sign | (magnitude == n.top + 1u ? 0x7f800000u : 0x7fc00000u));
  if (magnitude >> n.mantissa == 0) { /* subnormal: mantissa times the smallest one */
    float unit = pte_narrow_float((uint32_t)(127 + 1 - n.bias - n.mantissa) << 23);
    return sign ? -((float)magnitude * unit) : (float)magnitude * unit;
  }
  return pte_narrow_float(sign |
                          ((magnitude << (23 - n.mantissa)) + ((uint32_t)(127 - n.bias) << 23)));
}

/* |x| rounded to the format's grid, ties to even, as if its exponents had no end. */
static inline uint32_t pte_narrow_round(pte_narrow n, uint32_t magnitude) {
  uint32_t shift = 23u - n.mantissa, smallest = (uint32_t)(128 - n.bias) << 23;
  if (magnitude >= smallest) {
    uint32_t rounded = magnitude + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1);
    return (rounded >> shift) - ((uint32_t)(127 - n.bias) << n.mantissa);
  }
  /* Below the normal numbers the grid is that of the smallest exponent: adding 2^23 units leaves
   * whole units. */
  float unit = pte_narrow_float((uint32_t)(127 + 1 - n.bias - n.mantissa + 23) << 23);
  float sum = pte_narrow_float(magnitude) + unit;
  uint32_t bits, unit_bits;
  memcpy(&bits, &sum, sizeof bits);
  memcpy(&unit_bits, &unit, sizeof unit_bits);
  return bits - unit_bits;
}

/* To nearest, ties up; f32 subnormals to 0 or, above 2^-127, to 1, as ml_dtypes and ONNX have it.
 * Zero: 0 when saturating, else NaN; infinity and what is too large: the largest when saturating,
 * else NaN; negative: NaN. */
static inline uint32_t pte_narrow_encode_e8m0(uint32_t bits, bool saturate) {
  if (bits > 0x7f800000u) return bits == 0x80000000u && saturate ? 0 : 255;
  if (bits == 0) return saturate ? 0 : 255;
  if (bits < 0x00800000u) return bits > 0x00400000u;
  uint32_t code = (bits + 0x00400000u) >> 23;
  return code < 255 ? code : saturate ? 254 : 255;
}

/* x rounded to nearest, ties to even. Beyond the largest number: that number when saturating or
 * FINITE, else what the format has there, infinity or NaN. */
static inline uint32_t pte_narrow_encode(pte_narrow n, float x, bool saturate) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (n.kind == PTE_NARROW_E8M0) return pte_narrow_encode_e8m0(bits, saturate);
  uint32_t magnitude = bits & 0x7fffffffu, sign = bits >> 31 << (n.exponent + n.mantissa), code;
  if (magnitude > 0x7f800000u) return n.nan; /* of either sign, as half.h says */
  code = magnitude == 0x7f800000u ? n.top + 1u : pte_narrow_round(n, magnitude);
  if (code > n.top) {
    if (saturate || n.kind == PTE_NARROW_FINITE) code = n.top;
    else if (n.kind == PTE_NARROW_FNUZ) return n.nan;
    else code = n.kind == PTE_NARROW_FN ? n.nan : n.top + 1u;
  }
  return n.kind == PTE_NARROW_FNUZ && code == 0 ? 0 : code | sign;
}

/* Code `i` of a dense array of codes of 2, 4, 6 or 8 bits, the first in the low bits. */
static inline uint32_t pte_narrow_get(const uint8_t *data, int64_t i, unsigned bits) {
  uint64_t at = (uint64_t)i * bits;
  uint32_t shift = (uint32_t)(at % 8), code = (uint32_t)data[at / 8] >> shift;
  if (shift + bits > 8) code |= (uint32_t)data[at / 8 + 1] << (8 - shift);
  return code & ((1u << bits) - 1);
}

#endif
