/* Transposes: y dense, x read with strides, a byte at a time. */
#include "delegates/hexagon/dsp/kernels.h"

void dsp_move(const dsp_memory *memory, const hexagon_op *op) {
  const hexagon_move *m = &op->of.move;
  const uint8_t *x = memory->arena + op->x;
  uint8_t *y = memory->arena + op->y;
  uint32_t at[HEXAGON_MOVE_AXES] = {0}, from = 0;
  const uint32_t inner = m->extents[HEXAGON_MOVE_AXES - 1],
                 step = m->strides[HEXAGON_MOVE_AXES - 1];
  for (;;) {
    for (uint32_t i = 0; i < inner; i++) *y++ = x[from + i * step];
    int axis = HEXAGON_MOVE_AXES - 2;
    for (; axis >= 0; axis--) { /* the odometer: carries end where an axis has room */
      from += m->strides[axis];
      if (++at[axis] < m->extents[axis]) break;
      from -= m->extents[axis] * m->strides[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}
