/* A SPIR-V graph while it is proven (spirv.h): what its ids stand for so far. */
#ifndef PTE_DELEGATES_VGF_OPERANDS_H
#define PTE_DELEGATES_VGF_OPERANDS_H

#include "delegates/vgf/model.h"

/* Opcodes of SPIR-V, SPV_ARM_tensors and SPV_ARM_graph. */
enum {
  OP_NAME = 5,
  OP_EXTENSION = 10,
  OP_EXT_INST_IMPORT = 11,
  OP_EXT_INST = 12,
  OP_MEMORY_MODEL = 14,
  OP_CAPABILITY = 17,
  OP_TYPE_BOOL = 20,
  OP_TYPE_INT = 21,
  OP_TYPE_ARRAY = 28,
  OP_TYPE_POINTER = 32,
  OP_CONSTANT_TRUE = 41,
  OP_CONSTANT_FALSE = 42,
  OP_CONSTANT = 43,
  OP_CONSTANT_COMPOSITE = 44,
  OP_CONSTANT_NULL = 46,
  OP_VARIABLE = 59,
  OP_DECORATE = 71,
  OP_TYPE_TENSOR = 4163,
  OP_GRAPH_CONSTANT = 4181,
  OP_GRAPH_ENTRY_POINT = 4182,
  OP_GRAPH = 4183,
  OP_GRAPH_INPUT = 4184,
  OP_GRAPH_SET_OUTPUT = 4185,
  OP_GRAPH_END = 4186,
  OP_TYPE_GRAPH = 4190
};

typedef struct pte_vgf_code {
  const pte_vgf_model *model;
  const uint32_t *words;
  uint32_t bound; /* ids are below it */
  uint32_t *at;   /* [bound]: the word where an id is defined; 0: not yet */
  size_t cursor;  /* the instruction being read */
  uint32_t phase;
  uint32_t int8, int32, boolean, tosa, graph;
  uint32_t capabilities, extensions, decorations;
  uint32_t inputs, outputs; /* masks: seen */
  bool has_model, has_graph, has_end;
  uint64_t steps;       /* of all operators so far */
  uint64_t value_bytes; /* of their results and of all constants */
} pte_vgf_code;

static inline uint32_t pte_vgf_opcode(const uint32_t *i) { return i[0] & 0xffff; }
static inline uint32_t pte_vgf_length(const uint32_t *i) { return i[0] >> 16; }

/* The instruction that defines `id`; NULL: none does yet. */
const uint32_t *pte_vgf_definition(const pte_vgf_code *c, uint32_t id);

/* The instruction that defines `id`, if it is an `opcode`. */
const uint32_t *pte_vgf_defined(const pte_vgf_code *c, uint32_t id, uint32_t opcode);

/* The shape of a tensor type; its own definition has been checked. */
bool pte_vgf_type_shape(const pte_vgf_code *c, uint32_t type, pte_vgf_shape *out);

/* The tensor type of a value or constant. */
bool pte_vgf_value(const pte_vgf_code *c, uint32_t id, pte_vgf_shape *out);

/* A scalar of type int32 or int8; `bits` says which. Sign-extended. */
bool pte_vgf_int(const pte_vgf_code *c, uint32_t id, uint32_t bits, int32_t *out);

bool pte_vgf_bool(const pte_vgf_code *c, uint32_t id, bool *out);

/* A constant tensor of rank 1 with `count` elements; stores element `i`. */
bool pte_vgf_element(const pte_vgf_code *c, uint32_t id, uint32_t bits, uint32_t count, uint32_t i,
                     int32_t *out);

#endif
