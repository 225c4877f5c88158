/* Encoders: real weights to the codes and scales of a storage format, to the bit what
 * quantize/encode means.
 *
 * codec/<format>.c defines pte_codec_<format>, named as in schema/formats.py; the Python module
 * pteron._codec has one for every such file. Not part of the runtime's library. */
#ifndef PTE_CODEC_H
#define PTE_CODEC_H

#include <stddef.h>
#include <stdint.h>

typedef struct pte_codec {
  uint32_t block;       /* elements that share a scale; 0: any number */
  uint32_t scale_bytes; /* of one scale; of a format with outer scales: an f32, inner times outer */
  /* Encodes `count` blocks of `size` elements: w and codes (one a byte) [count][size], scales
   * [count], none overlapping. Returns 0, or 1 where an element is infinite or NaN or a scale does
   * not fit its type; what codes and scales hold then is not said. A format with outer scales finds
   * each block's in `scales`. */
  int (*encode)(const float *w, size_t count, size_t size, uint8_t *codes, void *scales);
  /* The codes nearest to w / step, `size` of each; step is what a stored scale stands for. */
  void (*nearest)(const float *w, size_t size, float step, uint8_t *codes);
  /* In place of both, of a format with zero points: w = (code - zero) * step. */
  int (*encode_zero)(const float *w, size_t count, size_t size, uint8_t *codes, void *scales,
                     int8_t *zeros);
  void (*nearest_zero)(const float *w, size_t size, float step, int32_t zero, uint8_t *codes);
} pte_codec;

/* What a search tries: quantize/rounding/scale_search.py says what it means. */
typedef struct pte_search {
  const float *values; /* what each code stands for, 256 or as many as there are codes */
  const void *scales;  /* candidates as they are stored, [candidates][count] */
  const int8_t *zeros; /* of each candidate; NULL: none */
  size_t candidates;
  size_t refits;       /* scales fitted to the codes afterwards; 0 for powers of two */
  const float *weight; /* of each element's square, [weights][size]; NULL: all alike */
  size_t weights;      /* block b has those of b % weights */
} pte_search;

/* Betters an encoding of `count` blocks of `size` elements, w [count][size]: codes [count][size]
 * scales [count] and zeros [count] or NULL, as row->encode left them, become those of the candidate
 * or refit of least error. Nothing overlaps. */
void pte_codec_search(const pte_codec *row, const pte_search *search, const float *w, size_t count,
                      size_t size, uint8_t *codes, void *scales, int8_t *zeros);

#endif
