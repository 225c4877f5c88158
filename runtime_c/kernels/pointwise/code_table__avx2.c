/* Tables of 256 codes on AVX2: sixteen lookups of sixteen codes. */
#if PTE_HAVE_AVX2
#include <immintrin.h>

#include "kernels/pointwise/code_table.h"

static void recode(const uint8_t *table, size_t n, const uint8_t *x, uint8_t *y) {
  const __m256i sixteen = _mm256_set1_epi8(16), outside = _mm256_set1_epi8(0x70);
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    __m256i code = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
    __m256i made = _mm256_setzero_si256();
    for (size_t part = 0; part < 256; part += 16) {
      const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(table + part));
      const __m256i at = _mm256_adds_epu8(code, outside); /* 16 and more: bit 7, a lane of 0 */
      made = _mm256_or_si256(made, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(some), at));
      code = _mm256_sub_epi8(code, sixteen);
    }
    _mm256_storeu_si256((__m256i *)(void *)(y + i), made);
  }
  for (; i < n; i++) y[i] = table[x[i]];
}

const pte_code_table pte_code_table__avx2 = {.recode = recode};
#else
typedef int pte_code_table__avx2_is_absent;
#endif
