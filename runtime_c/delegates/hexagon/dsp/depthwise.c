/* Depthwise convolution, average and maximum: 128 channels at a time, an output pixel after the
 * other. For sums, the codes of four taps are interleaved to four bytes a channel, so that one
 * vrmpy adds four products in each of 32 channels; averages are sums with weights of 1. */
#include "delegates/hexagon/dsp/kernels.h"
#include "delegates/hexagon/dsp/vector.h"

/* Walks the taps of one output pixel over 128 channels. */
typedef struct taps {
  const hexagon_window *w;
  const uint8_t *x; /* of the batch, at the first channel */
  vector outside;
  int32_t first_h, first_w;
  uint32_t h, at; /* kernel row, and column in it */
} taps;

/* The codes under the next tap; `outside` where it lies beside x or there is none left. */
static vector next_tap(taps *t) {
  const hexagon_window *w = t->w;
  if (t->h == w->kernel_h) return t->outside;
  int32_t h = t->first_h + (int32_t)(t->h * w->dilation_h);
  int32_t column = t->first_w + (int32_t)(t->at * w->dilation_w);
  if (++t->at == w->kernel_w) t->at = 0, t->h++;
  if (h < 0 || h >= (int32_t)w->in_h || column < 0 || column >= (int32_t)w->in_w) return t->outside;
  return load(t->x + ((uint32_t)h * w->in_w + (uint32_t)column) * w->in_c);
}

/* Four vectors of 128 codes to four of [32 channels][4 taps]. */
static void interleave(const vector *tap, vector *out) {
  vector_pair low = Q6_W_vshuff_VVR(tap[1], tap[0], -1);
  vector_pair high = Q6_W_vshuff_VVR(tap[3], tap[2], -1);
  vector_pair first = Q6_W_vshuff_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -2);
  vector_pair second = Q6_W_vshuff_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -2);
  out[0] = Q6_V_lo_W(first), out[1] = Q6_V_hi_W(first);
  out[2] = Q6_V_lo_W(second), out[3] = Q6_V_hi_W(second);
}

static vector weighted(taps *t, const dsp_memory *memory, const hexagon_op *op, uint32_t block,
                       const finish *f) {
  uint32_t steps = (t->w->kernel_h * t->w->kernel_w + 3) / 4;
  const vector *weights = (const vector *)(memory->weights + op->weights) + block * steps * 4;
  const vector *bias = (const vector *)(memory->weights + op->bias) + block * 4;
  const vector *multiplier = (const vector *)(memory->weights + op->multiplier) + block * 4;
  const vector *shift = (const vector *)(memory->weights + op->shift) + block * 4;
  vector sums[4] = {bias[0], bias[1], bias[2], bias[3]};
  for (uint32_t k = 0; k < steps; k++) {
    vector tap[4], codes[4];
    for (int i = 0; i < 4; i++) tap[i] = next_tap(t);
    interleave(tap, codes);
    for (int i = 0; i < 4; i++)
      sums[i] = Q6_Vw_vrmpyacc_VwVbVb(sums[i], codes[i], weights[k * 4 + (uint32_t)i]);
  }
  for (int i = 0; i < 4; i++) sums[i] = finished(f, sums[i], multiplier[i], shift[i]);
  return packed(sums);
}

static vector largest(taps *t) {
  vector y = t->outside;
  while (t->h < t->w->kernel_h) y = Q6_Vb_vmax_VbVb(y, next_tap(t));
  return y;
}

static void windows(const dsp_memory *memory, const hexagon_op *op, int32_t outside) {
  const hexagon_window *w = &op->of.window;
  const finish f = finish_of(op);
  uint8_t *y = memory->arena + op->y;
  for (uint32_t b = 0; b < w->batch; b++)
    for (uint32_t h = 0; h < w->out_h; h++)
      for (uint32_t v = 0; v < w->out_w; v++, y += w->in_c)
        for (uint32_t c = 0; c < w->in_c; c += HEXAGON_ALIGN) {
          taps t = {
              .w = w,
              .x = memory->arena + op->x + b * w->in_h * w->in_w * w->in_c + c,
              .outside = splat_byte(outside),
              .first_h = (int32_t)(h * w->stride_h) - (int32_t)w->pad_h,
              .first_w = (int32_t)(v * w->stride_w) - (int32_t)w->pad_w,
          };
          vector codes = op->kind == HEXAGON_MAX_POOL
                             ? largest(&t)
                             : weighted(&t, memory, op, c / HEXAGON_ALIGN, &f);
          store_part(y + c, codes, w->in_c - c);
        }
}

void dsp_depthwise(const dsp_memory *memory, const hexagon_op *op) {
  windows(memory, op, op->x_zero);
}

void dsp_max_pool(const dsp_memory *memory, const hexagon_op *op) { windows(memory, op, -128); }
