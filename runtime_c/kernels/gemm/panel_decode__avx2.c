/* Decoding of stored weights for AVX2: the same source, the same bits; FP8 in registers, and what
 * is not taken there by the portable variant. */
#if PTE_HAVE_AVX2
#define IS_FP8(codes)     ((codes) == PTE_FORMAT_E4M3 || (codes) == PTE_FORMAT_MXFP8_E5M2)
#define CODES_HERE(codes) (!IS_FP8(codes))
#include "kernels/gemm/panel_decode.inc"

extern const pte_panel_decode pte_panel_decode__portable;

static const float *others_read(const void *self, size_t panel, size_t k, size_t count,
                                float *block) {
  const pte_stored *s = self;
  return IS_FP8(pte_panel_codes(s->format))
             ? pte_panel_decode__portable.read(s, panel, k, count, block)
             : panel_read(s, panel, k, count, block);
}

#define VARIANT     pte_panel_decode__avx2
#define OTHERS_READ others_read
#include "kernels/gemm/panel_floats.inc"
#endif
