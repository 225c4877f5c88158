/* Tables of 256 codes on AVX-512 with VBMI: two lookups of 128 codes, chosen by the highest bit. */
#if PTE_HAVE_AVX512VNNI
#include <immintrin.h>

#include "kernels/variants.h"

static void recode(const uint8_t *table, size_t n, const uint8_t *x, uint8_t *y) {
  const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64);
  const __m512i c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
  for (size_t i = 0; i < n; i += 64) {
    const __mmask64 there = n - i < 64 ? ((__mmask64)1 << (n - i)) - 1 : ~(__mmask64)0;
    __m512i code = _mm512_maskz_loadu_epi8(there, x + i);
    __m512i low = _mm512_permutex2var_epi8(a, code, b), high = _mm512_permutex2var_epi8(c, code, d);
    _mm512_mask_storeu_epi8(y + i, there,
                            _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(code), high));
  }
}

const pte_code_table pte_code_table__avx512vnni = {.recode = recode};
#else
typedef int pte_code_table__avx512vnni_is_absent;
#endif
