#include "session/counted.h"

#include "core/error.h"
#include "core/kept.h"
#include "session/fault.h"
#include "session/values.h"

/* The counted dimension that axis `axis` of value `v` is, or PTE_NONE. */
static uint32_t axis_dim(const pte_session *s, uint32_t v, uint32_t axis) {
  uint32_t dim = 0, expr = s->program->tables.refs[pte_session_file_value(s, v)->shape + axis];
  return pte_expr_is_dim(&s->exprs, expr, PTE_DIM_COUNTED, &dim) ? dim : PTE_NONE;
}

static bool is_dynamic(const pte_session *s, uint32_t v) {
  return (s->slots[v].flags & PTE_SLOT_DYNAMIC) != 0;
}

void pte_counted_set_all(pte_session *s, bool full) {
  if (!PTE_COUNTED_KEPT || !s->has_dynamic) return;
  for (uint32_t dim = 0; dim < s->exprs.dim_count; dim++)
    if (s->exprs.dims[dim].kind == PTE_DIM_COUNTED)
      s->exprs.dim_values[dim] = full ? s->exprs.dim_capacity[dim] : 0;
  pte_exprs_refresh(&s->exprs);
}

/* Sets a dimension; says whether that changed anything. */
static bool set_dim(pte_session *s, uint32_t dim, int64_t extent) {
  if (s->exprs.dim_values[dim] == extent) return false;
  s->exprs.dim_values[dim] = extent;
  return true;
}

void pte_counted_open(pte_session *s, const pte_tensor *out) {
  uint32_t v = pte_session_value_of(s, out);
  if (!is_dynamic(s, v)) return;
  bool changed = false;
  for (uint32_t axis = 0; axis < out->rank; axis++) {
    uint32_t dim = axis_dim(s, v, axis);
    if (dim != PTE_NONE) changed = set_dim(s, dim, s->exprs.dim_capacity[dim]) || changed;
  }
  if (changed) pte_exprs_refresh(&s->exprs);
}

static pte_status too_large(const pte_session *s, uint32_t work, uint32_t dim, int64_t got,
                            pte_error *err) {
  uint32_t instr = pte_session_instr(s, work);
  pte_fail(
      err, PTE_LIMIT, "op %u (%s): dimension %s is %lld, its capacity is %lld; raise max_extent",
      instr, pte_op_text(s->works[work].row->name),
      pte_program_string(s->program, s->program->dims[dim].name), got, s->exprs.dim_capacity[dim]);
  pte_fault_where(s, work, err);
  return PTE_LIMIT;
}

pte_status pte_counted_close(pte_session *s, uint32_t work, pte_tensor *out, const int64_t *given,
                             unsigned port, pte_error *err) {
  uint32_t v = pte_session_value_of(s, out);
  int64_t shape[PTE_MAX_RANK];
  bool changed = false;
  for (uint32_t axis = 0; axis < out->rank; axis++) {
    uint32_t dim = axis_dim(s, v, axis);
    shape[axis] = given[axis]; /* `given` may be out->shape itself */
    if (dim == PTE_NONE) continue;
    if (shape[axis] < 0 || shape[axis] > s->exprs.dim_capacity[dim])
      return too_large(s, work, dim, shape[axis], err);
    changed = set_dim(s, dim, shape[axis]) || changed;
  }
  if (changed) pte_exprs_refresh(&s->exprs);
  PTE_TRY(pte_value_refresh(s, out, err));
  for (uint32_t axis = 0; axis < out->rank; axis++) {
    if (out->shape[axis] == shape[axis]) continue;
    return pte_fault_extent(s, work, PTE_BAD_DATA, port, axis, out->shape[axis], shape[axis], err);
  }
  return PTE_OK;
}
