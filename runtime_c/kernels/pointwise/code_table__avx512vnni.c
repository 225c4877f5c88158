/* Tables of 256 codes on AVX-512 with VBMI: two lookups of 128 codes, chosen by the highest bit. */
#if PTE_HAVE_AVX512VNNI
#include <immintrin.h>

#include "kernels/pointwise/code_table.h"

static inline __m512i looked_up(const __m512i *table, __m512i code) {
  __m512i low = _mm512_permutex2var_epi8(table[0], code, table[1]);
  __m512i high = _mm512_permutex2var_epi8(table[2], code, table[3]);
  return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(code), high);
}

static void recode(const uint8_t *table, size_t n, const uint8_t *x, uint8_t *y) {
  const __m512i part[] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64),
                          _mm512_loadu_si512(table + 128), _mm512_loadu_si512(table + 192)};
  size_t i = 0;
  for (; i + 64 <= n; i += 64)
    _mm512_storeu_si512(y + i, looked_up(part, _mm512_loadu_si512(x + i)));
  const __mmask64 there = ((__mmask64)1 << (n - i)) - 1;
  _mm512_mask_storeu_epi8(y + i, there, looked_up(part, _mm512_maskz_loadu_epi8(there, x + i)));
}

const pte_code_table pte_code_table__avx512vnni = {.recode = recode};
#else
typedef int pte_code_table__avx512vnni_is_absent;
#endif
