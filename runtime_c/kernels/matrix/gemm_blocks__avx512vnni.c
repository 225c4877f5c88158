/* Integer products on AVX-512 with VNNI and VBMI. vpermb looks bytes up by six bits and ignores the
 * two above, so the codes need no mask; vpdpbusd adds four products to 32 bits exactly, the weight
 * unsigned, its bias leaving by the sum of the activations. A row of the panel is a lane. */
#if PTE_HAVE_AVX512VNNI
#include <immintrin.h>

#define VARIANT pte_gemm_blocks__avx512vnni
enum { AHEAD = 3072 };
typedef struct constants {
  __m512i table, low;
} constants;
#include "kernels/matrix/gemm_blocks__avx512vnni.h"
#include "kernels/matrix/gemm_blocks_x86.inc"

INLINE __m512i load(const uint8_t *from) { return _mm512_load_si512(from); }
INLINE __m512i repeat(const uint8_t *bytes) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)bytes));
}

INLINE __m512i mxfp6_table(void) {
  static const uint8_t sizes[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60};
  __m256i size = _mm256_loadu_si256((const __m256i *)(const void *)sizes);
  __m256i zero = _mm256_set1_epi8(60);
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_add_epi8(zero, size)),
                            _mm256_sub_epi8(zero, size), 1);
}

/* Four bits: codes themselves are looked up in `low`, which masks; i8: its sign bit flips. */
INLINE constants constants_of(const uint32_t format) {
  const __m512i low = _mm512_set1_epi8(15);
  switch (format) {
  case PTE_FORMAT_NF4: return (constants){repeat(pte_nf4_seven), low};
  case PTE_FORMAT_MXFP4: return (constants){repeat(mxfp4_bytes), low};
  case PTE_FORMAT_MXFP6: return (constants){mxfp6_table(), low};
  default: return (constants){_mm512_set1_epi8(-128), low};
  }
}

/* The unsigned bytes of elements 4q .. 4q + 3 of the unit at `at`. */
INLINE __m512i bytes_of(const uint32_t format, const size_t q, walk at, constants c) {
  __m512i codes = load(at.codes + q / 2 * 64);
  if (format == PTE_FORMAT_I8) return _mm512_xor_si512(codes, c.table);
  if (q % 2) codes = _mm512_srli_epi16(codes, 4);
  if (format == PTE_FORMAT_I4) return _mm512_and_si512(codes, c.low);
  if (format == PTE_FORMAT_MXFP6) {
    __m512i high = load(at.high);
    high = q == 0   ? _mm512_slli_epi16(high, 4)
           : q == 1 ? _mm512_slli_epi16(high, 2)
           : q == 2 ? high
                    : _mm512_srli_epi16(high, 2);
    codes = _mm512_ternarylogic_epi32(codes, high, c.low, 0xe4); /* low ? codes : high */
  }
  return _mm512_permutexvar_epi8(codes, c.table);
}

/* E8M0: byte 0 is 2^-127, subnormal; 255 is NaN. */
INLINE __m512 scales_read(const uint32_t format, const uint8_t *from) {
  if (pte_format_scale(format) == PTE_F32) return _mm512_loadu_ps(from);
  if (pte_format_scale(format) == PTE_F16)
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
  __m512i byte = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
  __m512i scale = _mm512_max_epi32(_mm512_slli_epi32(byte, 23), _mm512_set1_epi32(0x00400000));
  __mmask16 nan = _mm512_cmpeq_epi32_mask(byte, _mm512_set1_epi32(255));
  return _mm512_castsi512_ps(_mm512_mask_set1_epi32(scale, nan, -1));
}

INLINE void block_add(const uint32_t format, const size_t rows, const size_t panels, size_t units,
                      pte_rows_i8 x, const walk *at, constants c, pte_lanes *acc) {
  const size_t quads = pte_i8_unit(format) / 4, stride = x.blocks * PTE_I8_BLOCK;
  __m512i sum[MOST_PANELS];
#pragma GCC unroll 4
  for (size_t i = 0; i < panels * rows; i++)
    sum[i] = _mm512_set1_epi32(-bias_of(format) * x.sums[i % rows * x.blocks]);
  for (size_t s = 0; s < units; s++)
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++)
#pragma GCC unroll 4
      for (size_t p = 0; p < panels; p++) {
        walk unit = {at[p].codes + s * code_bytes(format), at[p].high + s * 64, NULL};
        __m512i bytes = bytes_of(format, q, unit, c);
#pragma GCC unroll 4
        for (size_t r = 0; r < rows; r++) {
          __m512i *i = sum + p * rows + r;
          *i = _mm512_dpbusd_epi32(
              *i, bytes, _mm512_set1_epi32(four(x.codes + r * stride + (s * quads + q) * 4)));
        }
      }
#pragma GCC unroll 4
  for (size_t i = 0; i < panels * rows; i++) {
    __m512 both = _mm512_mul_ps(_mm512_set1_ps(x.steps[i % rows * x.blocks]),
                                scales_read(format, at[i / rows].scales));
    acc[i].all = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[i]), both, acc[i].all);
  }
}

INLINE void blocks_read(const uint32_t format, const pte_stored *w, size_t panel, size_t first,
                        size_t count, int8_t *codes, float *scales) {
  const size_t unit = pte_i8_unit(format), units = PTE_I8_BLOCK / unit, quads = unit / 4;
  const size_t row_bytes = w->scale_bytes * PTE_PANEL;
  const constants c = constants_of(format);
  const __m512i bias = _mm512_set1_epi8((char)bias_of(format));
  const uint8_t *from = w->codes + panel * w->steps * 64 + first * units * code_bytes(format);
  const uint8_t *high = w->high + panel * w->steps * 32 + first * units * 64;
  const uint8_t *scale = w->scales + panel * w->blocks * row_bytes;
  size_t left = (w->depth + unit - 1) / unit - first * units;
  for (size_t b = first; b < first + count; b++, scales += PTE_PANEL) {
    _mm512_storeu_ps(scales, scales_read(format, scale + pte_i8_scale_at(w, b) * row_bytes));
    for (size_t s = 0; s < units; s++, from += code_bytes(format), high += 64)
#pragma GCC unroll 4
      for (size_t q = 0; q < quads; q++, codes += 64) {
        __m512i t = _mm512_setzero_si512();
        if (left > 0) t = _mm512_sub_epi8(bytes_of(format, q, (walk){from, high, NULL}, c), bias);
        _mm512_store_si512(codes, t);
        if (q + 1 == quads && left > 0) left--;
      }
  }
}

void pte_blocks_read__avx512vnni(const pte_stored *w, size_t panel, size_t first, size_t count,
                                 int8_t *codes, float *scales) {
#define CASE(name)                                                                                 \
  case PTE_FORMAT_##name:                                                                          \
    blocks_read(PTE_FORMAT_##name, w, panel, first, count, codes, scales);                         \
    break;
  switch (w->format) { PTE_DOT_FORMATS(CASE) }
#undef CASE
}
#else
typedef int pte_gemm_blocks__avx512vnni_is_absent;
#endif
