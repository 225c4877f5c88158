#include "kernels/variants.h"

#include "pteron/pteron.h"

typedef struct variant_row {
  pte_family family;
  uint32_t features;
  const void *variant;
} variant_row;

static const variant_row rows[] = {
#define PTE_VARIANT(family, isa, features) {PTE_FAMILY_##family, features, &pte_##family##__##isa},
#include "gen/variants.inc"
#undef PTE_VARIANT
};

const void *pte_variant_pick(pte_family family, uint32_t cpu) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].family == family && (rows[i].features & cpu) == rows[i].features)
      return rows[i].variant;
  return NULL;
}
