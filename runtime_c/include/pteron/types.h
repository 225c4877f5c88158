/* Element types, layouts, formats, CPU features.
 * Written by schema/gen from schema/program.fbs, formats.py and isas.py; do not edit. */
// clang-format off
#ifndef PTERON_TYPES_H
#define PTERON_TYPES_H

#include <stdint.h>

enum { /* DType */
  PTE_BOOL = 0,
  PTE_I8 = 1,
  PTE_I16 = 2,
  PTE_I32 = 3,
  PTE_I64 = 4,
  PTE_U8 = 5,
  PTE_U16 = 6,
  PTE_U32 = 7,
  PTE_U64 = 8,
  PTE_F16 = 9,
  PTE_BF16 = 10,
  PTE_F32 = 11,
  PTE_F64 = 12,
  PTE_F8E4M3 = 13,
  PTE_F8E5M2 = 14,
  PTE_F8E8M0 = 15,
  PTE_F6E2M3 = 16,
  PTE_F6E3M2 = 17,
  PTE_F4E2M1 = 18,
  PTE_I4 = 19,
  PTE_U4 = 20,
  PTE_I2 = 21,
  PTE_U2 = 22,
  PTE_F8E4M3FNUZ = 23,
  PTE_F8E5M2FNUZ = 24,
};
#define PTE_DTYPE_COUNT 25

enum { /* Layout */
  PTE_STRIDED = 0,
  PTE_PANELS = 1,
  PTE_TAPS = 2,
};
#define PTE_LAYOUT_COUNT 3

enum { /* storage formats */
  PTE_FORMAT_PLAIN = 0,
  PTE_FORMAT_I8 = 1,
  PTE_FORMAT_NF4 = 2,
  PTE_FORMAT_E4M3 = 3,
  PTE_FORMAT_MXFP8 = 4,
  PTE_FORMAT_MXFP6 = 5,
  PTE_FORMAT_MXFP4 = 6,
  PTE_FORMAT_I4 = 7,
  PTE_FORMAT_I4_F32 = 8,
  PTE_FORMAT_MXFP8_E5M2 = 10,
  PTE_FORMAT_MXFP6_E3M2 = 11,
  PTE_FORMAT_MXINT8 = 12,
  PTE_FORMAT_I4_ZERO = 13,
  PTE_FORMAT_I4_ZERO_F32 = 15,
  PTE_FORMAT_Q4_1 = 16,
  PTE_FORMAT_Q4_K = 17,
  PTE_FORMAT_Q5_0 = 18,
  PTE_FORMAT_Q5_K = 19,
  PTE_FORMAT_Q6_K = 20,
  PTE_FORMAT_Q8_0 = 21,
  PTE_FORMAT_IQ4_NL = 22,
  PTE_FORMAT_NVFP4 = 23,
  PTE_FORMAT_NF4_F32 = 24,
  PTE_FORMAT_NF4_E4M3 = 26,
  PTE_FORMAT_E5M2 = 27,
  PTE_FORMAT_I8_ZERO = 28,
  PTE_FORMAT_E2M1 = 29,
  PTE_FORMAT_FP4 = 30,
  PTE_FORMAT_E2M3 = 33,
  PTE_FORMAT_E3M2 = 34,
  PTE_FORMAT_Q5_1 = 35,
  PTE_FORMAT_IQ4_XS = 36,
  PTE_FORMAT_Q2_K = 37,
  PTE_FORMAT_I3 = 38,
  PTE_FORMAT_I3_F32 = 39,
  PTE_FORMAT_Q3_K = 40,
  PTE_FORMAT_I3_ZERO = 43,
  PTE_FORMAT_I2 = 48,
  PTE_FORMAT_I2_F32 = 49,
  PTE_FORMAT_I2_ZERO = 53,
};

/* CPU features: instruction sets that kernels are compiled for. */
#define PTE_CPU_AVX2       1u /* with FMA and F16C */
#define PTE_CPU_NEON       2u /* on every 64-bit Arm */
#define PTE_CPU_DOTPROD    4u /* sdot; with PTE_CPU_NEON */
#define PTE_CPU_I8MM       8u /* smmla; with PTE_CPU_DOTPROD */
#define PTE_CPU_AVX512     16u /* F, BW, DQ and VL; with PTE_CPU_AVX2 */
#define PTE_CPU_AVX512VNNI 32u /* VNNI and VBMI; with PTE_CPU_AVX512 */
#define PTE_CPU_AVXVNNI    64u /* VNNI without AVX-512; with PTE_CPU_AVX2 */
#define PTE_CPU_RVV        128u /* vectors 1.0 */
#define PTE_CPU_AMX        256u /* tiles of int8; with PTE_CPU_AVX512VNNI */
#define PTE_CPU_MVE        512u /* vectors of Cortex-M, Helium */
#define PTE_CPU_FEATURES 1023u /* all of them */

/* Bits of one element; 0: no such type. */
static inline unsigned pte_dtype_bits(unsigned dtype) {
  static const uint8_t bits[PTE_DTYPE_COUNT] = {8, 8, 16, 32, 64, 8, 16, 32, 64, 16, 16, 32, 64, 8, 8, 8, 6, 6, 4, 4, 4, 2, 2, 8, 8};
  return dtype < PTE_DTYPE_COUNT ? bits[dtype] : 0;
}

#endif
