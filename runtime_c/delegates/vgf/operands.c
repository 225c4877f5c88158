#include "delegates/vgf/operands.h"

const uint32_t *pte_vgf_definition(const pte_vgf_code *c, uint32_t id) {
  return id < c->bound && c->at[id] != 0 ? c->words + c->at[id] : NULL;
}

const uint32_t *pte_vgf_defined(const pte_vgf_code *c, uint32_t id, uint32_t opcode) {
  const uint32_t *i = pte_vgf_definition(c, id);
  return i != NULL && pte_vgf_opcode(i) == opcode ? i : NULL;
}

/* An element of a constant in the payload. */
static int32_t stored(const pte_vgf_tensor *tensor, uint32_t i) {
  return tensor->shape.bits == 8 ? (int8_t)tensor->data[i]
                                 : (int32_t)pte_payload_u32(tensor->data + (size_t)i * 4);
}

bool pte_vgf_int(const pte_vgf_code *c, uint32_t id, uint32_t bits, int32_t *out) {
  const uint32_t *i = pte_vgf_defined(c, id, OP_CONSTANT);
  if (i == NULL || i[1] != (bits == 8 ? c->int8 : c->int32)) return false;
  *out = bits == 8 ? (int8_t)(uint8_t)i[3] : (int32_t)i[3];
  return true;
}

bool pte_vgf_bool(const pte_vgf_code *c, uint32_t id, bool *out) {
  *out = pte_vgf_defined(c, id, OP_CONSTANT_TRUE) != NULL;
  return *out || pte_vgf_defined(c, id, OP_CONSTANT_FALSE) != NULL;
}

bool pte_vgf_type_shape(const pte_vgf_code *c, uint32_t type, pte_vgf_shape *out) {
  const uint32_t *i = pte_vgf_defined(c, type, OP_TYPE_TENSOR);
  if (i == NULL) return false;
  const uint32_t *dims = pte_vgf_defined(c, i[4], OP_CONSTANT_COMPOSITE);
  int32_t rank = 0, dim = 0;
  if (dims == NULL || !pte_vgf_int(c, i[3], 32, &rank)) return false;
  *out = (pte_vgf_shape){.bits = i[2] == c->int8 ? 8 : 32, .rank = (uint32_t)rank};
  for (uint32_t k = 0; k < out->rank; k++) {
    if (!pte_vgf_int(c, dims[3 + k], 32, &dim)) return false;
    out->dims[k] = (uint32_t)dim;
  }
  return true;
}

bool pte_vgf_value(const pte_vgf_code *c, uint32_t id, pte_vgf_shape *out) {
  const uint32_t *i = pte_vgf_definition(c, id);
  if (i == NULL) return false;
  switch (pte_vgf_opcode(i)) {
  case OP_EXT_INST:
  case OP_GRAPH_INPUT:
  case OP_GRAPH_CONSTANT:
  case OP_CONSTANT_COMPOSITE:
  case OP_CONSTANT_NULL: return pte_vgf_type_shape(c, i[1], out);
  default: return false;
  }
}

bool pte_vgf_element(const pte_vgf_code *c, uint32_t id, uint32_t bits, uint32_t count, uint32_t k,
                     int32_t *out) {
  pte_vgf_shape shape;
  const uint32_t *i = pte_vgf_definition(c, id);
  if (!pte_vgf_value(c, id, &shape) || shape.bits != bits || shape.rank != 1 ||
      shape.dims[0] != count || k >= count)
    return false;
  switch (pte_vgf_opcode(i)) {
  case OP_CONSTANT_NULL: *out = 0; return true;
  case OP_CONSTANT_COMPOSITE: return pte_vgf_int(c, i[3 + k], bits, out);
  case OP_GRAPH_CONSTANT: {
    uint32_t io = c->model->input_count + c->model->output_count;
    pte_vgf_tensor tensor = pte_vgf_model_tensor(c->model, io + i[3]);
    *out = stored(&tensor, k);
    return true;
  }
  default: return false;
  }
}
