#include "session/instruction.h"

#include "core/kept.h"
#include "session/check.h"
#include "session/counted.h"
#include "session/fault.h"
#include "session/values.h"

static pte_status refresh_operands(pte_execution *run, const pte_work *work) {
  if (PTE_COUNTED_KEPT && work->row->counts)
    for (uint32_t i = 0; i < work->call.out_count; i++)
      if (work->call.out[i] != NULL) pte_counted_open(run->s, work->call.out[i]);
  for (uint32_t i = 0; i < work->call.in_count; i++)
    if (work->call.in[i] != NULL) PTE_TRY(pte_value_refresh(run->s, work->call.in[i], run->err));
  for (uint32_t i = 0; i < work->call.out_count; i++)
    if (work->call.out[i] != NULL) PTE_TRY(pte_value_refresh(run->s, work->call.out[i], run->err));
  return PTE_OK;
}

pte_status pte_instruction_prove(pte_execution *run, uint32_t index) {
  pte_session *s = run->s;
  const pte_work *work = &s->works[index];
  PTE_TRY(refresh_operands(run, work));
  if (!PTE_COUNTED_KEPT || !work->dynamic) return pte_check_overlap(s, index, true, run->err);
  pte_needs needs;
  PTE_TRY(pte_check_work(s, index, true, &needs, run->err));
  if (needs.scratch <= s->sizes.scratch_bytes && needs.kept <= s->late_bytes) return PTE_OK;
  return pte_fault_at(s, index, PTE_LIMIT, "needs more memory than was planned", 255, run->err);
}

pte_status pte_instruction_end(pte_execution *run, uint32_t index, pte_status status) {
  pte_session *s = run->s;
  const pte_work *work = &s->works[index];
  if (pte_call_ended(&work->call)) return pte_execution_look(run, index);
  if (status != PTE_OK) return pte_fault_text(s, index, status, run->err);
  if (!PTE_COUNTED_KEPT || !work->row->counts) return PTE_OK;
  for (uint32_t i = 0; i < work->call.out_count; i++)
    if (work->call.out[i] != NULL)
      PTE_TRY(pte_counted_close(s, index, work->call.out[i], work->call.out[i]->shape, 128 + i,
                                run->err));
  return PTE_OK;
}
