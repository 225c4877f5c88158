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

/* Entries of the table of ids that the check needs. 0: the header is not SPIR-V 1.5. */
uint32_t pte_vgf_spirv_ids(const pte_vgf_model *model);

/* Proves the model's words; `ids` has room for pte_vgf_spirv_ids. PTE_DELEGATE: `error` names the
 * word. */
PTE_CHECKED pte_status pte_vgf_spirv_check(const pte_vgf_model *model, uint32_t *ids,
                                           pte_error *error);

#endif
