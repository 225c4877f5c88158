/* Vectors of 128 bytes: loads, stores, and TOSA's RESCALE in 32 lanes. */
#ifndef PTE_HEXAGON_VECTOR_H
#define PTE_HEXAGON_VECTOR_H

#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>

#include "delegates/hexagon/protocol.h"

typedef HVX_Vector vector;
typedef HVX_VectorPair vector_pair;
typedef int32_t word __attribute__((may_alias));
typedef uint64_t double_word __attribute__((may_alias));

static inline vector load(const uint8_t *from) { return *(const HVX_UVector *)from; }
static inline void store(uint8_t *to, vector v) { *(HVX_UVector *)to = v; }

/* The vector of bytes `code`. */
static inline vector splat_byte(int32_t code) {
  return Q6_V_vsplat_R((int32_t)((uint32_t)(code & 255) * 0x01010101u));
}

/* `count` bytes, in steps of 8 where both sides allow it. */
static inline void copy_bytes(uint8_t *to, const uint8_t *from, uint32_t count) {
  uint32_t i = 0;
  if ((((uintptr_t)to | (uintptr_t)from) & 7) == 0)
    for (; i + 8 <= count; i += 8) *(double_word *)(to + i) = *(const double_word *)(from + i);
  for (; i < count; i++) {
    to[i] = from[i];
    __asm__ volatile("" ::: "memory");
  }
}

/* The first `count` bytes of v, at most 128. */
static inline void store_part(uint8_t *to, vector v, uint32_t count) {
  vector spilled = v;
  if (count >= HEXAGON_ALIGN) store(to, v);
  else copy_bytes(to, (const uint8_t *)&spilled, count);
}

/* RESCALE of TOSA, scale32, SINGLE_ROUND: (v * multiplier + 2^(shift - 1)) >> shift, shift in 2 to
 * 62, a multiplier and a shift a lane. With t = shift - 1 it is ((v * multiplier >> t) + 1) >> 1:
 * one shift of the 64-bit product, which saturates, then halving. Beyond 2^30 results are clamped.
 */
static inline vector scaled(vector v, vector multiplier, vector shift) {
  vector zero = Q6_V_vzero(), one = Q6_V_vsplat_R(1), last = Q6_V_vsplat_R(31);
  vector_pair product = Q6_W_vmpyoacc_WVwVh(Q6_W_vmpye_VwVuh(v, multiplier), v, multiplier);
  vector low = Q6_V_lo_W(product), high = Q6_V_hi_W(product);
  vector t = Q6_Vw_vsub_VwVw(shift, one), near_t = Q6_Vw_vmin_VwVw(t, last);
  vector near = Q6_V_vor_VV(Q6_Vw_vlsr_VwVw(low, near_t),
                            Q6_Vw_vasl_VwVw(high, Q6_Vw_vsub_VwVw(Q6_V_vsplat_R(32), near_t)));
  vector sign = Q6_Vw_vasr_VwVw(high, last);
  HVX_VectorPred fits =
      Q6_Q_vcmp_eq_VwVw(Q6_Vw_vasr_VwVw(high, Q6_Vw_vsub_VwVw(near_t, one)), sign);
  near = Q6_V_vmux_QVV(fits, near, Q6_V_vxor_VV(sign, Q6_V_vsplat_R(0x7fffffff)));
  vector far = Q6_Vw_vasr_VwVw(high, Q6_Vw_vmax_VwVw(Q6_Vw_vsub_VwVw(t, Q6_V_vsplat_R(32)), zero));
  vector shifted = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VwVw(t, last), far, near);
  return Q6_Vw_vasr_VwVw(Q6_Vw_vadd_VwVw_sat(shifted, one), one);
}

/* What follows a sum: rescale, zero point, clamp. */
typedef struct finish {
  vector zero, low, high;
} finish;

static inline finish finish_of(const hexagon_op *op) {
  return (finish){Q6_V_vsplat_R(op->y_zero), Q6_V_vsplat_R(op->low), Q6_V_vsplat_R(op->high)};
}

static inline vector finished(const finish *f, vector sum, vector multiplier, vector shift) {
  vector y = Q6_Vw_vadd_VwVw_sat(scaled(sum, multiplier, shift), f->zero);
  return Q6_Vw_vmax_VwVw(Q6_Vw_vmin_VwVw(y, f->high), f->low);
}

/* Four vectors of words to one of bytes, in order. */
static inline vector packed(const vector *words) {
  return Q6_Vb_vpack_VhVh_sat(Q6_Vh_vpack_VwVw_sat(words[3], words[2]),
                              Q6_Vh_vpack_VwVw_sat(words[1], words[0]));
}

/* One vector of bytes to four of words, in order. */
static inline void unpacked(vector bytes, vector *words) {
  vector_pair halves = Q6_Wh_vunpack_Vb(bytes);
  vector_pair first = Q6_Ww_vunpack_Vh(Q6_V_lo_W(halves));
  vector_pair second = Q6_Ww_vunpack_Vh(Q6_V_hi_W(halves));
  words[0] = Q6_V_lo_W(first), words[1] = Q6_V_hi_W(first);
  words[2] = Q6_V_lo_W(second), words[3] = Q6_V_hi_W(second);
}

#endif
