/* Caches as Linux says them. */
#ifndef PTE_HOST_POSIX_MACHINE_H
#define PTE_HOST_POSIX_MACHINE_H

#include "host/system.h"

/* Of the files <folder>0/type, level, size, ways_of_associativity, coherency_line_size, of
 * <folder>1 ... <folder>9; what they do not say stays as it is, what is no number becomes 0. */
void pte_system_caches(const char *folder, pte_machine *m);

#endif
