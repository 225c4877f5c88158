/* Shifts of requantization, as operators have them in input 4. */
#ifndef PTE_SHIFTS_H
#define PTE_SHIFTS_H

#include "core/kernel.h"

/* PTE_BAD_DATA: one is out of PTE_SHIFT_LEAST .. PTE_SHIFT_MOST; PTE_CANCELLED: the run is to end.
 */
pte_status pte_shifts_check(const pte_call *call, pte_pace *pace);

#endif
