/* The scale of least squared error for each block, to the bit what
 * quantize/rounding/scale_search.py means.
 *
 * A candidate replaces the best one so far where its error is less; errors and the sums of a refit
 * run in 8 lanes of f64, element i in lane i % 8, that are halved three times. */
#include "codec/block.h"

enum { LANES = 8, TILE = 256 };

/* Room for a scale of any type. */
typedef union stored {
  uint8_t e8m0;
  uint16_t f16;
  float f32;
} stored;

/* One block, and where its best encoding so far lies. */
typedef struct block {
  const pte_codec *row;
  const float *values, *w, *weight;
  size_t size;
  uint8_t *codes;
} block;

static float step_of(const pte_codec *row, const void *scales, size_t at) {
  if (row->scale_bytes == 1) return pte_step_e8m0(((const uint8_t *)scales)[at]);
  if (row->scale_bytes == 2) return pte_f32_from_f16(((const uint16_t *)scales)[at]);
  return ((const float *)scales)[at];
}

static int32_t zero_of(const int8_t *zeros, size_t at) { return zeros == NULL ? 0 : zeros[at]; }

static void nearest(const block *b, const float *w, size_t size, float step, int32_t zero,
                    uint8_t *codes) {
  if (b->row->nearest_zero) b->row->nearest_zero(w, size, step, zero, codes);
  else b->row->nearest(w, size, step, codes);
}

static void copy_scale(const pte_codec *row, void *to, size_t at, const void *from, size_t i) {
  if (row->scale_bytes == 1) ((uint8_t *)to)[at] = ((const uint8_t *)from)[i];
  if (row->scale_bytes == 2) ((uint16_t *)to)[at] = ((const uint16_t *)from)[i];
  if (row->scale_bytes == 4) ((float *)to)[at] = ((const float *)from)[i];
}

/* A real scale in its type: finite, 1 where there is nothing to scale. */
static stored store(const pte_codec *row, float scale) {
  const float least = row->scale_bytes == 2 ? 0x1p-24f : 0x1p-149f;
  const float most = row->scale_bytes == 2 ? 65504.0f : 0x1.fffffep127f;
  float size = pte_abs(scale), high = size < least ? least : size, kept = high > most ? most : high;
  float made = scale == 0 ? 1.0f : pte_float(pte_bits(kept) | (pte_bits(scale) & 0x80000000u));
  return row->scale_bytes == 2 ? (stored){.f16 = pte_f16_from_f32(made)} : (stored){.f32 = made};
}

static double halved(const double *lane) {
  double four[4], two[2];
  for (size_t l = 0; l < 4; l++) four[l] = lane[l] + lane[l + 4];
  for (size_t l = 0; l < 2; l++) two[l] = four[l] + four[l + 2];
  return two[0] + two[1];
}

/* Adds what each element misses, squared in f32. */
PTE_ALWAYS void add_misses(const float *level, const float *w, const float *weight, size_t size,
                           float step, double *lane) {
  for (size_t l = 0; l < size; l++) {
    float miss = level[l] * step - w[l], square = miss * miss;
    lane[l] += (double)(weight ? square * weight[l] : square);
  }
}

PTE_ALWAYS void add_products(const float *level, const float *w, const float *weight, size_t size,
                             double *power, double *along) {
  for (size_t l = 0; l < size; l++) {
    float heavy = weight ? level[l] * weight[l] : level[l];
    power[l] += (double)(heavy * level[l]);
    along[l] += (double)(heavy * w[l]);
  }
}

/* The error under `step`, of the codes nearest to w or, if `kept`, of those that the block has. */
static double error_of(const block *b, float step, int32_t zero, bool kept) {
  double lane[LANES] = {0};
  float level[TILE];
  uint8_t made[TILE];
  for (size_t begin = 0; begin < b->size; begin += TILE) {
    size_t size = b->size - begin < TILE ? b->size - begin : TILE, i = 0;
    const float *w = b->w + begin, *weight = b->weight ? b->weight + begin : NULL;
    const uint8_t *codes = kept ? b->codes + begin : made;
    if (!kept) nearest(b, w, size, step, zero, made);
    for (size_t j = 0; j < size; j++) level[j] = b->values[codes[j]] - (float)zero;
    if (weight)
      for (; i + LANES <= size; i += LANES)
        add_misses(level + i, w + i, weight + i, LANES, step, lane);
    else
      for (; i + LANES <= size; i += LANES) add_misses(level + i, w + i, NULL, LANES, step, lane);
    add_misses(level + i, w + i, weight ? weight + i : NULL, size - i, step, lane);
  }
  return halved(lane);
}

/* The scale of least error for the codes as they are. */
static float refit(const block *b, int32_t zero) {
  double power[LANES] = {0}, along[LANES] = {0};
  float level[TILE];
  for (size_t begin = 0; begin < b->size; begin += TILE) {
    size_t size = b->size - begin < TILE ? b->size - begin : TILE, i = 0;
    const float *w = b->w + begin, *weight = b->weight ? b->weight + begin : NULL;
    for (size_t j = 0; j < size; j++) level[j] = b->values[b->codes[begin + j]] - (float)zero;
    for (; i + LANES <= size; i += LANES)
      add_products(level + i, w + i, weight ? weight + i : NULL, LANES, power, along);
    add_products(level + i, w + i, weight ? weight + i : NULL, size - i, power, along);
  }
  double most = halved(power);
  return (float)(halved(along) / (most < 1e-300 ? 1e-300 : most));
}

static void search_block(const pte_search *search, const block *b, size_t at, size_t count,
                         void *scales, int8_t *zeros) {
  double least = error_of(b, step_of(b->row, scales, at), zero_of(zeros, at), true);
  size_t best = search->candidates;
  for (size_t c = 0; c < search->candidates; c++) {
    double error = error_of(b, step_of(b->row, search->scales, c * count + at),
                            zero_of(search->zeros, c * count + at), false);
    best = error < least ? c : best;
    least = error < least ? error : least;
  }
  if (best < search->candidates) {
    copy_scale(b->row, scales, at, search->scales, best * count + at);
    if (zeros) zeros[at] = search->zeros[best * count + at];
    nearest(b, b->w, b->size, step_of(b->row, scales, at), zero_of(zeros, at), b->codes);
  }
  for (size_t r = 0; r < search->refits; r++) {
    const int32_t zero = zero_of(zeros, at);
    float wanted = refit(b, zero);
    if (wanted != wanted) break; /* sums that overflowed */
    stored scale = store(b->row, wanted);
    double error = error_of(b, step_of(b->row, &scale, 0), zero, false);
    if (!(error < least)) break; /* the next one would be the same */
    least = error;
    copy_scale(b->row, scales, at, &scale, 0);
    nearest(b, b->w, b->size, step_of(b->row, scales, at), zero, b->codes);
  }
}

void pte_codec_search(const pte_codec *row, const pte_search *search, const float *w, size_t count,
                      size_t size, uint8_t *codes, void *scales, int8_t *zeros) {
  for (size_t at = 0; at < count; at++) {
    const float *weight =
        search->weight ? search->weight + at % search->weights * size : search->weight;
    const block one = {row, search->values, w + at * size, weight, size, codes + at * size};
    search_block(search, &one, at, count, scales, zeros);
  }
}
