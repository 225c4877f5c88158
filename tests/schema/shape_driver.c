/* Runs one shape check for test_shape.py: a library with one entry, kernels are stubs. */
#include "core/shape.h"
#include "gen/ops.h"

#define STUB(name) const pte_kernel pte_##name##_kernel = {0};
PTE_KERNELS(STUB)

int shape_agrees(uint32_t op, const void *attrs, uint32_t count, const int32_t *ports,
                 const int64_t *shapes, int ranks_only);

/* `ports`: (output, index, rank) of each tensor in order; `shapes`: its extents, one after the
 * other. */
int shape_agrees(uint32_t op, const void *attrs, uint32_t count, const int32_t *ports,
                 const int64_t *shapes, int ranks_only) {
  const pte_op_row *row = pte_op_find(op);
  pte_shape_match match;
  pte_fault fault;
  pte_shape_begin(&match, row, attrs == NULL ? pte_op_defaults(row) : attrs);
  for (uint32_t i = 0; i < count; i++) {
    const int32_t *port = ports + 3 * i;
    if (pte_shape_port(&match, port[0] != 0, (uint32_t)port[1], (uint32_t)port[2],
                       ranks_only ? NULL : shapes, &fault) != PTE_OK)
      return 0;
    shapes += port[2];
  }
  return 1;
}
