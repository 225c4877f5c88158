/* What TOSA 1.0 demands of each operator that the exporter writes: dtypes, shapes, windows. */
#ifndef PTE_DELEGATES_VGF_TOSA_H
#define PTE_DELEGATES_VGF_TOSA_H

#include "delegates/vgf/operands.h"

/* Whether the operator with these operands may give `result`; `*out_steps` is what it takes:
 * multiplications, or elements. */
bool pte_vgf_tosa_check(const pte_vgf_code *c, uint32_t opcode, const uint32_t *operands,
                        uint32_t count, const pte_vgf_shape *result, uint64_t *out_steps);

#endif
