/* Weights of the storage formats (schema/formats.py) in panels: where codes and scales lie, and
 * decoding them to f32, w = (value(code) - zero) * scale + shift, each operation rounded.
 *
 *     8-bit codes  [panel][ceil(K/4)][16][4]
 *     4-bit codes  [panel][ceil(K/8)][16][4], byte j of a row: code k+j low, code k+4+j high
 *     2-bit codes  [panel][ceil(K/16)][16][4], byte j: k+j, k+4+j, k+8+j, k+12+j from bit 0 up
 *     6-bit codes  their low 4 bits as 4-bit codes [panel][2 ceil(K/16)][16][4], then their high 2
 *                  bits as 2-bit codes [panel][ceil(K/16)][16][4]
 *     3-bit codes  their low 2 bits as 2-bit codes [panel][2 ceil(K/32)][16][4], then their high
 *                  bits [panel][ceil(K/32)][16][4]: byte j has those of k+j, k+4+j, ... k+28+j
 *     scales       [panel][ceil(K/block)][16] behind the codes; [panel][16] where block is 0
 *     second       zero points or what is added, the same; then the outer scales of both */
#ifndef PTE_PANEL_DECODE_H
#define PTE_PANEL_DECODE_H

#include "core/half.h"
#include "gen/layout.h"
#include "kernels/gemm/gemm_plain.h"
#include "kernels/variant.h"

enum { PTE_STORED_PLANES = 4 }; /* scales, second, and their outer ones */

typedef struct pte_stored {
  const uint8_t *codes, *high; /* high: the upper plane of 3 and 6-bit codes */
  const uint8_t *scales;
  const uint8_t *planes[PTE_STORED_PLANES]; /* NULL: none; the first is `scales` */
  size_t depth;                             /* K */
  size_t steps;                             /* of 64 bytes, a panel; of the lower plane */
  size_t blocks;                            /* rows of 16 scales, a panel */
  size_t block;                             /* elements a scale */
  size_t outers, outer_block;
  uint32_t format, scale_bytes;
  uint32_t block_exponent; /* of the blocks of 32 in a block, 2^this of them; all bits: the row */
  bool floats;             /* FP8, each scale f32 or E8M0 and all there is, K in whole steps */
  bool many_misses, far_memory; /* of the machine (core/machine.h) */
  uint32_t turn_bytes;          /* of panels that stay in L2 while rows take turns at them */
} pte_stored;

typedef struct pte_panel_decode {
  /* a pte_panel_read of a pte_stored */
  const float *(*read)(const void *self, size_t panel, size_t k, size_t count, float *block);
  /* a pte_panels_few of one whose codes are `floats`; NULL: there is none */
  bool (*few)(const void *self, size_t panel, size_t count, const pte_few_f32 *few);
} pte_panel_decode;

PTE_FAMILY(panel_decode)

/* The parts of a weight whose format has scales, as the call's machine reads it. */
pte_stored pte_stored_of(const pte_tensor *w, const pte_call *call);

/* The panels of any f32 weight. */
typedef struct pte_weight {
  pte_plain_panels plain;
  pte_stored stored;
} pte_weight;

/* `memory` is used until the product is done; the call's features choose the decoder. */
pte_panels pte_weight_panels(const pte_tensor *w, const pte_call *call, pte_weight *memory);

/* An E8M0 byte: 2^(byte - 127), 255 is NaN. Byte 0 is subnormal. */
static inline float pte_f32_from_e8m0(uint8_t byte) {
  uint32_t ends = pte_mask(byte == 0) | pte_mask(byte == 255);
  return pte_float((uint32_t)byte << 23 | (ends & 0x00400000u));
}

/* pte_format_codes, a function so that its table is there once. */
uint32_t pte_panel_codes(uint32_t format);

#endif
