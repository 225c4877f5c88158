/* One execution of a prepared method, and when it is to end. */
#ifndef PTE_EXECUTION_H
#define PTE_EXECUTION_H

#include "session/session.h"

typedef struct pte_execution {
  pte_session *s;
  pte_run_options options; /* complete */
  uint64_t instructions_left;
  pte_error *err;
} pte_execution;

/* PTE_CANCELLED or PTE_DEADLINE, at instruction `work`, where the run is to end. */
PTE_CHECKED pte_status pte_execution_look(pte_execution *run, uint32_t work);

#endif
