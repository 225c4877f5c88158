/* What instruction sets are known by.
 * Written by schema/gen from schema/isas.py; do not edit. */
// clang-format off

#include "core/cpu.h"

const pte_isa pte_isas[] = {
#if defined(__x86_64__) || defined(__i386__)
  {1u, 0u, {0x30001000u, 0x20u, 0x0u, 0x0u, 0x0u}, 0x6u},
  {64u, 1u, {0x0u, 0x0u, 0x0u, 0x10u, 0x0u}, 0x0u},
  {16u, 1u, {0x0u, 0xc0030000u, 0x0u, 0x0u, 0x0u}, 0xe6u},
  {32u, 16u, {0x0u, 0x0u, 0x802u, 0x0u, 0x0u}, 0x0u},
  {256u, 32u, {0x0u, 0x0u, 0x0u, 0x0u, 0x3000000u}, 0x60000u},
#elif defined(__aarch64__)
  {2u, 0u, 0x0u, 0x0u, NULL},
  {4u, 2u, 0x100000u, 0x0u, "hw.optional.arm.FEAT_DotProd"},
  {8u, 4u, 0x0u, 0x2000u, "hw.optional.arm.FEAT_I8MM"},
#elif defined(__riscv) && __riscv_xlen == 64
  {128u, 0u, 0x200000u, 0x0u, NULL},
#elif defined(__ARM_FEATURE_MVE)
  {512u, 0u, 0x0u, 0x0u, NULL},
#endif
  {0} /* none stands behind it */
};
const size_t pte_isa_count = sizeof pte_isas / sizeof *pte_isas - 1;
