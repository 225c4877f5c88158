/* The table of each family's variants. gen/variants.inc includes the families' headers. */
#include "kernels/variant.h"

#define PTE_VARIANTS(family)
#define PTE_VARIANTS_END
#define PTE_VARIANT(family, isa, features) extern const pte_##family pte_##family##__##isa;
#include "gen/variants.inc"
#undef PTE_VARIANT
#undef PTE_VARIANTS_END
#undef PTE_VARIANTS

#define PTE_VARIANTS(family)               const pte_variant pte_##family##_variants[] = {
#define PTE_VARIANT(family, isa, features) {features, &pte_##family##__##isa},
#define PTE_VARIANTS_END                                                                           \
  }                                                                                                \
  ;
#include "gen/variants.inc"
