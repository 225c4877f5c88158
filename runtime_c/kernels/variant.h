/* Kernel variants: the same function for different processors, with the same bits. A family is a
 * struct of functions, declared by kernels/<folder>/<family>.h; <family>__<isa>.c beside it defines
 * one variant, gen/variants.inc lists them, best first. */
#ifndef PTE_VARIANT_H
#define PTE_VARIANT_H

#include <stdint.h>

#include "core/cpu.h"

#define PTE_CPU_ANY 0u /* in a row of gen/variants.inc: needs no feature (PTE_CPU_*) */

/* A row of gen/variants.inc; a family's rows are a table of their own, so that a linker leaves out
 * the families that no operator of the build asks for. */
typedef struct pte_variant {
  uint32_t features;
  const void *functions;
} pte_variant;

/* The functions of the first row whose features are all in `cpu`. There is one: the last row needs
 * none, or what every processor has that the build is for (PTE_LEAST; prepare looks). */
static inline const void *pte_variant_pick(const pte_variant *row, uint32_t cpu) {
  while ((row->features & cpu) != row->features) row++;
  return row->functions;
}

/* pte_<family>_pick(cpu), typed: once for each family, in its header. */
#define PTE_FAMILY(name)                                                                           \
  extern const pte_variant pte_##name##_variants[];                                                \
  static inline const pte_##name *pte_##name##_pick(uint32_t cpu) {                                \
    return pte_variant_pick(pte_##name##_variants, cpu);                                           \
  }

#endif
