#include "session/bind.h"

#include "core/error.h"
#include "program/line.h"
#include "session/ports.h"

static const char *dim_name(const pte_session *s, uint32_t dim) {
  return pte_program_string(s->program, s->program->dims[dim].name);
}

static const pte_file_port *input_port(const pte_session *s, uint32_t i) {
  return &s->program->ports[s->method->inputs.start + i];
}

static const int64_t *given(const int64_t *const *lists, uint32_t i) {
  return lists == NULL ? NULL : lists[i];
}

static uint32_t axis_expr(const pte_session *s, const pte_file_value *value, uint32_t axis) {
  return s->program->tables.refs[value->shape + axis];
}

static pte_status bind_dim(pte_session *s, uint32_t dim, int64_t got, uint32_t input, uint32_t at,
                           const char *what, pte_error *err) {
  const pte_file_dim *file = &s->program->dims[dim];
  if (got < file->min || got > file->max)
    return pte_fail(err, PTE_BAD_ARGUMENT, "input %s %s %u (%s): expected %lld to %lld, got %lld",
                    pte_session_input_name(s, input), what, at, dim_name(s, dim), file->min,
                    file->max, got);
  s->exprs.dim_values[dim] = got;
  s->exprs.dim_known[dim] = PTE_KNOWN;
  return PTE_OK;
}

/* Symbolic dimensions: the first axis that is exactly the dimension decides; axes behind it are
 * compared later. */
static pte_status bind_axes(pte_session *s, uint32_t input, const int64_t *shape, pte_error *err) {
  const pte_file_value *value = &s->program->values[input_port(s, input)->value];
  for (uint32_t axis = 0; axis < value->rank; axis++) {
    uint32_t dim = 0;
    if (!pte_expr_is_dim(&s->exprs, axis_expr(s, value, axis), PTE_DIM_SYMBOLIC, &dim)) continue;
    if (s->exprs.dim_known[dim] == PTE_KNOWN) continue;
    PTE_TRY(bind_dim(s, dim, shape[axis], input, axis, "axis", err));
  }
  return PTE_OK;
}

/* Dimensions that no axis is by itself: the first that is a multiple of one, plus a number,
 * decides. */
static pte_status bind_lines(pte_session *s, uint32_t input, const int64_t *shape, pte_error *err) {
  const pte_file_value *value = &s->program->values[input_port(s, input)->value];
  for (uint32_t axis = 0; axis < value->rank; axis++) {
    pte_line line = {0};
    int64_t size = 0;
    if (!pte_line_of(s->exprs.exprs, axis_expr(s, value, axis), &line)) continue;
    bool is_symbol = s->exprs.dims[line.dim].kind == PTE_DIM_SYMBOLIC;
    if (!is_symbol || s->exprs.dim_known[line.dim] == PTE_KNOWN) continue;
    if (!pte_line_solve(&line, shape[axis], &size))
      return pte_fail(err, PTE_BAD_ARGUMENT,
                      "input %s axis %u: expected %lld * %s + %lld, got %lld",
                      pte_session_input_name(s, input), axis, line.factor, dim_name(s, line.dim),
                      line.offset, shape[axis]);
    PTE_TRY(bind_dim(s, line.dim, size, input, axis, "axis", err));
  }
  return PTE_OK;
}

static int64_t element_count(const pte_file_value *value, const int64_t *shape) {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < value->rank; axis++)
    if (__builtin_mul_overflow(count, shape[axis], &count)) return INT64_MAX;
  return count;
}

static pte_status bind_shape_dim(pte_session *s, uint32_t dim, const pte_prepare_options *options,
                                 pte_error *err) {
  const pte_file_dim *file = &s->program->dims[dim];
  if (file->port >= s->method->inputs.count)
    return pte_fail(err, PTE_BAD_PROGRAM, "dimension %s: input %u, the method has %u",
                    dim_name(s, dim), file->port, s->method->inputs.count);
  const int64_t *values = given(options->values, file->port),
                *shape = given(options->shapes, file->port);
  const char *name = pte_session_input_name(s, file->port);
  if (values == NULL || shape == NULL)
    return pte_fail(err, PTE_BAD_ARGUMENT,
                    "input %s decides %s: give its shape and values to prepare", name,
                    dim_name(s, dim));
  int64_t count = element_count(&s->program->values[input_port(s, file->port)->value], shape);
  if ((int64_t)file->element >= count)
    return pte_fail(err, PTE_BAD_ARGUMENT,
                    "input %s: dimension %s is its element %u, got %lld elements", name,
                    dim_name(s, dim), file->element, count);
  return bind_dim(s, dim, values[file->element], file->port, file->element, "element", err);
}

static pte_status bind_all(pte_session *s, const pte_prepare_options *options, pte_error *err) {
  for (uint32_t i = 0; i < s->method->inputs.count; i++) {
    const int64_t *shape = given(options->shapes, i);
    if (shape != NULL) PTE_TRY(bind_axes(s, i, shape, err));
  }
  for (uint32_t i = 0; i < s->method->inputs.count; i++) {
    const int64_t *shape = given(options->shapes, i);
    if (shape != NULL) PTE_TRY(bind_lines(s, i, shape, err));
  }
  for (uint32_t e = 0; e < s->exprs.expr_count;
       e++) { /* only what this method uses asks for an input's values */
    uint32_t dim = 0;
    bool asks = s->exprs.used[e] && pte_expr_is_dim(&s->exprs, e, PTE_DIM_SHAPE, &dim);
    if (asks && s->exprs.dim_known[dim] != PTE_KNOWN) PTE_TRY(bind_shape_dim(s, dim, options, err));
  }
  return PTE_OK;
}

static pte_status check_port(pte_session *s, uint32_t input, const int64_t *shape, pte_error *err) {
  const pte_file_value *value = &s->program->values[input_port(s, input)->value];
  for (uint32_t axis = 0; axis < value->rank; axis++) {
    uint32_t expr = axis_expr(s, value, axis);
    if (s->exprs.known[expr] == PTE_KNOWN && s->exprs.values[expr] == shape[axis]) continue;
    uint32_t dim = pte_expr_blame(&s->exprs, expr); /* walks down: once, for the text */
    const char *name = pte_session_input_name(s, input);
    if (s->exprs.known[expr] != PTE_KNOWN)
      return pte_fail(err, PTE_BAD_ARGUMENT, "input %s axis %u: dimension %s is bound by no input",
                      name, axis, dim == PTE_NONE ? "?" : dim_name(s, dim));
    return pte_fail(err, PTE_BAD_ARGUMENT, "input %s axis %u%s%s%s: expected %lld, got %lld", name,
                    axis, dim == PTE_NONE ? "" : " (", dim == PTE_NONE ? "" : dim_name(s, dim),
                    dim == PTE_NONE ? "" : ")", s->exprs.values[expr], shape[axis]);
  }
  return PTE_OK;
}

/* Relations over dimensions that this method does not bind say nothing about it. */
static pte_status check_relation(const pte_session *s, const pte_file_check *check,
                                 pte_error *err) {
  const pte_exprs *x = &s->exprs;
  if (x->known[check->a] != PTE_KNOWN || x->known[check->b] != PTE_KNOWN) return PTE_OK;
  if (x->dynamic[check->a] || x->dynamic[check->b]) return PTE_OK;
  int64_t a = x->values[check->a], b = x->values[check->b];
  bool holds = check->kind == PTE_CHECK_EQ   ? a == b
               : check->kind == PTE_CHECK_LE ? a <= b
                                             : a != 0 && (a == -1 || b % a == 0);
  if (holds) return PTE_OK;
  return pte_fail(err, PTE_BAD_ARGUMENT, "shapes: %s: got %lld and %lld",
                  pte_program_string(s->program, check->text), a, b);
}

pte_status pte_bind(pte_session *s, const pte_prepare_options *options, bool *changed,
                    pte_error *err) {
  pte_exprs_reset(&s->exprs);
  s->exprs.max_extent = options->max_extent > 0 ? options->max_extent : PTE_DEFAULT_MAX_EXTENT;
  PTE_TRY(bind_all(s, options, err));
  pte_exprs_evaluate(&s->exprs, changed);
  for (uint32_t i = 0; i < s->method->inputs.count; i++) {
    const int64_t *shape = given(options->shapes, i);
    if (shape != NULL) PTE_TRY(check_port(s, i, shape, err));
  }
  for (uint32_t i = 0; i < s->program->check_count; i++)
    PTE_TRY(check_relation(s, &s->program->checks[i], err));
  return PTE_OK;
}
