/* Codes of int8 on AVX-512, sixteen at a time. */
#if PTE_HAVE_AVX512
#include "kernels/matrix/rescale__avx512.h"
#include "kernels/pointwise/codes_i8.h"

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

static void add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k, int8_t *y) {
  const addend_lanes left = addend_lanes_of(&k->a), right = addend_lanes_of(&k->b);
  const rescale_lanes r = rescale_lanes_of(&k->columns);
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    __m512i sum = _mm512_add_epi32(addend(a + i, &left), addend(b + i, &right));
    _mm_storeu_si128((__m128i *)(void *)(y + i), rescaled_bytes(sum, &r));
  }
  pte_codes_end(add, LANES, count - i, a + i, b + i, k, y + i);
}

PTE_CODES_LARGER(__m512i, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_max_epi8)

const pte_codes_i8 pte_codes_i8__avx512 = {.add = add, .larger = larger};
#endif
