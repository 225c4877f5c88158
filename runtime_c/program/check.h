/* What the parts of the verifier share: the program under test, the error, and the budget of work.
 */
#ifndef PTE_CHECK_H
#define PTE_CHECK_H

#include "core/error.h"
#include "program/program.h"
#include "program/verify.h"

typedef struct pte_verifier {
  const pte_program *program;
  pte_error *error;
  uint64_t budget; /* refs that may still be walked: keeps verification and prepare linear in the
                      bytes */
} pte_verifier;

static inline bool pte_range_inside(pte_range range, uint32_t count) {
  return range.start <= count && range.count <= count - range.start;
}

/* PTE_BAD_PROGRAM with the text "table[i].field: expected below <limit>, got <got>". */
pte_status pte_bad_index(const pte_verifier *v, const char *table, uint32_t i, const char *field,
                         uint64_t got, uint64_t limit);

/* Checks that an index is below `limit`. */
PTE_CHECKED pte_status pte_check_index(const pte_verifier *v, const char *table, uint32_t i,
                                       const char *field, uint32_t got, uint32_t limit);

/* Checks that a range lies inside its side table and has at most `most` elements. */
PTE_CHECKED pte_status pte_check_range(const pte_verifier *v, const char *table, uint32_t i,
                                       const char *field, pte_range range, uint32_t count,
                                       uint32_t most);

/* Checks that reserved bytes are zero. */
PTE_CHECKED pte_status pte_check_zero(const pte_verifier *v, const char *table, uint32_t i,
                                      const uint8_t *bytes, size_t size);

/* Takes `count` steps of work from the budget. PTE_BAD_PROGRAM: it is used up. */
PTE_CHECKED pte_status pte_check_spend(pte_verifier *v, const char *table, uint32_t i,
                                       uint32_t count);

/* Checks dtype, layout, format and that they fit together. */
PTE_CHECKED pte_status pte_check_type(const pte_verifier *v, const char *table, uint32_t i,
                                      uint32_t dtype, uint32_t layout, uint32_t format);

/* Whether refs[start ...) are constant expressions equal to the ints of `shape`. */
bool pte_static_shape_is(const pte_program *program, uint32_t start, uint32_t rank,
                         pte_range shape);

/* The parts, in the order in which they must run. */
PTE_CHECKED pte_status pte_verify_exprs(pte_verifier *v);     /* exprs, dims, checks */
PTE_CHECKED pte_status pte_verify_constants(pte_verifier *v); /* constants, states */
PTE_CHECKED pte_status pte_verify_values(pte_verifier *v);    /* methods, ports, values */
PTE_CHECKED pte_status pte_verify_blocks(pte_verifier *v);    /* blocks, delegates, instrs */

/* The instruction `i` of block `block`: row, operands, attributes. */
PTE_CHECKED pte_status pte_verify_instr(pte_verifier *v, uint32_t block, uint32_t i);

/* The attribute struct of instruction `i`; `*out` is complete, in the file, the defaults or
 * `scratch`. */
PTE_CHECKED pte_status pte_verify_attrs(pte_verifier *v, uint32_t i, const pte_op_row *row,
                                        void *scratch, const void **out);

/* The pointwise program of instruction `i`: operands of these dtypes in, outputs of these dtypes
 * out. */
typedef struct pte_steps_port {
  uint32_t operand_count, output_count, rank;
  uint32_t refs;     /* refs[refs + j]: the value of operand first + j */
  uint32_t outputs;  /* refs[outputs + j]: the value of output j */
  bool result_first; /* operand 0 is the instruction's own result, of output 0's dtype */
} pte_steps_port;
PTE_CHECKED pte_status pte_verify_steps(pte_verifier *v, uint32_t i, const pte_steps *steps,
                                        const pte_steps_port *port);

/* The blocks that a control instruction of block `block` names. */
PTE_CHECKED pte_status pte_verify_control(pte_verifier *v, uint32_t block, uint32_t i,
                                          const void *attrs);

#endif
