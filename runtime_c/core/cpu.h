/* Which CPU features kernels may use. */
#ifndef PTE_CPU_H
#define PTE_CPU_H

#include <stdbool.h>

#include "pteron/pteron.h"

/* An instruction set of this machine, and what it is known by: a row of schema/isas.py. Rows that a
 * row needs stand above it. */
typedef struct pte_isa {
  uint32_t feature, needs; /* PTE_CPU_* */
#if defined(__x86_64__) || defined(__i386__)
  uint32_t cpuid[5]; /* bits of leaf 1 ecx, leaf 7 ebx and ecx, leaf 7.1 eax, leaf 7 edx; all must
                        be set */
  uint32_t state;    /* registers that the system saves (XCR0) */
#else
  uint32_t hwcap, hwcap2; /* Linux; none, nor a name: each processor has it */
  const char *sysctl;     /* Apple */
#endif
} pte_isa;

extern const pte_isa pte_isas[];
extern const size_t pte_isa_count;

/* What every processor has that the build is for: variants below it are left out, and a session
 * that may not use it is refused. */
#ifndef PTE_LEAST
#define PTE_LEAST 0u
#endif

/* State that the system saves only for a process that asked for it (pte_host_cpu): tiles. */
#define PTE_STATE_ON_REQUEST 0x60000u

/* Features that the processor itself admits without an operating system: on x86 (cpuid, and xgetbv
 * for the state that the system saves) all but those whose state is on request; NEON alone on
 * 64-bit Arm, where only the system knows more (pte_host_cpu), as it alone knows of RISC-V. */
uint32_t pte_cpu_detect(void);

/* What a session asked for by `wanted` may use. On x86 it is never more than the processor has, and
 * whoever names a feature whose state is on request has made that; on Arm the caller's word is
 * taken, for dotprod and i8mm cannot be asked for here. */
uint32_t pte_cpu_allow(uint32_t wanted);

#endif
