/* What tensor_scatter and panel_scatter share: rows of tokens written into a cache. */
#ifndef PTE_ROWS_SCATTER_H
#define PTE_ROWS_SCATTER_H

#include "core/kernel.h"

/* Inputs and output of either instruction: a cache of one rank more than its update lies in panels
 * of 16 rows. PTE_BAD_DATA: a place outside of the cache. PTE_CANCELLED: the run is to end. */
pte_status pte_rows_scatter(const pte_call *call, bool circular);

#endif
