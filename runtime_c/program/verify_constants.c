/* Constants, states and delegates: names, types, and for constants exactly the bytes that their
 * type needs. */
#include <string.h>

#include "core/kept.h"
#include "core/size.h"
#include "program/check.h"
#include "pteron/types.h"

/* Vectors of elements narrower than a byte and panels start where a cache line does. */
static uint64_t alignment(const pte_file_constant *c) {
  uint32_t bits = pte_element_bits(c->dtype);
  return c->layout != PTE_STRIDED ? 64 : bits < 8 ? 1 : bits / 8;
}

static pte_status check_place(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_constant *c = &p->constants[i];
  const pte_segment *segment = &p->segments[c->segment];
  if (segment->kind != PTE_SEGMENT_CONSTANTS)
    return pte_refuse(v, "constants[%u].segment: segment %u is not CONSTANTS", i, c->segment);
  if (c->offset > segment->size || c->size > segment->size - c->offset)
    return pte_refuse(v, "constants[%u].offset: %llu bytes from %llu end behind the segment's %llu",
                      i, c->size, c->offset, segment->size);
  if (c->offset % alignment(c) != 0)
    return pte_refuse(v, "constants[%u].offset: expected a multiple of %llu, got %llu", i,
                      alignment(c), c->offset);
  return PTE_OK;
}

static const pte_field CONSTANT[] = {
    PTE_INDEX(pte_file_constant, name, strings.count),
    PTE_INDEX(pte_file_constant, segment, segment_count),
    PTE_LIST(pte_file_constant, shape, int_count, PTE_MAX_RANK),
    PTE_ZERO(pte_file_constant),
};

static pte_status verify_constant(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_constant *c = &p->constants[i];
  PTE_CHECK_FIELDS(v, "constants", i, c, CONSTANT);
  PTE_TRY(pte_check_type(v, "constants", i, c->dtype, c->layout, c->format, c->block));
  if (c->groups > 1 && c->layout != PTE_PANELS)
    return pte_refuse(v, "constants[%u].groups: needs layout PANELS", i);
  const int64_t *shape = p->tables.ints + c->shape.start;
  for (uint32_t axis = 0; axis < c->shape.count; axis++)
    if (shape[axis] < 0)
      return pte_refuse(v, "constants[%u].shape: axis %u is %lld", i, axis, shape[axis]);
  pte_tensor t;
  t.dtype = c->dtype, t.rank = (uint8_t)c->shape.count, t.layout = c->layout;
  t.format = c->format, t.block = c->block, t.groups = c->groups;
  memcpy(t.shape, shape, c->shape.count * sizeof *shape);
  uint64_t bytes;
  if (!pte_storage_bytes(&t, &bytes))
    return pte_refuse(v, "constants[%u].layout: none for this dtype, format and shape", i);
  if (bytes != c->size)
    return pte_refuse(v, "constants[%u].size: expected %llu bytes for its shape, got %llu", i,
                      bytes, c->size);
  return check_place(v, i);
}

static const pte_field STATE[] = {
    PTE_INDEX(pte_file_state, name, strings.count),
    PTE_LIST(pte_file_state, shape, ref_count, PTE_MAX_RANK),
    PTE_MAYBE(pte_file_state, initial, constant_count),
    PTE_CHOICE(pte_file_state, layout, PTE_STRIDED + 1),
    PTE_CHOICE(pte_file_state, role, PTE_ROLE_PANELS + 1),
};

/* Whether axis `axis` of a state is this number, whatever the dimensions are. */
static bool extent_is(const pte_program *p, const pte_file_state *s, uint32_t axis,
                      int64_t extent) {
  const pte_file_expr *e = &p->exprs[p->tables.refs[s->shape.start + axis]];
  return e->op == PTE_EXPR_CONST && e->value == extent;
}

static bool has_position(const pte_program *p, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (p->states[i].role == PTE_ROLE_POSITION) return true;
  return false;
}

/* What saving, going back and forking rely on: a position that is one number, rows of whole bytes,
 * lines of 16 tokens. */
static pte_status check_role(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_state *s = &p->states[i];
  if (s->role == PTE_ROLE_POSITION) {
    if (s->dtype != PTE_I64 || s->shape.count != 1 || !extent_is(p, s, 0, 1))
      return pte_refuse(v, "states[%u].role: a position is i64 [1]", i);
    if (has_position(p, i)) return pte_refuse(v, "states[%u].role: a second position", i);
  }
  if (s->role < PTE_ROLE_TOKENS) return PTE_OK;
  if (!has_position(p, p->state_count))
    return pte_refuse(v, "states[%u].role: rows of tokens need a position", i);
  if (pte_element_bits(s->dtype) % 8 != 0)
    return pte_refuse(v, "states[%u].dtype: no rows of elements narrower than a byte", i);
  uint32_t last = s->shape.count - 1;
  if (s->role == PTE_ROLE_PANELS && (s->axis == last || !extent_is(p, s, last, PTE_PANEL_TOKENS)))
    return pte_refuse(v, "states[%u].shape: expected 16 tokens along the last axis, behind axis",
                      i);
  return PTE_OK;
}

static pte_status verify_state(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_state *s = &p->states[i];
  PTE_CHECK_FIELDS(v, "states", i, s, STATE);
  PTE_TRY(pte_check_type(v, "states", i, s->dtype, s->layout, PTE_FORMAT_PLAIN, 0));
  for (uint32_t axis = 0; axis < s->shape.count; axis++)
    PTE_TRY(pte_check_index(v, "states", i, "shape", p->tables.refs[s->shape.start + axis],
                            p->expr_count));
  PTE_TRY(pte_check_index(v, "states", i, "axis", s->axis,
                          s->role >= PTE_ROLE_TOKENS ? s->shape.count : 1));
  if (s->role == PTE_ROLE_VALUE && s->reach != 0)
    return pte_refuse(v, "states[%u].reach: expected 0 of a value, got %u", i, s->reach);
  PTE_TRY(check_role(v, i));
  if (s->initial == PTE_NONE) return PTE_OK;
  const pte_file_constant *c = &p->constants[s->initial];
  if (c->dtype != s->dtype || c->layout != PTE_STRIDED ||
      !pte_static_shape_is(p, s->shape.start, s->shape.count, c->shape))
    return pte_refuse(v, "states[%u].initial: constant %u has another dtype, layout or shape", i,
                      s->initial);
  return PTE_OK;
}

pte_status pte_verify_constants(pte_verifier *v) {
  for (uint32_t i = 0; i < v->program->constant_count; i++) PTE_TRY(verify_constant(v, i));
  if (v->program->state_count > 0) PTE_NEEDS_STATES(v->error);
  for (uint32_t i = 0; i < v->program->state_count; i++) PTE_TRY(verify_state(v, i));
  return PTE_OK;
}
