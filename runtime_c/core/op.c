#include "core/op.h"

const pte_op_row *pte_op_find(uint32_t id) {
  uint32_t begin = 0, end = pte_op_row_count; /* rows are sorted by id */
  while (begin < end) {
    uint32_t middle = begin + (end - begin) / 2;
    if (pte_op_rows[middle].id == id) return &pte_op_rows[middle];
    if (pte_op_rows[middle].id < id) begin = middle + 1;
    else end = middle;
  }
  return NULL;
}

static const pte_op_port *port_at(uint32_t first, uint32_t count, bool variadic, uint32_t i) {
  if (i >= count && !variadic) return NULL;
  return &pte_op_ports[first + (i < count ? i : count - 1)];
}

const pte_op_port *pte_op_input(const pte_op_row *row, uint32_t i) {
  return port_at(row->inputs, row->input_count, row->input_variadic, i);
}

const pte_op_port *pte_op_output(const pte_op_row *row, uint32_t i) {
  return port_at(row->outputs, row->output_count, row->output_variadic, i);
}
