/* nvfp4: E2M1 in blocks of 16 whose scales are E4M3 times an f32 of the row. */
#include "codec/nested.h"

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  for (size_t i = 0; i < size; i++) codes[i] = pte_code_float(w[i] / step, 6.0f, 2, 1);
}

PTE_NESTED_CODEC(nvfp4, 16, 6.0f, nearest)
