/* Steps of pointwise programs.
 * Written by schema/gen from schema/steps.py; do not edit. */
// clang-format off
#ifndef PTE_GEN_STEPS_H
#define PTE_GEN_STEPS_H

#include <stdint.h>

#define PTE_REGISTERS 16
#define PTE_MAX_STEPS 256

enum { /* compute types */
  PTE_STEP_F32 = 0,
  PTE_STEP_F64 = 1,
  PTE_STEP_I64 = 2,
  PTE_STEP_BOOL = 3,
};

enum { /* opcodes */
  PTE_STEP_LOAD = 1,
  PTE_STEP_STORE = 2,
  PTE_STEP_INDEX = 3,
  PTE_STEP_LITERAL = 4,
  PTE_STEP_CAST = 5,
  PTE_STEP_ROUND = 6,
  PTE_STEP_WRAP = 7,
  PTE_STEP_ADD = 10,
  PTE_STEP_SUB = 11,
  PTE_STEP_MUL = 12,
  PTE_STEP_DIV = 13,
  PTE_STEP_MOD = 14,
  PTE_STEP_FMOD = 15,
  PTE_STEP_MIN = 16,
  PTE_STEP_MAX = 17,
  PTE_STEP_NEG = 18,
  PTE_STEP_ABS = 19,
  PTE_STEP_SIGN = 20,
  PTE_STEP_POW = 21,
  PTE_STEP_FLOOR = 22,
  PTE_STEP_CEIL = 23,
  PTE_STEP_TRUNC = 24,
  PTE_STEP_NEAREST = 25,
  PTE_STEP_SQRT = 26,
  PTE_STEP_EXP = 30,
  PTE_STEP_LOG = 31,
  PTE_STEP_SIN = 32,
  PTE_STEP_COS = 33,
  PTE_STEP_TAN = 34,
  PTE_STEP_ASIN = 35,
  PTE_STEP_ACOS = 36,
  PTE_STEP_ATAN = 37,
  PTE_STEP_SINH = 38,
  PTE_STEP_COSH = 39,
  PTE_STEP_TANH = 40,
  PTE_STEP_ASINH = 41,
  PTE_STEP_ACOSH = 42,
  PTE_STEP_ATANH = 43,
  PTE_STEP_ERF = 44,
  PTE_STEP_LOG1P = 45,
  PTE_STEP_EXPM1 = 46,
  PTE_STEP_EQ = 50,
  PTE_STEP_LT = 51,
  PTE_STEP_LE = 52,
  PTE_STEP_SELECT = 53,
  PTE_STEP_IS_NAN = 54,
  PTE_STEP_IS_INF = 55,
  PTE_STEP_AND = 60,
  PTE_STEP_OR = 61,
  PTE_STEP_XOR = 62,
  PTE_STEP_NOT = 63,
  PTE_STEP_SHL = 64,
  PTE_STEP_SHR = 65,
  PTE_STEP_DIV_U64 = 70,
  PTE_STEP_MOD_U64 = 71,
  PTE_STEP_LT_U64 = 72,
  PTE_STEP_FROM_U64 = 73,
  PTE_STEP_TO_U64 = 74,
};

#define PTE_STEP_SAME 255 /* of `result`, `reads`: the compute type */

typedef struct pte_step_row {
  uint8_t types; /* bit t: compute type t is admitted; 0: no such opcode */
  uint8_t arity; /* registers read: a, b, c */
  uint8_t result;
  uint8_t reads[3];
} pte_step_row;

#define PTE_STEP_ROWS 75
extern const pte_step_row pte_step_rows[PTE_STEP_ROWS];

/* A build for known programs has no other steps than theirs: PTE_KEPT_STEPS, from pteron export
 * --kernel-list. Others are refused when a program is opened. */
#ifdef PTE_KEPT_STEPS
#define PTE_KEPT_IS(o, t, op, type) || ((op) == PTE_STEP_##o && (type) == PTE_STEP_##t)
#define PTE_KEPT_IS_OP(o, t, op, type) || (op) == PTE_STEP_##o
#define PTE_KEPT_IS_TYPE(o, t, op, type) || (type) == PTE_STEP_##t
#define PTE_STEP_KEPT(op, type) (0 PTE_KEPT_STEPS(PTE_KEPT_IS, op, type))
#define PTE_STEP_OP_KEPT(op) (0 PTE_KEPT_STEPS(PTE_KEPT_IS_OP, op, 0)) /* in any type */
#define PTE_STEP_TYPE_KEPT(type) (0 PTE_KEPT_STEPS(PTE_KEPT_IS_TYPE, 0, type)) /* any opcode */
#else
#define PTE_STEP_KEPT(op, type) 1
#define PTE_STEP_OP_KEPT(op) 1
#define PTE_STEP_TYPE_KEPT(type) 1
#endif
/* What a compiler may rely on where a step of this type is run. */
#define PTE_STEP_ONLY(op, type)                             \
  do {                                                      \
    if (!PTE_STEP_KEPT(op, type)) __builtin_unreachable();  \
  } while (0)
#endif
