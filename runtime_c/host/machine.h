/* What is known of processors of a family, where neither they nor the system say it. */
#ifndef PTE_HOST_MACHINE_H
#define PTE_HOST_MACHINE_H

#include "pteron/pteron.h"

/* Words of cpuid: the first letters of the vendor's name, and leaf 1. An unknown family leaves `m`
 * as it is. */
enum { PTE_CPUID_INTEL = 0x756e6547, PTE_CPUID_AMD = 0x68747541 };
void pte_machine_family(uint32_t vendor, uint32_t signature, pte_machine *m);

#endif
