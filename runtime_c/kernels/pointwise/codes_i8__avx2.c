/* Codes of int8 on AVX2. */
#if PTE_HAVE_AVX2
#include "kernels/pointwise/codes_i8.h"
#include "kernels/requantize/rescale__avx2.h"

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

static void add_exact(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
                      int8_t *y) {
  const pte_add_codes k = *factors; /* y is bytes and could be it */
  const rescale_lanes r = rescale_lanes_of(&k.columns);
  for (size_t i = 0; i < count; i += LANES) {
    __m256i low = eight_added(a + i, b + i, &k), high = eight_added(a + i + 8, b + i + 8, &k);
    bytes_store(y + i, PTE_PANEL, rescaled_bytes(low, high, &r));
  }
}

/* Words of a and b side by side. */
INLINE __m256i near_sum(__m256i words, const pte_add_near *k) {
  __m256i high = _mm256_madd_epi16(words, _mm256_set1_epi32(k->high));
  __m256i low = _mm256_madd_epi16(words, _mm256_set1_epi32(k->low));
  low = _mm256_add_epi32(low, _mm256_set1_epi32(k->start));
  return _mm256_add_epi32(_mm256_slli_epi32(high, 8), low);
}

/* Lanes in doubt: all bits set. */
INLINE __m256i in_doubt(__m256i t, __m256i decides) {
  return _mm256_cmpeq_epi32(_mm256_and_si256(t, decides), _mm256_setzero_si256());
}

/* As many vectors of 32 as there are. */
static size_t add_near(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
                       int8_t *y) {
  const pte_add_near k = factors->near;
  const __m256i away = _mm256_set1_epi8((char)0x80), zero = _mm256_setzero_si256();
  const __m256i decides = _mm256_set1_epi32(k.decides);
  const __m256i low = _mm256_set1_epi8((char)factors->columns.low);
  const __m256i high = _mm256_set1_epi8((char)factors->columns.high);
  const __m256i down = _mm256_set1_epi32(k.down);
  size_t i = 0;
  for (; i + sizeof(__m256i) <= count; i += sizeof(__m256i)) {
    __m256i left = _mm256_xor_si256(load(a + i), away), right = _mm256_xor_si256(load(b + i), away);
    __m256i first = _mm256_unpacklo_epi8(left, right), last = _mm256_unpackhi_epi8(left, right);
    __m256i t0 = near_sum(_mm256_unpacklo_epi8(first, zero), &k);
    __m256i t1 = near_sum(_mm256_unpackhi_epi8(first, zero), &k);
    __m256i t2 = near_sum(_mm256_unpacklo_epi8(last, zero), &k);
    __m256i t3 = near_sum(_mm256_unpackhi_epi8(last, zero), &k);
    __m256i doubt = _mm256_or_si256(_mm256_or_si256(in_doubt(t0, decides), in_doubt(t1, decides)),
                                    _mm256_or_si256(in_doubt(t2, decides), in_doubt(t3, decides)));
    if (k.decides != 0 && !_mm256_testz_si256(doubt, doubt)) {
      add_exact(sizeof(__m256i), a + i, b + i, factors, y + i);
      continue;
    }
    t0 = _mm256_packs_epi32(_mm256_srav_epi32(t0, down), _mm256_srav_epi32(t1, down));
    t2 = _mm256_packs_epi32(_mm256_srav_epi32(t2, down), _mm256_srav_epi32(t3, down));
    t0 = _mm256_min_epi8(_mm256_max_epi8(_mm256_packs_epi16(t0, t2), low), high);
    _mm256_storeu_si256((__m256i *)(void *)(y + i), t0);
  }
  return i;
}

static void add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k, int8_t *y) {
  size_t i = k->near.usable ? add_near(count, a, b, k, y) : 0, end = count - (count - i) % LANES;
  add_exact(end - i, a + i, b + i, k, y + i);
  pte_codes_end(add_exact, LANES, count - end, a + end, b + end, k, y + end);
}

PTE_CODES_LARGER(larger, __m256i, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_max_epi8)

const pte_codes_i8 pte_codes_i8__avx2 = {.add = PTE_WITH(ADD_I8, add), .larger = larger};
#endif
