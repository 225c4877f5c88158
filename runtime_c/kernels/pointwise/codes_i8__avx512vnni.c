/* Codes of int8 on AVX-512 with VNNI: a sum's factors meet codes as they are, in two instructions.
 */
#if PTE_HAVE_AVX512VNNI
#include "kernels/pointwise/codes_i8__avx512.h"

typedef struct near_lanes {
  __m512i high, even, odd, start, decides, down, down_odd, low, most;
  bool clamps;
} near_lanes;

/* Of codes that are not moved by 128. */
INLINE near_lanes near_lanes_of(const pte_add_codes *c) {
  const pte_add_near *k = &c->near;
  const uint32_t high = (uint32_t)k->high, low = (uint32_t)k->low;
  const uint32_t both = ((high & 0xffff) + (high >> 16)) * 256 + (low & 0xffff) + (low >> 16);
  return (near_lanes){.high = _mm512_set1_epi32(k->high),
                      .even = _mm512_set1_epi32(k->low),
                      .odd = _mm512_set1_epi32((int32_t)(low << 8)),
                      .start = _mm512_set1_epi32((int32_t)((uint32_t)k->start + 128 * both)),
                      .decides = _mm512_set1_epi32(k->decides),
                      .low = _mm512_set1_epi8((char)c->columns.low),
                      .most = _mm512_set1_epi8((char)c->columns.high),
                      .down = _mm512_set1_epi32(k->down),
                      .down_odd = _mm512_set1_epi32(k->down - 16),
                      .clamps = c->columns.low > INT8_MIN || c->columns.high < INT8_MAX};
}

/* Sums of two codes each in a lane of words of a and b: codes of `words` are in upper bytes, times
 * 256 A, then bytes times what is left of the factors, which are those without sign. */
INLINE __m512i near_sum(__m512i words, __m512i codes, __m512i left, const near_lanes *k) {
  return _mm512_dpbusd_epi32(_mm512_dpwssd_epi32(k->start, words, k->high), left, codes);
}

/* Of the sums, words of codes, which packing clamps. */
INLINE __m512i near_words(__m512i even, __m512i odd, const near_lanes *k) {
  even = _mm512_srav_epi32(even, k->down), odd = _mm512_srav_epi32(odd, k->down_odd);
  return _mm512_mask_blend_epi16(0xaaaaaaaa, even, odd);
}

/* Codes of the sums `t` in doubt, of codes as they were before y was stored, one by one. */
static __attribute__((noinline)) void decide(__m512i t0, __m512i t1, __m512i t2, __m512i t3,
                                             __m512i left, __m512i right,
                                             const pte_add_codes *factors, int8_t *y) {
  const __m512i t[4] = {t0, t1, t2, t3}, decides = _mm512_set1_epi32(factors->near.decides);
  int8_t a[PTE_CODES], b[PTE_CODES];
  _mm512_storeu_si512(a, left), _mm512_storeu_si512(b, right);
  for (unsigned k = 0; k < 4; k++)
    for (unsigned lanes = _mm512_testn_epi32_mask(t[k], decides); lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = (unsigned)__builtin_ctz(lanes);
      const unsigned at = lane / 4 * 16 + k / 2 * 8 + lane % 4 * 2 + k % 2;
      pte_codes_add(1, a + at, b + at, factors, y + at);
    }
}

/* As many vectors of 64 as there are. */
static size_t add_near(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
                       int8_t *y) {
  const near_lanes k = near_lanes_of(factors); /* y is bytes and could be `factors` */
  const __m512i upper = _mm512_set1_epi16((short)0xff00);
  const bool exact = factors->near.decides == 0, clamps = k.clamps;
  size_t i = 0;
  for (; i + PTE_CODES <= count; i += PTE_CODES) {
    const __m512i left = _mm512_loadu_si512(a + i), right = _mm512_loadu_si512(b + i);
    const __m512i first = _mm512_unpacklo_epi16(left, right),
                  last = _mm512_unpackhi_epi16(left, right);
    const __m512i t0 = near_sum(_mm512_slli_epi16(first, 8), first, k.even, &k);
    const __m512i t1 = near_sum(_mm512_and_si512(first, upper), first, k.odd, &k);
    const __m512i t2 = near_sum(_mm512_slli_epi16(last, 8), last, k.even, &k);
    const __m512i t3 = near_sum(_mm512_and_si512(last, upper), last, k.odd, &k);
    __m512i codes = _mm512_packs_epi16(near_words(t0, t1, &k), near_words(t2, t3, &k));
    if (clamps) codes = _mm512_min_epi8(_mm512_max_epi8(codes, k.low), k.most);
    _mm512_storeu_si512(y + i, codes);
    if (!exact && !near_is_sure(t0, t1, t2, t3, k.decides))
      decide(t0, t1, t2, t3, left, right, factors, y + i);
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
