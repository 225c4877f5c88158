/* combine: the element operations of scatter_elements and scatter_nd, one function for each type
 * and reduction. */
#include "kernels/moving/combine.h"

#include <stdbool.h>

#define LOOP(name, type, body)                                                                     \
  static void name(void *y, int64_t y_step, const void *u, int64_t u_step, int64_t count) {        \
    for (int64_t i = 0; i < count; i++) {                                                          \
      type *to = (type *)y + i * y_step, a = *to, b = ((const type *)u)[i * u_step];               \
      (void)a;                                                                                     \
      *to = (type)(body);                                                                          \
    }                                                                                              \
  }

/* Through unsigned 64 bits: signed overflow has no meaning in C. */
#define INTEGER(name, type)                                                                        \
  LOOP(name##_add, type, (uint64_t)a + (uint64_t)b)                                                \
  LOOP(name##_mul, type, (uint64_t)a *(uint64_t)b)                                                 \
  LOOP(name##_max, type, a > b ? a : b)                                                            \
  LOOP(name##_min, type, a < b ? a : b)

#define FLOAT(name, type)                                                                          \
  LOOP(name##_add, type, a + b)                                                                    \
  LOOP(name##_mul, type, a *b)                                                                     \
  LOOP(name##_max, type, a > b || a != a ? a : b)                                                  \
  LOOP(name##_min, type, a < b || a != a ? a : b)

INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(i64, int64_t)
INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
INTEGER(u64, uint64_t)
FLOAT(f32, float)
FLOAT(f64, double)
LOOP(bool_or, uint8_t, a | b)
LOOP(bool_and, uint8_t, a &b)
LOOP(move_8, uint8_t, b)
LOOP(move_16, uint16_t, b)
LOOP(move_32, uint32_t, b)
LOOP(move_64, uint64_t, b)

#define ROW(name) {name##_add, name##_mul, name##_max, name##_min}

static const pte_combine rows[PTE_DTYPE_COUNT][4] = {
    [PTE_BOOL] = {bool_or, bool_and, bool_or, bool_and},
    [PTE_I8] = ROW(i8),
    [PTE_I16] = ROW(i16),
    [PTE_I32] = ROW(i32),
    [PTE_I64] = ROW(i64),
    [PTE_U8] = ROW(u8),
    [PTE_U16] = ROW(u16),
    [PTE_U32] = ROW(u32),
    [PTE_U64] = ROW(u64),
    [PTE_F32] = ROW(f32),
    [PTE_F64] = ROW(f64),
};

pte_combine pte_combine_pick(unsigned dtype, unsigned reduction) {
  if (reduction > 0)
    return dtype < PTE_DTYPE_COUNT && reduction <= 4 ? rows[dtype][reduction - 1] : NULL;
  switch (pte_dtype_bits(dtype)) {
  case 8: return move_8;
  case 16: return move_16;
  case 32: return move_32;
  case 64: return move_64;
  default: return NULL;
  }
}
