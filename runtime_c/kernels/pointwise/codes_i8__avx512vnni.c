/* Codes of int8 on AVX-512 with VNNI: a sum's factors meet codes as they are, in two instructions.
 */
#if PTE_HAVE_AVX512VNNI
#include "kernels/pointwise/codes_i8__avx512.h"

typedef struct near_lanes {
  __m512i high, low, start;
} near_lanes;

/* Of codes that are not moved by 128. */
INLINE near_lanes near_lanes_of(const pte_add_near *k) {
  const uint32_t high = (uint32_t)k->high, low = (uint32_t)k->low;
  const uint32_t both = ((high & 0xffff) + (high >> 16)) * 256 + (low & 0xffff) + (low >> 16);
  return (near_lanes){_mm512_set1_epi32(k->high), _mm512_set1_epi32((int32_t)(low << 8)),
                      _mm512_set1_epi32((int32_t)((uint32_t)k->start + 128 * both))};
}

/* Codes of a and b in the upper bytes of words side by side: words times 256 A, then bytes times
 * what is left of the factors, which are those without sign. */
INLINE __m512i near_sum(__m512i codes, const near_lanes *k) {
  return _mm512_dpbusd_epi32(_mm512_dpwssd_epi32(k->start, codes, k->high), k->low, codes);
}

/* As many vectors of 64 as there are. */
static size_t add_near(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
                       int8_t *y) {
  const near_lanes k = near_lanes_of(&factors->near);
  const near_ends ends = near_ends_of(factors);
  const __m512i zero = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + PTE_CODES <= count; i += PTE_CODES) {
    __m512i left = _mm512_loadu_si512(a + i), right = _mm512_loadu_si512(b + i);
    __m512i first = _mm512_unpacklo_epi8(left, right), last = _mm512_unpackhi_epi8(left, right);
    __m512i t0 = near_sum(_mm512_unpacklo_epi8(zero, first), &k);
    __m512i t1 = near_sum(_mm512_unpackhi_epi8(zero, first), &k);
    __m512i t2 = near_sum(_mm512_unpacklo_epi8(zero, last), &k);
    __m512i t3 = near_sum(_mm512_unpackhi_epi8(zero, last), &k);
    if (!near_put(t0, t1, t2, t3, &ends, y + i))
      pte_codes_exact__avx512(PTE_CODES, a + i, b + i, factors, y + i);
  }
  return i;
}

static void add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k, int8_t *y) {
  const size_t i = k->near.usable ? add_near(count, a, b, k, y) : 0;
  pte_codes_add__avx512(count - i, a + i, b + i, k, y + i);
}

const pte_codes_i8 pte_codes_i8__avx512vnni = {.add = PTE_WITH(ADD_I8, add),
                                               .larger = pte_codes_larger__avx512};
#else
typedef int pte_codes_i8__avx512vnni_is_absent;
#endif
