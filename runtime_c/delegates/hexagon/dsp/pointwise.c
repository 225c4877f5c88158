/* Elementwise work, 128 codes at a time. Tensors own whole vectors, so there is no tail. */
#include "delegates/hexagon/dsp/kernels.h"
#include "delegates/hexagon/dsp/vector.h"

typedef struct factor {
  vector zero, multiplier, shift;
} factor;

static factor factor_of(const dsp_memory *memory, const hexagon_op *op, int i, int32_t zero) {
  return (factor){Q6_V_vsplat_R(zero),
                  Q6_V_vsplat_R(((const word *)(memory->weights + op->multiplier))[i]),
                  Q6_V_vsplat_R(((const word *)(memory->weights + op->shift))[i])};
}

static vector addend(const factor *f, vector codes) {
  return scaled(Q6_Vw_vsub_VwVw(codes, f->zero), f->multiplier, f->shift);
}

static void rescale(const dsp_memory *memory, const hexagon_op *op) {
  const vector *x = (const vector *)(memory->arena + op->x);
  vector *y = (vector *)(memory->arena + op->y);
  const factor only = factor_of(memory, op, 0, op->x_zero);
  const finish f = finish_of(op);
  for (uint32_t i = 0; i * HEXAGON_ALIGN < op->of.count; i++) {
    vector v[4];
    unpacked(x[i], v);
    for (int j = 0; j < 4; j++)
      v[j] = finished(&f, Q6_Vw_vsub_VwVw(v[j], only.zero), only.multiplier, only.shift);
    y[i] = packed(v);
  }
}

static void add(const dsp_memory *memory, const hexagon_op *op) {
  const vector *a = (const vector *)(memory->arena + op->x);
  const vector *b = (const vector *)(memory->arena + op->x2);
  vector *y = (vector *)(memory->arena + op->y);
  const factor left = factor_of(memory, op, 0, op->x_zero);
  const factor right = factor_of(memory, op, 1, op->x2_zero);
  const factor sum = factor_of(memory, op, 2, 0);
  const finish f = finish_of(op);
  for (uint32_t i = 0; i * HEXAGON_ALIGN < op->of.count; i++) {
    vector u[4], v[4];
    unpacked(a[i], u);
    unpacked(b[i], v);
    for (int j = 0; j < 4; j++)
      v[j] = finished(&f, Q6_Vw_vadd_VwVw_sat(addend(&left, u[j]), addend(&right, v[j])),
                      sum.multiplier, sum.shift);
    y[i] = packed(v);
  }
}

static void clamp(const dsp_memory *memory, const hexagon_op *op) {
  const vector *x = (const vector *)(memory->arena + op->x);
  vector *y = (vector *)(memory->arena + op->y);
  vector low = splat_byte(op->low), high = splat_byte(op->high);
  for (uint32_t i = 0; i * HEXAGON_ALIGN < op->of.count; i++)
    y[i] = Q6_Vb_vmax_VbVb(Q6_Vb_vmin_VbVb(x[i], high), low);
}

void dsp_pointwise(const dsp_memory *memory, const hexagon_op *op) {
  switch (op->kind) {
  case HEXAGON_RESCALE: rescale(memory, op); break;
  case HEXAGON_ADD: add(memory, op); break;
  default: clamp(memory, op); break;
  }
}
