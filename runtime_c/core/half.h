/* f16 and bf16 to f32 and back: exact, and to nearest with ties to even. Branch-free, in integer
 * operations that compilers vectorise. Every NaN becomes the same positive one: which sign a NaN
 * has that arithmetic made depends on the processor, and must not reach bytes that are hashed or
 * cast. */
#ifndef PTE_HALF_H
#define PTE_HALF_H

#include "core/math.h"

static inline float pte_f32_from_bf16(uint16_t half) { return pte_float((uint32_t)half << 16); }

static inline uint16_t pte_bf16_from_f32(float x) {
  uint32_t bits = pte_bits(x);
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  uint32_t nan = pte_mask((bits & 0x7fffffffu) > 0x7f800000u);
  return (uint16_t)((rounded & ~nan) | (0x7fc0u & nan));
}

/* The bits moved into place are the value times 2^-112, subnormals included; infinity and NaN come
 * out too small and get their exponent set. */
static inline float pte_f32_from_f16(uint16_t half) {
  uint32_t magnitude = (uint32_t)(half & 0x7fffu) << 13;
  uint32_t scaled = pte_bits(pte_float(magnitude) * 0x1p112f);
  uint32_t special = pte_mask(magnitude >= 0x0f800000u);
  uint32_t bits = (scaled & ~special) | ((magnitude | 0x7f800000u) & special);
  return pte_float(bits | (uint32_t)(half & 0x8000u) << 16);
}

/* Below 2^-14 the sum with 0.5 rounds at the right place; above it an integer addition does.
 * Source: F. Giesen, float_to_half_fast3_rtne. */
static inline uint16_t pte_f16_from_f32(float x) {
  uint32_t magnitude = pte_bits(x) & 0x7fffffffu;
  uint32_t small = pte_bits(pte_float(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13;
  uint32_t is_small = pte_mask(magnitude < 0x38800000u);
  uint32_t is_large = pte_mask(magnitude >= 0x47800000u); /* 65536 and more, infinity, NaN */
  uint32_t large = 0x7c00u | (0x200u & pte_mask(magnitude > 0x7f800000u));
  uint32_t half = (small & is_small) | (normal & ~is_small & ~is_large) | (large & is_large);
  uint32_t number = pte_mask(magnitude <= 0x7f800000u);
  return (uint16_t)(half | (pte_bits(x) >> 16 & 0x8000u & number));
}

#endif
