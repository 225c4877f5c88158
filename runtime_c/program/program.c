/* Reading an open program, for sessions and for callers. Nothing here can fail but by the caller's
 * arguments. */
#include "program/program.h"

#include <string.h>

#include "core/error.h"

const char *pte_program_string(const pte_program *program, uint32_t i) {
  return i < program->strings.count ? pte_flat_string_at(program->strings, i, NULL) : "";
}

const void *pte_program_constant(const pte_program *program, uint32_t i) {
  const pte_file_constant *c = &program->constants[i];
  return program->segments[c->segment].data + c->offset;
}

const void *pte_program_blob(const pte_program *program, uint32_t delegate, uint64_t *out_size) {
  const pte_segment *segment = &program->segments[program->delegates[delegate].segment];
  *out_size = segment->size;
  return segment->data;
}

const void *pte_program_attrs(const pte_program *program, const pte_file_instr *instr,
                              void *scratch) {
  const pte_op_row *row = pte_op_find(instr->op);
  if (instr->attrs == PTE_NONE) return pte_op_defaults(row);
  const uint8_t *stored = (const uint8_t *)program->attrs + instr->attrs;
  uint32_t size;
  memcpy(&size, stored, sizeof size);
  if (size >= row->attrs_bytes) return stored;
  uint32_t whole = row->attrs_bytes;
  memcpy(scratch, pte_op_defaults(row), whole);
  memcpy(scratch, stored, size);
  memcpy(scratch, &whole, sizeof whole);
  return scratch;
}

const pte_op_row *pte_program_row(const pte_file_instr *instr) { return pte_op_find(instr->op); }

const char *pte_program_node_name(const pte_program *program, uint32_t i) {
  if (program->debug.bytes == NULL) return "";
  pte_flat_vector nodes = pte_flat_get_vector(program->debug, PTE_DEBUG_NODES);
  if (i >= nodes.count) return "";
  return pte_flat_get_string(pte_flat_table_at(program->debug, nodes, i), PTE_DEBUG_NODE_NAME);
}

uint32_t pte_program_method_count(const pte_program *program) {
  return program == NULL ? 0 : program->method_count;
}

pte_status pte_program_find_method(const pte_program *program, const char *name, uint32_t *out,
                                   pte_error *error) {
  if (program == NULL || out == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "find_method: null pointer");
  for (uint32_t i = 0; i < program->method_count; i++) {
    const char *candidate = pte_program_string(program, program->methods[i].name);
    if (name == NULL || strcmp(candidate, name) == 0) {
      *out = i;
      return PTE_OK;
    }
  }
  return pte_fail(error, PTE_BAD_ARGUMENT, "method '%s': the program has none of that name", name);
}

pte_status pte_program_method(const pte_program *program, uint32_t method, pte_method_info *out) {
  if (program == NULL || out == NULL || method >= program->method_count) return PTE_BAD_ARGUMENT;
  const pte_file_method *m = &program->methods[method];
  pte_method_info info = {.name = pte_program_string(program, m->name),
                          .input_count = m->inputs.count,
                          .output_count = m->outputs.count,
                          .state_count = pte_index_states(program, m).count,
                          .value_count = m->values.count,
                          .instr_count = program->index.instrs[method]};
  *out = info;
  return PTE_OK;
}

/* Fills shape, bounds and symbols from expressions refs[shape ...). */
static void describe(const pte_program *p, uint32_t shape, pte_port_info *info) {
  for (uint32_t axis = 0; axis < info->rank; axis++) {
    const pte_file_expr *e = &p->exprs[p->tables.refs[shape + axis]];
    bool fixed = e->op == PTE_EXPR_CONST, symbol = e->op == PTE_EXPR_DIM;
    const pte_file_dim *d = symbol ? &p->dims[e->a] : NULL;
    info->shape[axis] = fixed ? e->value : -1;
    info->minimum[axis] = fixed ? e->value : symbol ? d->min : 0;
    info->maximum[axis] = fixed ? e->value : symbol ? d->max : INT64_MAX;
    info->symbol[axis] = symbol ? pte_program_string(p, d->name) : "";
  }
}

static pte_status port_info(const pte_program *p, pte_range ports, uint32_t index,
                            pte_port_info *out) {
  if (index >= ports.count) return PTE_BAD_ARGUMENT;
  const pte_file_port *port = &p->ports[ports.start + index];
  const pte_file_value *value = &p->values[port->value];
  pte_port_info info = {
      .name = pte_program_string(p, port->name), .dtype = value->dtype, .rank = value->rank};
  describe(p, value->shape, &info);
  *out = info;
  return PTE_OK;
}

pte_status pte_program_input(const pte_program *program, uint32_t method, uint32_t index,
                             pte_port_info *out) {
  if (program == NULL || out == NULL || method >= program->method_count) return PTE_BAD_ARGUMENT;
  pte_status status = port_info(program, program->methods[method].inputs, index, out);
  if (status == PTE_OK)
    out->shape_input = program->index.shape_inputs[index / 32] >> index % 32 & 1;
  return status;
}

pte_status pte_program_output(const pte_program *program, uint32_t method, uint32_t index,
                              pte_port_info *out) {
  if (program == NULL || out == NULL || method >= program->method_count) return PTE_BAD_ARGUMENT;
  return port_info(program, program->methods[method].outputs, index, out);
}

pte_status pte_program_state(const pte_program *program, uint32_t method, uint32_t index,
                             pte_port_info *out) {
  if (program == NULL || out == NULL || method >= program->method_count) return PTE_BAD_ARGUMENT;
  pte_range states = pte_index_states(program, &program->methods[method]);
  if (index >= states.count) return PTE_BAD_ARGUMENT;
  const pte_file_value *value = &program->values[program->index.states[states.start + index]];
  pte_port_info info = {.name = pte_program_string(program, program->states[value->base].name),
                        .dtype = value->dtype,
                        .rank = value->rank};
  describe(program, value->shape, &info);
  *out = info;
  return PTE_OK;
}
