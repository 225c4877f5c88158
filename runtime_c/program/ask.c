/* What callers ask of an open program. Nothing here can fail but by the caller's arguments. */
#include <string.h>

#include "core/error.h"
#include "core/sized.h"
#include "program/line.h"
#include "program/program.h"

uint32_t pte_program_method_count(const pte_program *p) { return p == NULL ? 0 : p->method_count; }

pte_status pte_program_get_info(const pte_program *p, pte_program_info *out) {
  if (p == NULL) return PTE_BAD_ARGUMENT;
  pte_program_info info = {.method_count = p->method_count,
                           .instr_count = p->instr_count,
                           .delegate_count = p->delegate_count,
                           .file_bytes = p->size,
                           .constant_bytes =
                               pte_flat_get_scalar(p->manifest, PTE_MANIFEST_CONSTANT_BYTES, 8),
                           .producer = pte_flat_get_string(p->manifest, PTE_MANIFEST_PRODUCER),
                           .model = pte_flat_get_string(p->manifest, PTE_MANIFEST_MODEL)};
  if (p->debug.bytes != NULL)
    info.node_count = pte_flat_get_vector(p->debug, PTE_DEBUG_NODES).count;
  return pte_sized_write(out, &info, sizeof info);
}

pte_status pte_program_find_method(const pte_program *p, const char *name, uint32_t *out,
                                   pte_error *error) {
  if (p == NULL || out == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "find_method: null pointer");
  for (uint32_t i = 0; i < p->method_count; i++) {
    const char *candidate = pte_program_string(p, p->methods[i].name);
    if (name == NULL || strcmp(candidate, name) == 0) {
      *out = i;
      return PTE_OK;
    }
  }
  return pte_fail(error, PTE_BAD_ARGUMENT, "method '%s': the program has none of that name", name);
}

static const pte_file_method *method_at(const pte_program *p, uint32_t i) {
  return p == NULL || i >= p->method_count ? NULL : &p->methods[i];
}

pte_status pte_program_method(const pte_program *p, uint32_t method, pte_method_info *out) {
  const pte_file_method *m = method_at(p, method);
  if (m == NULL) return PTE_BAD_ARGUMENT;
  const pte_method_info info = {.name = pte_program_string(p, m->name),
                                .input_count = m->inputs.count,
                                .output_count = m->outputs.count,
                                .state_count = pte_index_states(p, m).count,
                                .value_count = m->values.count,
                                .instr_count = p->index.instrs[method]};
  return pte_sized_write(out, &info, sizeof info);
}

static void give_axis(const pte_program *p, uint32_t index, uint32_t axis, pte_port_info *info) {
  const pte_file_expr *e = &p->exprs[index];
  bool fixed = e->op == PTE_EXPR_CONST;
  pte_line line = {0};
  info->shape[axis] = fixed ? e->value : -1;
  info->minimum[axis] = fixed ? e->value : 0;
  info->maximum[axis] = fixed ? e->value : INT64_MAX;
  info->symbol[axis] = info->of[axis] = "";
  if (!pte_line_of(p->exprs, index, &line)) return;
  const pte_file_dim *d = &p->dims[line.dim];
  info->minimum[axis] = pte_line_at(&line, d->min, 0);
  info->maximum[axis] = pte_line_at(&line, d->max, INT64_MAX);
  info->of[axis] = pte_program_string(p, d->name);
  info->factor[axis] = line.factor;
  info->offset[axis] = line.offset;
  if (e->op == PTE_EXPR_DIM) info->symbol[axis] = info->of[axis];
}

/* Shape, bounds and symbols from the value's expressions. */
static pte_status give_port(const pte_program *p, uint32_t name, uint32_t value_index,
                            bool shape_input, pte_port_info *out) {
  const pte_file_value *value = &p->values[value_index];
  pte_port_info info = {.name = pte_program_string(p, name),
                        .dtype = value->dtype,
                        .rank = value->rank,
                        .shape_input = shape_input};
  for (uint32_t axis = 0; axis < info.rank; axis++)
    give_axis(p, p->tables.refs[value->shape + axis], axis, &info);
  return pte_sized_write(out, &info, sizeof info);
}

pte_status pte_program_input(const pte_program *p, uint32_t method, uint32_t index,
                             pte_port_info *out) {
  const pte_file_method *m = method_at(p, method);
  if (m == NULL || index >= m->inputs.count) return PTE_BAD_ARGUMENT;
  const pte_file_port *port = &p->ports[m->inputs.start + index];
  bool decides = (p->index.shape_inputs[index / 32] >> index % 32 & 1) != 0;
  return give_port(p, port->name, port->value, decides, out);
}

pte_status pte_program_output(const pte_program *p, uint32_t method, uint32_t index,
                              pte_port_info *out) {
  const pte_file_method *m = method_at(p, method);
  if (m == NULL || index >= m->outputs.count) return PTE_BAD_ARGUMENT;
  const pte_file_port *port = &p->ports[m->outputs.start + index];
  return give_port(p, port->name, port->value, false, out);
}

pte_status pte_program_state(const pte_program *p, uint32_t method, uint32_t index,
                             pte_port_info *out) {
  const pte_file_method *m = method_at(p, method);
  if (m == NULL) return PTE_BAD_ARGUMENT;
  pte_range states = pte_index_states(p, m);
  if (index >= states.count) return PTE_BAD_ARGUMENT;
  uint32_t value = p->index.states[states.start + index];
  return give_port(p, p->states[p->values[value].base].name, value, false, out);
}

pte_status pte_program_instr(const pte_program *p, uint32_t instr, pte_instr_info *out) {
  if (p == NULL || instr >= p->instr_count) return PTE_BAD_ARGUMENT;
  const pte_file_instr *file = &p->instrs[instr];
  const pte_instr_info info = {
      .op = file->op, .node = file->node, .op_name = pte_op_text(pte_program_row(file)->name)};
  return pte_sized_write(out, &info, sizeof info);
}

pte_status pte_program_node(const pte_program *p, uint32_t node, pte_node_info *out) {
  pte_flat at;
  if (p == NULL || !pte_program_find_node(p, node, &at)) return PTE_BAD_ARGUMENT;
  const pte_node_info info = {.name = pte_flat_get_string(at, PTE_DEBUG_NODE_NAME),
                              .type = pte_flat_get_string(at, PTE_DEBUG_NODE_OP_TYPE),
                              .source = pte_flat_get_string(at, PTE_DEBUG_NODE_SOURCE)};
  return pte_sized_write(out, &info, sizeof info);
}

const char *pte_dtype_name(uint32_t dtype) {
  return dtype < PTE_DTYPE_COUNT ? pte_dtype_names[dtype] : "";
}
