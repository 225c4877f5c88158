/* Tables of 256 codes on NEON: a lookup a quarter of the table; outside of it the lanes stay. */
#if PTE_HAVE_NEON
#include <arm_neon.h>

#include "kernels/pointwise/code_table.h"

static void recode(const uint8_t *table, size_t n, const uint8_t *x, uint8_t *y) {
  const uint8x16x4_t a = vld1q_u8_x4(table), b = vld1q_u8_x4(table + 64);
  const uint8x16x4_t c = vld1q_u8_x4(table + 128), d = vld1q_u8_x4(table + 192);
  const uint8x16_t quarter = vdupq_n_u8(64);
  size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    uint8x16_t code = vld1q_u8(x + i), made = vqtbl4q_u8(a, code);
    made = vqtbx4q_u8(made, b, code = vsubq_u8(code, quarter));
    made = vqtbx4q_u8(made, c, code = vsubq_u8(code, quarter));
    vst1q_u8(y + i, vqtbx4q_u8(made, d, vsubq_u8(code, quarter)));
  }
  for (; i < n; i++) y[i] = table[x[i]];
}

const pte_code_table pte_code_table__neon = {.recode = recode};
#else
typedef int pte_code_table__neon_is_absent;
#endif
