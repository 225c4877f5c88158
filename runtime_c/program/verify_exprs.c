/* Expressions, dimensions and relations: lower operands, defined kinds, sensible bounds. */
#include "core/kept.h"
#include "program/check.h"
#include "pteron/types.h"

static pte_status check_dim_use(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_expr *e = &p->exprs[i];
  PTE_TRY(pte_check_index(v, "exprs", i, "a", e->a, p->dim_count));
  uint32_t capacity = p->dims[e->a].capacity;
  if (p->dims[e->a].kind == PTE_DIM_COUNTED && capacity != PTE_NONE && capacity >= i)
    return pte_refuse(
        v, "exprs[%u].a: capacity of dimension %u is expression %u, expected a lower one", i, e->a,
        capacity);
  return PTE_OK;
}

static const pte_field EXPR[] = {
    PTE_CHOICE(pte_file_expr, op, PTE_EXPR_COUNT),
    PTE_ZERO(pte_file_expr),
};

static pte_status verify_expr(pte_verifier *v, uint32_t i) {
  const pte_file_expr *e = &v->program->exprs[i];
  PTE_CHECK_FIELDS(v, "exprs", i, e, EXPR);
  if (e->op == PTE_EXPR_CONST) return PTE_OK;
  if (e->op == PTE_EXPR_DIM) return check_dim_use(v, i);
  PTE_TRY(pte_check_index(v, "exprs", i, "a", e->a, i));
  return pte_check_index(v, "exprs", i, "b", e->b, i);
}

static const pte_field DIM[] = {
    PTE_INDEX(pte_file_dim, name, strings.count),
    PTE_CHOICE(pte_file_dim, kind, PTE_DIM_COUNT),
    PTE_ZERO(pte_file_dim),
};

static pte_status verify_dim(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_dim *d = &p->dims[i];
  PTE_CHECK_FIELDS(v, "dims", i, d, DIM);
  int64_t least = d->kind == PTE_DIM_SHAPE ? INT64_MIN : 0; /* an input's element has any sign */
  if (d->min < least || d->min > d->max)
    return pte_refuse(v, "dims[%u].min: expected %lld to %lld, got %lld", i, least, d->max, d->min);
  if (d->hint < d->min || d->hint > d->max)
    return pte_refuse(v, "dims[%u].hint: expected %lld to %lld, got %lld", i, d->min, d->max,
                      d->hint);
  if (d->kind == PTE_DIM_COUNTED && !PTE_COUNTED_KEPT)
    return pte_fail(v->error, PTE_UNSUPPORTED, "dims[%u]: counted ones are not in this build", i);
  if (d->kind == PTE_DIM_COUNTED && d->capacity != PTE_NONE)
    PTE_TRY(pte_check_index(v, "dims", i, "capacity", d->capacity, p->expr_count));
  if (d->kind == PTE_DIM_SHAPE)
    PTE_TRY(pte_check_index(v, "dims", i, "port", d->port, p->port_count));
  return PTE_OK;
}

static const pte_field CHECK[] = {
    PTE_CHOICE(pte_file_check, kind, PTE_CHECK_COUNT),
    PTE_INDEX(pte_file_check, a, expr_count),
    PTE_INDEX(pte_file_check, b, expr_count),
    PTE_INDEX(pte_file_check, text, strings.count),
    PTE_ZERO(pte_file_check),
};

pte_status pte_verify_exprs(pte_verifier *v) {
  for (uint32_t i = 0; i < v->program->dim_count; i++) PTE_TRY(verify_dim(v, i));
  for (uint32_t i = 0; i < v->program->expr_count; i++) PTE_TRY(verify_expr(v, i));
  for (uint32_t i = 0; i < v->program->check_count; i++)
    PTE_CHECK_FIELDS(v, "checks", i, &v->program->checks[i], CHECK);
  return PTE_OK;
}
