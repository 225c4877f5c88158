/* Codes of int8 on AVX2, sixteen at a time. */
#if PTE_HAVE_AVX2
#include "kernels/matrix/rescale__avx2.h"
#include "kernels/pointwise/codes_i8.h"

enum { LANES = 16 };

INLINE __m256i addend(const int8_t *codes, const pte_addend_i8 *s) {
  const __m256i multiplier = _mm256_set1_epi32(s->multiplier);
  __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)codes));
  __m256i d =
      _mm256_slli_epi32(_mm256_sub_epi32(wide, _mm256_set1_epi32(s->zero)), PTE_ADDEND_LEFT);
  __m256i even = _mm256_mul_epi32(d, multiplier);
  __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(d, 32), multiplier);
  __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  high = _mm256_add_epi32(high, _mm256_set1_epi32(s->add));
  return _mm256_srav_epi32(high, _mm256_set1_epi32(s->down));
}

INLINE __m256i eight_added(const int8_t *a, const int8_t *b, const pte_add_codes *k) {
  return _mm256_add_epi32(addend(a, &k->a), addend(b, &k->b));
}

static void add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
                int8_t *y) {
  const pte_add_codes k = *factors; /* y is bytes and could be it */
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    __m256i low = eight_added(a + i, b + i, &k), high = eight_added(a + i + 8, b + i + 8, &k);
    bytes_store(y + i, PTE_PANEL, rescaled_bytes(low, high, &k.columns));
  }
  pte_codes_end(add, LANES, count - i, a + i, b + i, &k, y + i);
}

PTE_CODES_LARGER(__m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_max_epi8)

const pte_codes_i8 pte_codes_i8__avx2 = {.add = add, .larger = larger};
#endif
