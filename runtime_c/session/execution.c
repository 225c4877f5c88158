#include "session/execution.h"

#include "session/fault.h"

pte_status pte_execution_look(pte_execution *run, uint32_t work) {
  if (run->s->call.watch == NULL || !pte_watch_look(run->s->call.watch)) return PTE_OK;
  bool cancelled = run->s->watch.ended == PTE_CANCELLED;
  return pte_fault_at(run->s, work, cancelled ? PTE_CANCELLED : PTE_DEADLINE,
                      cancelled ? "the run was cancelled" : "the deadline has passed", 255,
                      run->err);
}
