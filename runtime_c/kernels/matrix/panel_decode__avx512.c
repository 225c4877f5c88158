/* Decoding of E4M3 with scales of f32 or E8M0 for AVX-512: sixteen rows of a panel are a register.
 * The variant for AVX2 decodes all else. */
#if PTE_HAVE_AVX512
#include <immintrin.h>

#include "kernels/matrix/panel_decode.h"

#define INLINE static inline __attribute__((always_inline))

extern const pte_panel_decode pte_panel_decode__avx2;

enum { AHEAD = 4096, FOUR = 4 }; /* bytes of codes; elements of a row in 64 of them */

/* Element `j` of each row's four, as small_float of panel_decode.inc has it. */
INLINE __m512 value_of(__m512i codes, const unsigned j) {
  const __m512i top = _mm512_set1_epi32(0x07f00000), first = _mm512_set1_epi32(0x00800000);
  __m512i bits = j < 3 ? _mm512_slli_epi32(codes, 20 - 8 * j) : _mm512_srli_epi32(codes, 4);
  bits = _mm512_and_si512(bits, top);
  const __mmask16 below = _mm512_cmplt_epu32_mask(bits, first);
  const __mmask16 nan = _mm512_cmpeq_epi32_mask(bits, top);
  bits = _mm512_add_epi32(bits, _mm512_set1_epi32(120 << 23));
  bits = _mm512_mask_add_epi32(bits, below, bits, first);
  const __m512 value = _mm512_castsi512_ps(bits);
  bits = _mm512_castps_si512(_mm512_mask_sub_ps(value, below, value, _mm512_set1_ps(0x1p-6f)));
  bits = _mm512_mask_or_epi32(bits, nan, bits, _mm512_set1_epi32(0x7fc00000));
  const __m512i sign = _mm512_set1_epi32((int)0x80000000u);
  const __m512i signs = _mm512_slli_epi32(codes, 24 - 8 * j);
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, signs, bits, 0xca)); /* ? : */
}

static __m512 scale_at(const pte_stored *s, size_t at) {
  if (s->scale_bytes == 4) return _mm512_loadu_ps(s->scales + 4 * at);
  const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(s->scales + at));
  const __m512i byte = _mm512_cvtepu8_epi32(bytes), half = _mm512_set1_epi32(0x00400000);
  const __mmask16 ends = _mm512_cmpeq_epi32_mask(byte, _mm512_setzero_si512()) |
                         _mm512_cmpeq_epi32_mask(byte, _mm512_set1_epi32(255));
  const __m512i bits = _mm512_slli_epi32(byte, 23);
  return _mm512_castsi512_ps(_mm512_mask_or_epi32(bits, ends, bits, half));
}

static const float *panel_read(const void *self, size_t panel, size_t k, size_t count,
                               float *block) {
  const pte_stored *s = self;
  const pte_format_row *row = &pte_format_rows[s->format];
  const bool scale = row->scale == PTE_F32 || row->scale == PTE_F8E8M0;
  const bool one = scale && row->second == 0 && row->outer == 0;
  if (pte_format_codes(s->format) != PTE_FORMAT_E4M3 || !one || (k | count) % FOUR != 0)
    return pte_panel_decode__avx2.read(self, panel, k, count, block);
  const uint8_t *from = s->codes + (panel * s->steps + k / FOUR) * 64;
  float *out = block;
  for (size_t at = k, end = k + count, stop; at < end; at = stop) {
    const size_t left = s->block - at % s->block;
    const __m512 by = scale_at(s, (panel * s->blocks + at / s->block) * PTE_PANEL);
    stop = left < end - at ? at + left : end;
    for (size_t i = at; i < stop; i += FOUR, from += 64) {
      const __m512i codes = _mm512_loadu_si512(from);
      _mm_prefetch((const char *)(from + AHEAD), _MM_HINT_T0);
#pragma GCC unroll 4
      for (unsigned j = 0; j < FOUR; j++, out += PTE_PANEL)
        _mm512_storeu_ps(out, _mm512_mul_ps(value_of(codes, j), by));
    }
  }
  return block;
}

const pte_panel_decode pte_panel_decode__avx512 = {panel_read};
#else
typedef int pte_panel_decode__avx512_is_absent;
#endif
