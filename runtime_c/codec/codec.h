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
  uint32_t block;       /* elements that share a scale; 0: a row */
  uint32_t scale_bytes; /* of one scale */
  /* Encodes `count` blocks of `size` elements: w and codes (one a byte) [count][size], scales
   * [count], none overlapping. Returns 0, or 1 where an element is infinite or NaN or a scale does
   * not fit its type; what codes and scales hold then is not said. */
  int (*encode)(const float *w, size_t count, size_t size, uint8_t *codes, void *scales);
} pte_codec;

#endif
