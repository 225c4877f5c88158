/* The operations of the image. Each has passed hexagon_check_op against these memories. */
#ifndef PTE_HEXAGON_KERNELS_H
#define PTE_HEXAGON_KERNELS_H

#include "delegates/hexagon/protocol.h"

typedef struct dsp_memory {
  const uint8_t *weights;
  uint8_t *arena;
} dsp_memory;

void dsp_conv(const dsp_memory *memory, const hexagon_op *op);
void dsp_depthwise(const dsp_memory *memory, const hexagon_op *op);
void dsp_max_pool(const dsp_memory *memory, const hexagon_op *op);
void dsp_pointwise(const dsp_memory *memory, const hexagon_op *op);
void dsp_move(const dsp_memory *memory, const hexagon_op *op);

#endif
