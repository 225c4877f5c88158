#include "kernels/requantize/rescale_i16.h"

void pte_rescale_i16_complete(pte_rescale_columns *c, const int8_t *shifts) {
  for (size_t n = 0; n < PTE_PANEL; n++) c->down[n] = shifts[n] - 32;
  pte_rescale_lift(c);
  c->narrow = true;
  for (size_t n = 0; n < PTE_PANEL; n++) {
    const int32_t down = c->down[n] < 1 ? 1 : c->down[n];
    c->add[n] = down - c->down[n], c->down[n] = down;
    if (c->add[n] != 0) c->narrow = false;
  }
}
