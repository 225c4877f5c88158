/* Integer products on the vectors of Cortex-M (MVE). The codes of a column in a block of 32 are
 * brought together by gathers; those of 4 bits are places in a table, which is another gather. Two
 * VMLADAVA are the block's sum, exact as all of them are. */
#if PTE_HAVE_MVE
#include <arm_mve.h>

#include "kernels/gemm_int8/gemm_blocks.h"

enum { TABLE = 64, HALF = PTE_I8_BLOCK / 2, NIBBLES = 16 };

/* The 32 codes of a column, in the order of x where of 8 bits; of fewer, two rows of 16: quads 0,
 * 2, 4, 6 of x, then the others. */
typedef struct column {
  int8x16_t first, second;
} column;

/* Words 64 bytes apart, of the column that begins at `codes`; none from `steps` on. */
static uint8x16_t words(const uint8_t *codes, size_t steps) {
  const uint32x4_t apart = vshlq_n_u32(vidupq_n_u32(0, 8), 3);
  const int32_t *from = (const int32_t *)(const void *)codes;
  const mve_pred16_t here = vctp32q((uint32_t)steps);
  return vreinterpretq_u8_s32(vldrwq_gather_offset_z_s32(from, apart, here));
}

static column column_of(const uint32_t bits, const uint8_t *codes, const uint8_t *high,
                        size_t steps, const int8_t *table) {
  const uint8x16_t low = words(codes, steps), nibble = vdupq_n_u8(15);
  if (bits == 8) {
    const size_t more = steps > 4 ? steps - 4 : 0;
    return (column){vreinterpretq_s8_u8(low), vreinterpretq_s8_u8(words(codes + 256, more))};
  }
  uint8x16_t a = vandq_u8(low, nibble), b = vshrq_n_u8(low, 4);
  if (bits == 6) { /* a step of 16 elements is two of low bits and one of high ones */
    const uint32x4_t apart = vshlq_n_u32(vshrq_n_u32(vidupq_n_u32(0, 1), 1), 6); /* 0 0 64 64 */
    const mve_pred16_t here = vctp32q((uint32_t)steps);
    const int32_t *from = (const int32_t *)(const void *)high;
    uint32x4_t top = vreinterpretq_u32_s32(vldrwq_gather_offset_z_s32(from, apart, here));
    const int32x4_t down = vnegq_s32(vreinterpretq_s32_u32(
        vandq_u32(vshlq_n_u32(vidupq_n_u32(0, 1), 2), vdupq_n_u32(4)))); /* 0 -4 0 -4 */
    top = vshlq_u32(top, down);
    const uint8x16_t upper = vreinterpretq_u8_u32(top), pair = vdupq_n_u8(0x30);
    a = vorrq_u8(a, vandq_u8(vshlq_n_u8(upper, 4), pair));
    b = vorrq_u8(b, vandq_u8(vshlq_n_u8(upper, 2), pair));
  }
  return (column){vldrbq_gather_offset_s8(table, a), vldrbq_gather_offset_s8(table, b)};
}

/* acc[r][n] of block b: `codes`, `high` and scale number `scales` are of the panel's column 0. */
static void block_add(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t b,
                      const uint8_t *codes, const uint8_t *high, size_t scales, const int8_t *table,
                      float (*acc)[PTE_PANEL]) {
  const uint32_t bits = pte_format_bits(w->format);
  const size_t left = w->depth - b * PTE_I8_BLOCK, unit = bits == 8 ? 4 : 8;
  const size_t steps = ((left < PTE_I8_BLOCK ? left : PTE_I8_BLOCK) + unit - 1) / unit;
  for (size_t n = 0; n < PTE_PANEL; n++) {
    const column t = column_of(bits, codes + 4 * n, high + 4 * n, steps, table);
    const float scale = pte_i8_scale(w, scales + n);
    for (size_t r = 0; r < rows; r++) {
      const int8_t *code = x->codes + (r * x->blocks + b) * PTE_I8_BLOCK;
      int8x16_t first = vldrbq_s8(code), second = vldrbq_s8(code + HALF);
      if (bits != 8) {
        const int32x4x2_t quads = vld2q_s32((const int32_t *)(const void *)code);
        first = vreinterpretq_s8_s32(quads.val[0]), second = vreinterpretq_s8_s32(quads.val[1]);
      }
      const int32_t sum = vmladavaq_s8(vmladavq_s8(first, t.first), second, t.second);
      acc[r][n] = pte_fma((float)sum, x->steps[r * x->blocks + b] * scale, acc[r][n]);
    }
  }
}

static void panels_mve(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                       size_t count, float *out, size_t out_stride) {
  const uint32_t bits = pte_format_bits(w->format), mask = bits == 6 ? 63 : 15;
  const size_t block_bytes = PTE_PANEL * PTE_I8_BLOCK * (bits == 8 ? 8 : 4) / 8;
  int8_t table[TABLE];
  for (uint32_t c = 0; bits != 8 && c < TABLE; c++)
    table[c] = (int8_t)pte_i8_integer(w->format, c & mask);
  for (size_t p = panel; p < panel + count; p++) {
    float acc[PTE_I8_ROWS][PTE_PANEL] = {{0}};
    for (size_t b = 0; b < x->blocks; b++) {
      const size_t scales = (p * w->blocks + pte_i8_scale_at(w, b)) * PTE_PANEL;
      const uint8_t *codes = w->codes + p * w->steps * 64 + b * block_bytes;
      const uint8_t *high = w->high + p * w->steps * 32 + b * block_bytes / 2;
      block_add(w, x, rows, b, codes, high, scales, table, acc);
    }
    for (size_t r = 0; r < rows; r++)
      memcpy(out + r * out_stride + (p - panel) * PTE_PANEL, acc[r], sizeof acc[r]);
  }
}

const pte_gemm_blocks pte_gemm_blocks__mve = {panels_mve, pte_i8_quantize, NULL, PTE_I8_ROWS};
#else
typedef int pte_gemm_blocks__mve_is_absent;
#endif
