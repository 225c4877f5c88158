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

bool pte_program_find_node(const pte_program *program, uint32_t i, pte_flat *out) {
  if (program->debug.bytes == NULL) return false;
  pte_flat_vector nodes = pte_flat_get_vector(program->debug, PTE_DEBUG_NODES);
  if (i >= nodes.count) return false;
  *out = pte_flat_table_at(program->debug, nodes, i);
  return true;
}

void pte_program_where(const pte_program *program, uint32_t instr, pte_error *err) {
  const pte_file_instr *file = &program->instrs[instr];
  pte_flat node;
  const char *name = "";
  if (pte_program_find_node(program, file->node, &node))
    name = pte_flat_get_string(node, PTE_DEBUG_NODE_NAME);
  pte_error_at(err, instr, file->op, file->node, name);
}
