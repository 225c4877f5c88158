/* Runs one shape check for test_shape.py: a library with one entry, kernels are stubs. */
#include "core/relation.h"
#include "core/shape.h"
#include "gen/ops.h"

#define STUB(name) const pte_kernel pte_##name##_kernel = {0};
PTE_KERNELS(STUB)

int shape_agrees(uint32_t op, const void *attrs, const int64_t *ints, uint32_t count,
                 const int32_t *ports, const int64_t *shapes, int ranks_only);

/* `ports`: (output, index, rank, dtype, format, block, groups) of each tensor in order; `shapes`:
 * its extents, one after the other; `ints`: what lists of the attributes refer to. */
int shape_agrees(uint32_t op, const void *attrs, const int64_t *ints, uint32_t count,
                 const int32_t *ports, const int64_t *shapes, int ranks_only) {
  const pte_op_row *row = pte_op_find(op);
  pte_shape_match match;
  pte_fault fault;
  pte_shape_begin(&match, row, attrs == NULL ? pte_op_defaults(row) : attrs);
  for (uint32_t i = 0; i < count; i++) {
    const int32_t *port = ports + 7 * i;
    pte_operand o = {ranks_only ? NULL : shapes, (uint16_t)port[6], (uint8_t)port[4],
                     (uint8_t)port[5],           (uint8_t)port[2],  (uint8_t)port[3]};
    if (pte_shape_port(&match, port[0] != 0, (uint32_t)port[1], &o, &fault) != PTE_OK) return 0;
    shapes += port[2];
  }
  uint32_t refs[64];
  for (uint32_t i = 0; i < 64; i++) refs[i] = i;
  pte_tables tables = {.ints = ints, .refs = refs, .extents = ranks_only ? NULL : ints};
  return pte_relations_hold(&match, &tables, &fault) == PTE_OK;
}
