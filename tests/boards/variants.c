/* The variants of int8 products for Cortex-M's vectors beside the portable ones, which define the
 * bits: drawn rows, weights and sizes. Ends with 0, or says which draw differs. */
#include <string.h>

#include "kernels/depthwise/depthwise_i8.h"
#include "kernels/gemm_int8/gemm_blocks.h"
#include "kernels/gemm_int8/gemm_static.h"

extern const pte_gemm_static pte_gemm_static__portable, pte_gemm_static__mve;
extern const pte_depthwise_i8 pte_depthwise_i8__portable, pte_depthwise_i8__mve;
extern const pte_gemm_blocks pte_gemm_blocks__portable, pte_gemm_blocks__mve;

enum { DRAWS = 400, ROWS = 4, QUADS = 41, DEPTH = 150, TAPS = 12, WIDE = 64, PIXELS = 3 };

void host_print(const char *text);

void *memset(void *to, int value, size_t count) {
  volatile uint8_t *p = to; /* volatile: no compiler makes a call of memset of it */
  while (count--) *p++ = (uint8_t)value;
  return to;
}
int memcmp(const void *a, const void *b, size_t count) {
  const volatile uint8_t *x = a, *y = b;
  for (; count--; x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}

static uint32_t seed = 1;
static uint32_t draw(uint32_t below) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)seed * below >> 32);
}
static void fill(void *to, size_t bytes) {
  uint8_t *p = to;
  for (size_t i = 0; i < bytes; i++) p[i] = (uint8_t)draw(256);
}

static pte_rescale_columns columns[WIDE / PTE_PANEL];
static void columns_draw(void) {
  for (size_t p = 0; p < WIDE / PTE_PANEL; p++) {
    pte_rescale_columns *c = columns + p;
    int8_t shifts[PTE_PANEL];
    for (size_t n = 0; n < PTE_PANEL; n++) {
      c->bias[n] = (int32_t)draw(UINT32_MAX);
      c->multiplier[n] = (int32_t)(1u << 30 | draw(1u << 30));
      shifts[n] = (int8_t)(36 + draw(18));
    }
    c->zero = (int32_t)draw(256) - 128, c->low = -128 + (int32_t)draw(9), c->high = 127;
    pte_rescale_complete(c, shifts);
  }
}

/* Sums, or codes where there are columns. */
static bool tiles_agree(void) {
  static _Alignas(64) int8_t x[ROWS * 4 * QUADS], panel[QUADS * 64];
  static int32_t start[ROWS][PTE_PANEL], sum[2][ROWS][PTE_PANEL];
  static int8_t y[2][ROWS][PTE_PANEL];
  const size_t rows = 1 + draw(ROWS), quads = draw(QUADS + 1);
  const bool codes = draw(2) != 0;
  fill(x, sizeof x), fill(panel, sizeof panel), fill(start, sizeof start);
  memset(sum, 0, sizeof sum), memset(y, 0, sizeof y);
  columns_draw();
  pte_tile_i8 t = {.x = (const char *)x, .panel = panel, .quads = quads, .row_bytes = 4 * QUADS};
  t.start = start[0], t.start_row = draw(2) * PTE_PANEL;
  t.columns = codes ? columns : NULL, t.y_stride = PTE_PANEL, t.lanes = 1 + draw(PTE_PANEL);
  for (size_t i = 0; i < 2; i++) {
    const pte_gemm_static *g = i == 0 ? &pte_gemm_static__portable : &pte_gemm_static__mve;
    t.sum = codes ? NULL : sum[i], t.y = y[i][0];
    g->tile(rows, 1, &t);
  }
  return memcmp(sum[0], sum[1], sizeof *sum) == 0 && memcmp(y[0], y[1], sizeof *y) == 0;
}

static bool taps_agree(void) {
  static _Alignas(64) char weight[PTE_TAPS_BYTES(TAPS)];
  static _Alignas(64) int8_t codes[WIDE * 4 * ((TAPS + 3) / 4)];
  static int8_t x[TAPS][PIXELS * WIDE], y[2][PIXELS * WIDE];
  const size_t taps = 1 + draw(TAPS), channels = 1 + draw(WIDE), pixels = 1 + draw(PIXELS);
  const int8_t *tap[TAPS + 3];
  fill(codes, sizeof codes), fill(x, sizeof x), memset(y, 0, sizeof y);
  columns_draw();
  for (size_t i = 0; i < taps + 3; i++) tap[i] = x[i < taps ? i : taps - 1];
  const pte_taps_i8 t = {.taps = taps, .channels = channels, .columns = columns, .weight = weight};
  for (size_t i = 0; i < 2; i++) {
    const pte_depthwise_i8 *d = i == 0 ? &pte_depthwise_i8__portable : &pte_depthwise_i8__mve;
    d->lay(&t, 0, channels, codes);
    d->taps(&t, 0, channels, tap, pixels, channels, y[i]);
  }
  return memcmp(y[0], y[1], sizeof *y) == 0;
}

/* Scales are drawn among those that a quantizer writes: near 1, and no NaN. */
static void scales_draw(uint8_t *to, size_t count, uint32_t dtype) {
  for (size_t i = 0; i < count; i++) {
    const float f32 = pte_float((120 + draw(15)) << 23 | draw(1u << 23));
    const uint16_t f16 = (uint16_t)((8 + draw(15)) << 10 | draw(1u << 10));
    if (dtype == PTE_F32) memcpy(to + 4 * i, &f32, sizeof f32);
    else if (dtype == PTE_F16) memcpy(to + 2 * i, &f16, sizeof f16);
    else to[i] = (uint8_t)(120 + draw(15));
  }
}

static bool blocks_agree(uint32_t format) {
  enum { PANELS = 2, BLOCKS = (DEPTH + PTE_I8_BLOCK - 1) / PTE_I8_BLOCK };
  static _Alignas(64) uint8_t bytes[PANELS * (DEPTH + 16) * PTE_PANEL];
  static uint8_t scales[PANELS * BLOCKS * PTE_PANEL * 4];
  static _Alignas(64) int8_t codes[ROWS * BLOCKS * PTE_I8_BLOCK];
  static float x[DEPTH], steps[ROWS * BLOCKS], out[2][ROWS][PANELS * PTE_PANEL];
  static int32_t starts[ROWS * BLOCKS];
  const uint32_t bits = pte_format_bits(format), exponent = draw(5) == 0 ? 0 : 5 + draw(4);
  const size_t depth = 1 + draw(DEPTH), rows = 1 + draw(ROWS), panels = 1 + draw(PANELS);
  const size_t blocks = (depth + PTE_I8_BLOCK - 1) / PTE_I8_BLOCK, unit = pte_i8_unit(format);
  fill(bytes, sizeof bytes), memset(out, 0, sizeof out);
  scales_draw(scales, sizeof scales / 4, pte_format_scale(format));
  pte_stored w = {.codes = bytes, .scales = scales, .depth = depth, .format = format};
  w.steps = (depth + unit - 1) / unit * (bits == 6 ? 2 : 1), w.high = bytes + panels * w.steps * 64;
  w.blocks = exponent == 0 ? 1 : (depth + (1u << exponent) - 1) >> exponent;
  w.scale_bytes = pte_dtype_bits(pte_format_scale(format)) / 8;
  w.block_exponent = exponent == 0 ? 31u : exponent - 5u;
  const pte_rows_i8 all = {.blocks = blocks, .codes = codes, .steps = steps, .starts = starts};
  for (size_t r = 0; r < rows; r++) {
    for (size_t k = 0; k < depth; k++) x[k] = (float)(int32_t)draw(20001) - 10000.0f;
    pte_i8_quantize(depth, x, pte_i8_factor(format), 0, codes + r * blocks * PTE_I8_BLOCK,
                    steps + r * blocks, starts + r * blocks);
  }
  for (size_t i = 0; i < 2; i++) {
    const pte_gemm_blocks *g = i == 0 ? &pte_gemm_blocks__portable : &pte_gemm_blocks__mve;
    g->panels(&w, &all, rows, 0, panels, out[i][0], PANELS * PTE_PANEL);
  }
  return memcmp(out[0], out[1], sizeof *out) == 0;
}

#define FORMAT(name) PTE_FORMAT_##name,
static const uint32_t formats[] = {PTE_DOT_FORMATS(FORMAT)};

int main(void) {
  for (int i = 0; i < DRAWS; i++) {
    if (!tiles_agree()) return host_print("tile\n"), 1;
    if (!taps_agree()) return host_print("taps\n"), 1;
    if (!blocks_agree(formats[i % (int)(sizeof formats / sizeof *formats)]))
      return host_print("blocks\n"), 1;
  }
  return host_print("same\n"), 0;
}
