/* A payload of this delegate, checked: tensors at its border, operations, weights.
 *
 *   section  bytes
 *         1  u32 protocol, u32 bytes of the arena, u32 inputs, u32 outputs
 *         2  64 for each input, then each output: u32 offset in the arena, u32 rank, u32 zero,
 *            u32 zero, u32 shape[8], u32 zero[4]; int8, dense, in the layout of the program
 *         3  128 for each operation: hexagon_op
 *         4  weights */
#ifndef PTE_HEXAGON_PLAN_H
#define PTE_HEXAGON_PLAN_H

#include "delegates/hexagon/protocol.h"
#include "delegates/payload.h"

typedef struct hexagon_port {
  uint32_t offset, rank, shape[PTE_MAX_RANK];
  uint64_t size_bytes;
} hexagon_port;

/* Borrows the weights from the payload; the rest from its room. */
typedef struct hexagon_plan {
  const unsigned char *ports, *ops, *weights;
  uint32_t input_count, output_count;
  hexagon_layout layout;
} hexagon_plan;

/* Checks all of a payload (any bytes), after what addresses are computed from is in `room`, where
 * that is given. PTE_DELEGATE: something is wrong; `error` says what. */
PTE_CHECKED pte_status hexagon_plan_read(const char *target, const void *blob, size_t blob_bytes,
                                         pte_payload_room *room, hexagon_plan *out,
                                         pte_error *error);

/* Port `index`: inputs, then outputs. */
hexagon_port hexagon_plan_port(const hexagon_plan *plan, uint32_t index);

/* What a status of the DSP means. */
const char *hexagon_status_text(uint32_t status);

#endif
