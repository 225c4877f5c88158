/* What the parts of the verifier share: the program under test, the error, and the budget of work.
 */
#ifndef PTE_CHECK_H
#define PTE_CHECK_H

#include <stddef.h>

#include "core/error.h"
#include "program/program.h"
#include "program/verify.h"

typedef struct pte_verifier {
  const pte_program *program;
  pte_error *error;
  uint64_t refs;  /* that may still be walked, */
  uint64_t pairs; /* operands that may still be compared: so verify and prepare are linear in the
                     bytes, with some 100 ns a ref and 60 ns a pair */
} pte_verifier;

static inline bool pte_range_inside(pte_range range, uint32_t count) {
  return range.start <= count && range.count <= count - range.start;
}

/* PTE_BAD_PROGRAM with this text; marks as of pte_fail. */
pte_status pte_refuse(const pte_verifier *v, const char *format, ...);

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

/* What a field of a struct in the file must be, by itself. */
enum {
  PTE_FIELD_BELOW = 0,  /* a number below the limit */
  PTE_FIELD_MAYBE = 1,  /* that, or PTE_NONE */
  PTE_FIELD_INSIDE = 2, /* a range that ends within the limit */
  PTE_FIELD_ZERO = 3    /* reserved bytes */
};

typedef struct pte_field {
  char name[9];
  uint8_t kind, offset, bytes;
  uint16_t count; /* where pte_program has the limit; 0: it is `most` */
  uint16_t most;  /* of a range's elements; 0: any number */
} pte_field;

#define PTE_FIELD_AT(KIND, TYPE, NAME) #NAME, KIND, offsetof(TYPE, NAME), sizeof(((TYPE *)0)->NAME)
#define PTE_INDEX(TYPE, NAME, COUNT)                                                               \
  {PTE_FIELD_AT(PTE_FIELD_BELOW, TYPE, NAME), offsetof(pte_program, COUNT), 0}
#define PTE_MAYBE(TYPE, NAME, COUNT)                                                               \
  {PTE_FIELD_AT(PTE_FIELD_MAYBE, TYPE, NAME), offsetof(pte_program, COUNT), 0}
#define PTE_CHOICE(TYPE, NAME, LIMIT) {PTE_FIELD_AT(PTE_FIELD_BELOW, TYPE, NAME), 0, LIMIT}
#define PTE_LIST(TYPE, NAME, COUNT, MOST)                                                          \
  {PTE_FIELD_AT(PTE_FIELD_INSIDE, TYPE, NAME), offsetof(pte_program, COUNT), MOST}
#define PTE_ZERO(TYPE) {PTE_FIELD_AT(PTE_FIELD_ZERO, TYPE, zero), 0, 0}

/* Checks fields of entry `i` of a table, in order. */
PTE_CHECKED pte_status pte_check_fields(const pte_verifier *v, const char *table, uint32_t i,
                                        const void *entry, const pte_field *fields, size_t count);
#define PTE_CHECK_FIELDS(v, table, i, entry, fields)                                               \
  PTE_TRY(pte_check_fields(v, table, i, entry, fields, sizeof(fields) / sizeof *(fields)))

/* Takes `count` refs from the budget. PTE_BAD_PROGRAM: it is used up. */
PTE_CHECKED pte_status pte_check_spend(pte_verifier *v, const char *table, uint32_t i,
                                       uint32_t count);

/* Checks dtype, layout, format, block and that they fit together. */
PTE_CHECKED pte_status pte_check_type(const pte_verifier *v, const char *table, uint32_t i,
                                      uint32_t dtype, uint32_t layout, uint32_t format,
                                      uint32_t block);

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

/* Whether the value is a param or a called block's result of `block`. */
static inline bool pte_is_param(const pte_file_value *value, uint32_t block) {
  return value->storage == PTE_STORAGE_PARAM && value->base == block;
}

/* The blocks that a control instruction of block `block` names. */
PTE_CHECKED pte_status pte_verify_control(pte_verifier *v, uint32_t block, uint32_t i,
                                          const void *attrs);

#endif
