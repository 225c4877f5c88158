/* The nearest of NF4's 16 levels, the lower one of a tie. */
#ifndef PTE_CODEC_LEVELS_H
#define PTE_CODEC_LEVELS_H

#include "codec/block.h"
#include "gen/layout.h"

enum { PTE_LEVELS = 16 };

static inline void pte_set_middles(float *middle) {
  for (size_t l = 0; l + 1 < PTE_LEVELS; l++)
    middle[l] = (pte_nf4_values[l] + pte_nf4_values[l + 1]) / 2;
}

PTE_ALWAYS uint8_t pte_code_level(float x, const float *middle) {
  int32_t code = 0;
  for (size_t l = 0; l + 1 < PTE_LEVELS; l++) code += x > middle[l];
  return (uint8_t)code;
}

static inline void pte_nearest_level(const float *w, size_t size, float step, uint8_t *codes) {
  float middle[PTE_LEVELS - 1];
  pte_set_middles(middle);
  for (size_t i = 0; i < size; i++) codes[i] = pte_code_level(w[i] / step, middle);
}

#endif
