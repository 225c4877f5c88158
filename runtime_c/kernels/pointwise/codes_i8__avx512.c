/* Codes of int8 on AVX-512. */
#if PTE_HAVE_AVX512
#include "kernels/pointwise/codes_i8__avx512.h"

#include "kernels/requantize/rescale__avx512.h"

enum { LANES = 16 };

typedef struct addend_lanes {
  __m512i zero, multiplier, add, down;
} addend_lanes;

INLINE addend_lanes addend_lanes_of(const pte_addend_i8 *s) {
  return (addend_lanes){_mm512_set1_epi32(s->zero), _mm512_set1_epi32(s->multiplier),
                        _mm512_set1_epi32(s->add), _mm512_set1_epi32(s->down)};
}

INLINE __m512i addend(const int8_t *codes, const addend_lanes *s) {
  __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)codes));
  __m512i d = _mm512_slli_epi32(_mm512_sub_epi32(wide, s->zero), PTE_ADDEND_LEFT);
  __m512i even = _mm512_mul_epi32(d, s->multiplier);
  __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(d, 32), s->multiplier);
  __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
  return _mm512_srav_epi32(_mm512_add_epi32(high, s->add), s->down);
}

INLINE void add_sixteen(const int8_t *a, const int8_t *b, const pte_add_codes *k, int8_t *y) {
  const addend_lanes left = addend_lanes_of(&k->a), right = addend_lanes_of(&k->b);
  const rescale_lanes r = rescale_lanes_of(&k->columns);
  __m512i sum = _mm512_add_epi32(addend(a, &left), addend(b, &right));
  _mm_storeu_si128((__m128i *)(void *)y, rescaled_bytes(sum, &r));
}

static void add_exact(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
                      int8_t *y) {
  const pte_add_codes k = *factors; /* y is bytes and could be it */
  for (size_t i = 0; i < count; i += LANES) add_sixteen(a + i, b + i, &k, y + i);
}

/* Words of a and b side by side. */
INLINE __m512i near_sum(__m512i words, const pte_add_near *k) {
  __m512i high = _mm512_madd_epi16(words, _mm512_set1_epi32(k->high));
  __m512i low = _mm512_madd_epi16(words, _mm512_set1_epi32(k->low));
  low = _mm512_add_epi32(low, _mm512_set1_epi32(k->start));
  return _mm512_add_epi32(_mm512_slli_epi32(high, 8), low);
}

/* As many vectors of 64 as there are. */
static size_t add_near(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
                       int8_t *y) {
  const pte_add_near k = factors->near;
  const __m512i away = _mm512_set1_epi8((char)0x80), zero = _mm512_setzero_si512();
  const __m512i decides = _mm512_set1_epi32(k.decides), down = _mm512_set1_epi32(k.down);
  const __m512i low = _mm512_set1_epi8((char)factors->columns.low);
  const __m512i high = _mm512_set1_epi8((char)factors->columns.high);
  size_t i = 0;
  for (; i + PTE_CODES <= count; i += PTE_CODES) {
    __m512i left = _mm512_xor_si512(_mm512_loadu_si512(a + i), away);
    __m512i right = _mm512_xor_si512(_mm512_loadu_si512(b + i), away);
    __m512i first = _mm512_unpacklo_epi8(left, right), last = _mm512_unpackhi_epi8(left, right);
    __m512i t0 = near_sum(_mm512_unpacklo_epi8(first, zero), &k);
    __m512i t1 = near_sum(_mm512_unpackhi_epi8(first, zero), &k);
    __m512i t2 = near_sum(_mm512_unpacklo_epi8(last, zero), &k);
    __m512i t3 = near_sum(_mm512_unpackhi_epi8(last, zero), &k);
    if (k.decides != 0 && !near_is_sure(t0, t1, t2, t3, decides)) {
      add_exact(PTE_CODES, a + i, b + i, factors, y + i);
      continue;
    }
    t0 = _mm512_packs_epi32(_mm512_srav_epi32(t0, down), _mm512_srav_epi32(t1, down));
    t2 = _mm512_packs_epi32(_mm512_srav_epi32(t2, down), _mm512_srav_epi32(t3, down));
    t0 = _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(t0, t2), low), high);
    _mm512_storeu_si512(y + i, t0);
  }
  return i;
}

void pte_codes_add__avx512(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k,
                           int8_t *y) {
  size_t i = k->near.usable ? add_near(count, a, b, k, y) : 0, end = count - (count - i) % LANES;
  add_exact(end - i, a + i, b + i, k, y + i);
  pte_codes_end(add_exact, LANES, count - end, a + end, b + end, k, y + end);
}

PTE_CODES_LARGER(larger, __m512i, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_max_epi8)
void pte_codes_larger__avx512(const pte_larger_i8 *windows) { larger(windows); }

const pte_codes_i8 pte_codes_i8__avx512 = {.add = PTE_WITH(ADD_I8, pte_codes_add__avx512),
                                           .larger = pte_codes_larger__avx512};
#endif
