/* Runs blocks: their instructions one after the other, those that run blocks themselves (if, loop,
 * call) among them. */
#ifndef PTE_CONTROL_H
#define PTE_CONTROL_H

#include "session/execution.h"

/* The instructions of a block of the program. */
PTE_CHECKED pte_status pte_run_block(pte_execution *run, uint32_t block);

#endif
