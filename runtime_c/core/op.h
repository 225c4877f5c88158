/* What the runtime knows of an operator: the row of schema/ops.py as data. The rows are in
 * gen/ops.c. */
#ifndef PTE_OP_H
#define PTE_OP_H

#include "core/kernel.h"

/* What a port's dtype may be; schema/row.py says it in words. */
typedef enum pte_rule {
  PTE_RULE_F = 0, /* one of the row's `dtypes`, the same everywhere in the row */
  PTE_RULE_T = 1, /* any, the same everywhere in the row */
  PTE_RULE_A = 2, /* any */
  PTE_RULE_I64 = 3,
  PTE_RULE_BOOL = 4,
  PTE_RULE_W = 5,   /* a weight in PANELS */
  PTE_RULE_TAPS = 6 /* depthwise weights in TAPS */
} pte_rule;

typedef enum pte_term_kind {
  PTE_TERM_DIM = 0, /* one dimension, bound to `slot` */
  PTE_TERM_RUN =
      1, /* any number of dimensions, bound to run `slot`; with `attr`, as many as that says */
  PTE_TERM_NUMBER = 2, /* `number` itself */
  PTE_TERM_ATTR = 3,   /* the value of attribute `attr` */
  PTE_TERM_ANY = 4     /* any number of dimensions, not compared */
} pte_term_kind;

#define PTE_MAX_SHAPE_SLOTS 12

typedef struct pte_shape_term {
  uint8_t kind : 3, slot : 5;
  uint8_t value; /* RUN, ATTR: offset of an int attribute in the attribute struct, of a run 0 =
                    none; NUMBER: itself; DIM: 1 = the kernel sets it, a counted dimension */
} pte_shape_term;

/* Codes of relations, for a stack of numbers; schema/relation.py says what each means. */
typedef enum pte_relation_code {
  PTE_CODE_END = 0,
  PTE_CODE_SMALL,  /* + the number itself */
  PTE_CODE_NUMBER, /* + index into pte_op_numbers */
  PTE_CODE_DIM,    /* + slot of the shape line */
  PTE_CODE_INT,    /* + offset in the attribute struct */
  PTE_CODE_WORD,
  PTE_CODE_FLOAT,
  PTE_CODE_RUN, /* a list: + slot of the shape line */
  PTE_CODE_LIST,
  PTE_CODE_DIMS,
  PTE_CODE_DTYPE, /* + input, or inputs + output */
  PTE_CODE_BITS,
  PTE_CODE_FORMAT,
  PTE_CODE_BLOCK, /* elements; 0: the row */
  PTE_CODE_GROUPS,
  PTE_CODE_EMPTY,
  PTE_CODE_GIVEN,
  PTE_CODE_LEN, /* + a list's code and what follows it */
  PTE_CODE_PRODUCT,
  PTE_CODE_DROP,
  PTE_CODE_TAKE,
  PTE_CODE_IN, /* + index of a mask in pte_op_numbers */
  PTE_CODE_WITHIN,
  PTE_CODE_ADD,
  PTE_CODE_SUB,
  PTE_CODE_MUL,
  PTE_CODE_DIV,
  PTE_CODE_MOD,
  PTE_CODE_MIN,
  PTE_CODE_MAX,
  PTE_CODE_OR,
  PTE_CODE_EQ,
  PTE_CODE_NE,
  PTE_CODE_GE,
  PTE_CODE_LE
} pte_relation_code;

#define PTE_RELATION_DEPTH 8

/* Rows share pools of texts, terms, ports, attributes and defaults and name what is theirs by its
 * first index, in place of a pointer and its relocation. */
typedef struct pte_op_port {
  unsigned name : 12; /* pte_op_text */
  unsigned term_count : 4;
  unsigned terms : 8; /* pte_op_terms[terms ...) */
  unsigned rule : 5;
  unsigned optional : 1;
  unsigned strided : 1; /* any strides; else dense */
  unsigned inplace : 1; /* an input whose memory output 0 may share */
} pte_op_port;

typedef enum pte_attr_kind {
  PTE_ATTR_INT = 0,
  PTE_ATTR_FLOAT = 1,
  PTE_ATTR_BOOL = 2,
  PTE_ATTR_ENUM = 3,
  PTE_ATTR_INTS = 4,   /* range of `ints` */
  PTE_ATTR_FLOATS = 5, /* range of `ints`: the bits of f64 */
  PTE_ATTR_DIMS = 6,   /* range of `refs`: expressions */
  PTE_ATTR_STEPS = 7,
  PTE_ATTR_BLOCK = 8
} pte_attr_kind;

typedef struct pte_op_attr {
  unsigned name : 12; /* pte_op_text */
  unsigned offset : 8;
  unsigned kind : 4;
  unsigned values : 7; /* enum: how many */
  unsigned required : 1;
} pte_op_attr;

/* The last input or output stands for any number of values where it is variadic. */
typedef struct pte_op_row {
  const pte_kernel *kernel; /* NULL: run by the session, or not in this build */
  unsigned short name : 12; /* pte_op_text */
  bool input_variadic : 1;
  bool output_variadic : 1;
  bool control : 1;      /* run by the session */
  bool has_defaults : 1; /* no attribute is required */
  uint16_t dtypes;       /* bit d: `F` may be element type d */
  uint16_t id;
  uint8_t defaults; /* pte_op_default_words[defaults ...) */
  uint8_t attrs_bytes;
  uint8_t inputs, outputs; /* pte_op_ports[inputs ...) */
  uint8_t attrs;           /* pte_op_attrs[attrs ...) */
  uint8_t input_count, output_count;
  uint8_t relation_count : 7;
  bool counts : 1;              /* the kernel sets the counted axes of its outputs */
  unsigned short relations : 9; /* pte_op_relations[relations ...) */
  unsigned short attr_count : 7;
} pte_op_row;

/* The largest attribute struct, in bytes (asserted in gen/ops.c). */
#define PTE_MAX_ATTRS_BYTES 96

extern const pte_op_row pte_op_rows[];
extern const uint32_t pte_op_row_count;
extern const pte_op_port pte_op_ports[];
extern const pte_op_attr pte_op_attrs[];
extern const pte_shape_term pte_op_terms[];
extern const uint64_t pte_op_default_words[]; /* little endian, as the file */
extern const char pte_op_texts[];
extern const uint16_t pte_op_relations[]; /* of a row: pte_op_codes[start ...) up to an END, each */
extern const uint8_t pte_op_codes[];
extern const int64_t pte_op_numbers[]; /* what relations name that is no byte */

/* The `name` of a row, port or attribute. */
static inline const char *pte_op_text(uint16_t name) { return pte_op_texts + name; }

/* A complete attribute struct of the row; required attributes are 0. */
static inline const void *pte_op_defaults(const pte_op_row *row) {
  return pte_op_default_words + row->defaults;
}

/* The row of operator `id`, or NULL. */
const pte_op_row *pte_op_find(uint32_t id);

/* The port that input (output) `i` belongs to; NULL: the operator has fewer. */
const pte_op_port *pte_op_input(const pte_op_row *row, uint32_t i);
const pte_op_port *pte_op_output(const pte_op_row *row, uint32_t i);

#endif
