/* Executes one instruction that runs no blocks. */
#ifndef PTE_INSTRUCTION_H
#define PTE_INSTRUCTION_H

#include "session/execution.h"

/* Proves of instruction `work` what prepare could not: addresses that are bound only now, sizes
 * that only now are known. */
PTE_CHECKED pte_status pte_instruction_prove(pte_execution *run, uint32_t work);

/* What follows its kernel, which has returned `status`. */
PTE_CHECKED pte_status pte_instruction_end(pte_execution *run, uint32_t work, pte_status status);

#endif
