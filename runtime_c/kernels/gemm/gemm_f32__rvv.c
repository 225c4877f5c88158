/* f32 matrix tiles on RISC-V's vectors: 6 x 16. A line of a panel is a group of four registers
 * where a register has 128 bits, and part of it where it has more: 24 registers of sums, 4 of
 * weights. K in order, in one fused multiply-add each. */
#if PTE_HAVE_RVV
#include "kernels/gemm/finish.h"
#include "kernels/gemm/gemm_f32.h"

#define INLINE      static inline __attribute__((always_inline))
#define LOAD(p)     __riscv_vle32_v_f32m4(p, PTE_PANEL)
#define STORE(p, v) __riscv_vse32_v_f32m4(p, v, PTE_PANEL)
#define ZERO        __riscv_vfmv_v_f_f32m4(0, PTE_PANEL)
#define EACH(F)     F(0) F(1) F(2) F(3) F(4) F(5)
#define BEGIN(m) vfloat32m4_t sum##m = m < rows && !s->first ? LOAD(out + m * s->out_stride) : ZERO;
#define ROW(m)   const float *a##m = m < rows ? row[m] + s->offset : NULL;
#define ADD(m)                                                                                     \
  if (m < rows) sum##m = __riscv_vfmacc_vf_f32m4(sum##m, a##m[k], w, PTE_PANEL);
#define END(m)                                                                                     \
  if (m < rows) STORE(out + m * s->out_stride, sum##m);

/* `rows` is a constant in each caller, so that the tile lives in registers: these have no arrays.
 */
INLINE void strip_run(const size_t rows, const pte_tile_f32 *s, size_t strip) {
  float *out = s->out + strip * rows * s->out_stride;
  const float *const *row = s->row + strip * s->strip_step;
  pte_tile_asks(s, strip, 1);
  EACH(BEGIN)
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP) {
    const float *b = s->panel[0] + t * s->tap_stride * PTE_PANEL;
    EACH(ROW)
    for (size_t k = 0; k < s->run; k++, b += PTE_PANEL) {
      const vfloat32m4_t w = LOAD(b);
      EACH(ADD)
    }
  }
  EACH(END)
  if (s->finish == NULL) return;
  for (size_t m = 0; m < rows; m++)
    for (size_t n = 0; n < PTE_PANEL; n++) {
      float *y = out + m * s->out_stride + n;
      *y = pte_finish_one(s->finish, *y, strip * rows + m, n);
    }
}

static void tile_rvv(size_t rows, size_t panels, const pte_tile_f32 *s) {
  (void)panels; /* one: see abreast */
  pte_tile_strips(strip_run, rows, s);
}

static void vector_rvv(size_t k, size_t panels, const float *x, const float *panel, float *y) {
  for (size_t p = 0; p < panels; p++) {
    vfloat32m4_t sum = ZERO;
    for (size_t i = 0; i < k; i++, panel += PTE_PANEL)
      sum = __riscv_vfmacc_vf_f32m4(sum, x[i], LOAD(panel), PTE_PANEL);
    STORE(y + p * PTE_PANEL, sum);
  }
}

const pte_gemm_f32 pte_gemm_f32__rvv = {
    .tile = tile_rvv,
    .vector = vector_rvv,
    .unit = PTE_PANEL,
    .abreast = {0, 1, 1, 1, 1, 1, 1},
};
#else
typedef int pte_gemm_f32__rvv_is_absent;
#endif
