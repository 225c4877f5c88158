/* A VGF payload: Arm's converter's SPIR-V graph, flattened so that no VGF parser is needed here.
 *
 *   section 1, the table (little-endian)
 *     0     4  version: 1
 *     4    12  numbers of inputs, outputs, constants
 *    16    48  name of the graph's entry point, zero padded
 *    64    96  for each tensor, inputs then outputs then constants:
 *                 0  4  bits of an element: 8 or 32, signed
 *                 4  4  rank, 1 to 6
 *                 8  4  descriptor binding, or id of the graph constant: its number
 *                12  4  zero
 *                16 64  extents, i64; zero behind the rank
 *                80  8  offset in section 3; zero for inputs and outputs
 *                88  8  bytes
 *   section 2: SPIR-V words
 *   section 3: constants, each at a multiple of 64
 *
 * export/delegates/vgf.py writes it. */
#ifndef PTE_DELEGATES_VGF_MODEL_H
#define PTE_DELEGATES_VGF_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "delegates/payload.h"

#define PTE_VGF_TARGET   "vgf-tosa-1.0"
#define PTE_VGF_MAX_RANK 6u
#define PTE_VGF_MAX_IO   32u
/* Of a whole graph: multiplications, and bytes of its values or of its table's tensors. */
#define PTE_VGF_MAX_STEPS (UINT64_C(1) << 40)
#define PTE_VGF_MAX_BYTES (UINT64_C(1) << 32)

typedef struct pte_vgf_shape {
  uint32_t bits, rank;
  uint32_t dims[PTE_VGF_MAX_RANK];
} pte_vgf_shape;

typedef struct pte_vgf_tensor {
  pte_vgf_shape shape;
  uint64_t size_bytes;
  const unsigned char *data; /* a constant's elements, else NULL */
} pte_vgf_tensor;

/* `data` borrowed from the payload, the rest from its room. */
typedef struct pte_vgf_model {
  uint32_t input_count, output_count, constant_count;
  const char *entry;
  const unsigned char *rows, *data;
  const uint32_t *words;
  size_t word_count;
} pte_vgf_model;

/* Checks header, table and sizes of a payload, after table and SPIR-V are in `room`, where that is
 * given. PTE_DELEGATE: `error` says what is wrong. The SPIR-V words are not looked at: see spirv.h.
 */
PTE_CHECKED pte_status pte_vgf_model_read(const void *blob, size_t blob_bytes,
                                          pte_payload_room *room, pte_vgf_model *out,
                                          pte_error *error);

/* Tensor `i` of inputs, outputs, constants. */
pte_vgf_tensor pte_vgf_model_tensor(const pte_vgf_model *model, uint32_t i);

bool pte_vgf_same_shape(const pte_vgf_shape *a, const pte_vgf_shape *b);

/* Elements; at most 2^30, which is checked wherever a shape comes from. 0: beyond that. */
uint64_t pte_vgf_elements(const pte_vgf_shape *shape);

#endif
