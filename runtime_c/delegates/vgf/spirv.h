/* What this delegate takes as SPIR-V: one graph of TOSA operators as Arm's converter writes it.
 *
 * A driver compiles what it is given and trusts it, so words from a file are proven first: the few
 * instructions of the subset in their order, every id defined before its use and once, every tensor
 * with its type, the interface and the constants equal to the payload's table, and for each
 * operator what TOSA demands of shapes, windows and parameters. What passes computes inside its
 * tensors. */
#ifndef PTE_DELEGATES_VGF_SPIRV_H
#define PTE_DELEGATES_VGF_SPIRV_H

#include "delegates/vgf/model.h"

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
  uint64_t steps, value_bytes; /* of all operators so far */
} pte_vgf_code;

/* Entries of the table of ids that the check needs. 0: the header is not SPIR-V 1.5. */
uint32_t pte_vgf_spirv_ids(const pte_vgf_model *model);

/* Proves the model's words; `ids` has room for pte_vgf_spirv_ids. PTE_DELEGATE: `error` names the
 * word. */
PTE_CHECKED pte_status pte_vgf_spirv_check(const pte_vgf_model *model, uint32_t *ids,
                                           pte_error *error);

/* --- for tosa.c: operands of the graph so far ----------------------------------------------- */

/* The tensor type of a value or constant. */
bool pte_vgf_value(const pte_vgf_code *c, uint32_t id, pte_vgf_shape *out);

/* A scalar of type int32 or int8; `bits` says which. Sign-extended. */
bool pte_vgf_int(const pte_vgf_code *c, uint32_t id, uint32_t bits, int32_t *out);

bool pte_vgf_bool(const pte_vgf_code *c, uint32_t id, bool *out);

/* A constant tensor of rank 1 with `count` elements; stores element `i`. */
bool pte_vgf_element(const pte_vgf_code *c, uint32_t id, uint32_t bits, uint32_t count, uint32_t i,
                     int32_t *out);

/* Whether the operator with these operands may give `result`; `*out_steps` is what it takes:
 * multiplications, or elements. */
bool pte_vgf_tosa_check(const pte_vgf_code *c, uint32_t opcode, const uint32_t *operands,
                        uint32_t count, const pte_vgf_shape *result, uint64_t *out_steps);

#endif
