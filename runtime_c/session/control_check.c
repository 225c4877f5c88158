/* At prepare: sizes of what control flow copies and binds, where no counted dimension decides them.
 * What is left, and all addresses, control.c checks while it runs. */
#include "session/control_check.h"

#include "core/kept.h"
#include "gen/ops.h"
#include "session/fault.h"

static pte_tensor *tensor_at(const pte_session *s, pte_range refs, uint32_t i) {
  return &s->tensors[s->program->tables.refs[refs.start + i] - s->first_value];
}

static bool is_dynamic(const pte_session *s, const pte_tensor *t) {
  return (s->slots[pte_session_value_of(s, t)].flags & PTE_SLOT_DYNAMIC) != 0;
}

/* Axes of `inner` are those of `outer` behind the first `skip`. Rows of control flow have no
 * operand that may be absent. */
static pte_status agree(pte_session *s, uint32_t work, const pte_tensor *outer,
                        const pte_tensor *inner, uint32_t skip, unsigned port, pte_error *err) {
  if (is_dynamic(s, outer) || is_dynamic(s, inner)) return PTE_OK;
  for (uint32_t axis = skip; axis < outer->rank; axis++) {
    if (outer->shape[axis] == inner->shape[axis - skip]) continue;
    return pte_fault_extent(s, work, PTE_BAD_PROGRAM, port, axis, inner->shape[axis - skip],
                            outer->shape[axis], err);
  }
  return PTE_OK;
}

static pte_status check_results(pte_session *s, uint32_t index, uint32_t block, pte_error *err) {
  const pte_work *work = &s->works[index];
  pte_range results = s->program->blocks[block].results;
  for (uint32_t i = 0; i < work->call.out_count && i < results.count; i++)
    PTE_TRY(agree(s, index, work->call.out[i], tensor_at(s, results, i), 0, 128 + i, err));
  return PTE_OK;
}

static pte_status check_called(pte_session *s, uint32_t index, uint32_t block, pte_error *err) {
  const pte_work *work = &s->works[index];
  pte_range params = s->program->blocks[block].params;
  for (uint32_t i = 0; i < work->call.in_count && i < params.count; i++)
    PTE_TRY(agree(s, index, work->call.in[i], tensor_at(s, params, i), 0, i, err));
  return check_results(s, index, block, err);
}

static pte_status check_loop(pte_session *s, uint32_t index, uint32_t block, pte_error *err) {
  const pte_work *work = &s->works[index];
  const pte_file_block *body = &s->program->blocks[block];
  uint32_t carried = body->params.count - 1;
  for (uint32_t i = 0; i < work->call.out_count; i++) {
    const pte_tensor *result = tensor_at(s, body->results, 1 + i);
    PTE_TRY(agree(s, index, work->call.out[i], result, i < carried ? 0 : 1, 128 + i, err));
    if (i >= carried) continue;
    const pte_tensor *param = tensor_at(s, body->params, 1 + i);
    PTE_TRY(agree(s, index, work->call.out[i], param, 0, 128 + i, err));
    PTE_TRY(agree(s, index, work->call.in[2 + i], param, 0, 2 + i, err));
  }
  return PTE_OK;
}

pte_status pte_control_check(pte_session *s, uint32_t index, pte_error *err) {
  const pte_work *work = &s->works[index];
  switch (work->row->id) {
  case PTE_OP_IF:
    if (!PTE_OP_KEPT(IF)) return PTE_UNSUPPORTED;
    PTE_TRY(check_results(s, index, ((const pte_if_attrs *)work->call.attrs)->then_block, err));
    return check_results(s, index, ((const pte_if_attrs *)work->call.attrs)->else_block, err);
  case PTE_OP_LOOP:
    if (!PTE_OP_KEPT(LOOP)) return PTE_UNSUPPORTED;
    return check_loop(s, index, ((const pte_loop_attrs *)work->call.attrs)->body, err);
  case PTE_OP_CALL:
    if (!PTE_OP_KEPT(CALL)) return PTE_UNSUPPORTED;
    return check_called(s, index, ((const pte_call_attrs *)work->call.attrs)->body, err);
  case PTE_OP_DELEGATE: {
    if (!PTE_OP_KEPT(DELEGATE)) return PTE_UNSUPPORTED;
    uint32_t entry = (uint32_t)((const pte_delegate_attrs *)work->call.attrs)->index;
    uint32_t fallback = s->program->delegates[entry].fallback;
    return fallback == PTE_NONE ? PTE_OK : check_called(s, index, fallback, err);
  }
  default: return PTE_OK;
  }
}
