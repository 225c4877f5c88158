/* Convolution and linear: windows are gathered into rows, HEXAGON_CHUNK at a time, then multiplied:
 * a vrmpy adds four products in each of 32 lanes, a lane an output channel, the same four codes of
 * x to all. Four rows share each vector of weights. A window of one pixel needs no gathering. */
#include "delegates/hexagon/dsp/kernels.h"
#include "delegates/hexagon/dsp/vector.h"

/* Rows of one group, and where their results go. */
typedef struct rows {
  const uint8_t *x;
  uint8_t *y;
  uint32_t count, row_bytes, pixel_bytes; /* of y: all groups */
} rows;

/* One tile of 32 channels: weights, then bias, multiplier and shift. */
typedef struct tile {
  const vector *weights;
  vector bias, multiplier, shift;
  uint32_t width;
} tile;

static void four_rows(const uint8_t *const *x, const tile *t, uint32_t words, vector *sums) {
  vector a = t->bias, b = t->bias, c = t->bias, d = t->bias;
  const word *x0 = (const word *)x[0], *x1 = (const word *)x[1];
  const word *x2 = (const word *)x[2], *x3 = (const word *)x[3];
  for (uint32_t k = 0; k < words; k++) {
    vector w = t->weights[k];
    a = Q6_Vw_vrmpyacc_VwVbVb(a, w, Q6_V_vsplat_R(x0[k]));
    b = Q6_Vw_vrmpyacc_VwVbVb(b, w, Q6_V_vsplat_R(x1[k]));
    c = Q6_Vw_vrmpyacc_VwVbVb(c, w, Q6_V_vsplat_R(x2[k]));
    d = Q6_Vw_vrmpyacc_VwVbVb(d, w, Q6_V_vsplat_R(x3[k]));
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
}

static void multiply_tile(const rows *r, const tile *t, const finish *f, uint8_t *y) {
  for (uint32_t i = 0; i < r->count; i += 4) {
    uint32_t many = r->count - i < 4 ? r->count - i : 4;
    const uint8_t *x[4];
    vector sums[4];
    for (uint32_t j = 0; j < 4; j++) x[j] = r->x + (i + (j < many ? j : 0)) * r->row_bytes;
    four_rows(x, t, r->row_bytes / 4, sums);
    for (uint32_t j = 0; j < 4; j++) sums[j] = finished(f, sums[j], t->multiplier, t->shift);
    vector codes = packed(sums);
    for (uint32_t j = 0; j < many; j++)
      copy_bytes(y + (i + j) * r->pixel_bytes, (const uint8_t *)&codes + j * HEXAGON_LANES,
                 t->width);
  }
}

static void multiply(const dsp_memory *memory, const hexagon_op *op, const rows *r,
                     uint32_t group) {
  const hexagon_window *w = &op->of.window;
  const finish f = finish_of(op);
  uint32_t tiles = (w->out_c + HEXAGON_LANES - 1) / HEXAGON_LANES, words = r->row_bytes / 4;
  for (uint32_t n = 0; n < tiles; n++) {
    uint32_t at = group * tiles + n, left = w->out_c - n * HEXAGON_LANES;
    tile t = {
        (const vector *)(memory->weights + op->weights) + at * words,
        ((const vector *)(memory->weights + op->bias))[at],
        ((const vector *)(memory->weights + op->multiplier))[at],
        ((const vector *)(memory->weights + op->shift))[at],
        left < HEXAGON_LANES ? left : HEXAGON_LANES,
    };
    multiply_tile(r, &t, &f, r->y + group * w->out_c + n * HEXAGON_LANES);
  }
}

/* Whole vectors, so up to 127 bytes too many are read and written: the next copy covers them, and
 * scratch has room for the last. */
static uint8_t *append(uint8_t *to, const uint8_t *from, uint32_t count) {
  for (uint32_t i = 0; i < count; i += HEXAGON_ALIGN) store(to + i, load(from + i));
  return to + count;
}

static uint8_t *append_zeros(uint8_t *to, vector zero, uint32_t count) {
  for (uint32_t i = 0; i < count; i += HEXAGON_ALIGN) store(to + i, zero);
  return to + count;
}

typedef struct pixel {
  uint32_t batch, h, w;
} pixel;

/* The window of one output pixel: kernel rows of `in_c` codes; outside x stands its zero point. */
static void gather(const uint8_t *x, const hexagon_window *w, pixel p, uint32_t group, vector zero,
                   uint8_t *to) {
  uint32_t pixel_bytes = w->in_c * w->groups;
  int32_t first_w = (int32_t)(p.w * w->stride_w) - (int32_t)w->pad_w;
  int32_t last_w = first_w + (int32_t)((w->kernel_w - 1) * w->dilation_w);
  int whole = first_w >= 0 && last_w < (int32_t)w->in_w && w->dilation_w == 1 && w->groups == 1;
  for (uint32_t kh = 0; kh < w->kernel_h; kh++) {
    int32_t h = (int32_t)(p.h * w->stride_h + kh * w->dilation_h) - (int32_t)w->pad_h;
    if (h < 0 || h >= (int32_t)w->in_h) {
      to = append_zeros(to, zero, w->kernel_w * w->in_c);
      continue;
    }
    const uint8_t *row =
        x + (p.batch * w->in_h + (uint32_t)h) * w->in_w * pixel_bytes + group * w->in_c;
    if (whole) {
      to = append(to, row + (uint32_t)first_w * pixel_bytes, w->kernel_w * w->in_c);
      continue;
    }
    for (int32_t at = first_w; at <= last_w; at += (int32_t)w->dilation_w)
      to = at < 0 || at >= (int32_t)w->in_w ? append_zeros(to, zero, w->in_c)
                                            : append(to, row + (uint32_t)at * pixel_bytes, w->in_c);
  }
}

static pixel next(const hexagon_window *w, pixel p) {
  if (++p.w < w->out_w) return p;
  p.w = 0;
  if (++p.h < w->out_h) return p;
  return (pixel){p.batch + 1, 0, 0};
}

static void conv_group(const dsp_memory *memory, const hexagon_op *op, uint32_t group,
                       uint32_t pixels) {
  const hexagon_window *w = &op->of.window;
  uint8_t *scratch = memory->arena + op->scratch, *y = memory->arena + op->y;
  uint32_t terms = hexagon_terms(w), pixel_bytes = w->out_c * w->groups;
  vector zero = splat_byte(op->x_zero);
  pixel p = {0, 0, 0};
  for (uint32_t done = 0; done < pixels; done += HEXAGON_CHUNK) {
    uint32_t count = pixels - done < HEXAGON_CHUNK ? pixels - done : HEXAGON_CHUNK;
    for (uint32_t i = 0; i < count; i++, p = next(w, p))
      gather(memory->arena + op->x, w, p, group, zero, scratch + i * terms);
    rows r = {scratch, y + done * pixel_bytes, count, terms, pixel_bytes};
    multiply(memory, op, &r, group);
  }
}

void dsp_conv(const dsp_memory *memory, const hexagon_op *op) {
  const hexagon_window *w = &op->of.window;
  uint32_t pixels = w->batch * w->out_h * w->out_w;
  if (hexagon_is_direct(w)) {
    rows r = {memory->arena + op->x, memory->arena + op->y, pixels, w->in_c, w->out_c};
    multiply(memory, op, &r, 0);
    return;
  }
  for (uint32_t g = 0; g < w->groups; g++) conv_group(memory, op, g, pixels);
}
