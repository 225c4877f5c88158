#include "kernels/variants.h"

#define PTE_VARIANTS(family)               const pte_variant pte_##family##_variants[] = {
#define PTE_VARIANT(family, isa, features) {features, &pte_##family##__##isa},
#define PTE_VARIANTS_END                                                                           \
  }                                                                                                \
  ;
#include "gen/variants.inc"
