/* Which CPU features kernels may use. */
#ifndef PTE_CPU_H
#define PTE_CPU_H

#include "pteron/pteron.h"

/* Features that the processor itself admits without an operating system: all of them on x86 (cpuid,
 * and xgetbv for the state that the system saves); NEON alone on 64-bit Arm, where only the system
 * knows more (pte_host_cpu). */
uint32_t pte_cpu_detect(void);

/* What a session asked for by `wanted` may use. On x86 it is never more than the processor has; on
 * Arm the caller's word is taken, for dotprod and i8mm cannot be asked for here. */
uint32_t pte_cpu_allow(uint32_t wanted);

#endif
