#include "core/shape.h"

#include <string.h>

#include "core/relation.h"

void pte_shape_begin(pte_shape_match *match, const pte_op_row *row, const void *attrs) {
  memset(match, 0, sizeof *match);
  match->row = row;
  match->attrs = attrs;
}

static int64_t attr_at(const pte_shape_match *match, const pte_shape_term *term) {
  int64_t value;
  memcpy(&value, (const uint8_t *)match->attrs + term->value, sizeof value);
  return value;
}

/* Dimensions that the term takes, or -1 where it takes the rest. A negative attribute takes more
 * than any rank has. */
static int64_t term_rank(const pte_shape_match *match, const pte_shape_term *term) {
  if (term->kind == PTE_TERM_ANY) return -1;
  if (term->kind != PTE_TERM_RUN) return 1;
  if (term->value != 0) {
    int64_t rank = attr_at(match, term);
    return rank < 0 || rank > PTE_MAX_RANK ? PTE_MAX_RANK + 1 : rank;
  }
  bool bound = match->runs_bound >> term->slot & 1;
  return bound ? match->run_ranks[term->slot] : -1;
}

static pte_status fail(pte_fault *fault, bool output, uint32_t i, const char *text, int64_t axis,
                       int64_t got, int64_t expected) {
  uint32_t port = output ? (i < 127 ? 128 + i : 254) : (i < 127 ? i : 127);
  *fault = (pte_fault){text, axis, got, expected, (uint8_t)port, 0};
  return PTE_BAD_PROGRAM;
}

/* Where a name of the line was bound first: the axis in 3 bits, the port in 4, 1 for outputs. */
static uint8_t place_of(bool output, uint32_t i, uint32_t axis) {
  return (uint8_t)((output ? 128 : 0) | (i < 15 ? i : 15) << 3 | (axis & 7));
}

/* Binds or compares one extent. */
static bool dim_agrees(pte_shape_match *match, const pte_shape_term *term, int64_t got,
                       uint8_t place, int64_t *expected) {
  if (term->kind == PTE_TERM_NUMBER) *expected = term->value;
  else if (term->kind == PTE_TERM_ATTR) *expected = attr_at(match, term);
  else if (match->dims_bound >> term->slot & 1) *expected = match->dims[term->slot];
  else {
    match->dims_bound |= 1u << term->slot;
    match->dim_places[term->slot] = place;
    *expected = match->dims[term->slot] = got;
  }
  return *expected == got;
}

/* Binds or compares a run of `rank` extents; the first axis that differs in `*axis`. */
static bool run_agrees(pte_shape_match *match, const pte_shape_term *term, uint32_t rank,
                       const int64_t *shape, uint8_t place, uint32_t *axis, int64_t *expected) {
  *axis = 0;
  if (!(match->runs_bound >> term->slot & 1)) {
    match->runs_bound |= 1u << term->slot;
    match->runs[term->slot] = shape;
    match->run_places[term->slot] = place;
    match->run_ranks[term->slot] = (uint8_t)rank;
    return true;
  }
  *expected = match->run_ranks[term->slot];
  if (match->run_ranks[term->slot] != rank) return false;
  const int64_t *bound = match->runs[term->slot];
  if (bound == NULL || shape == NULL) return true;
  for (uint32_t d = 0; d < rank; d++) {
    *axis = d;
    *expected = bound[d];
    if (bound[d] != shape[d]) return false;
  }
  return true;
}

/* Keeps what relations may ask of a port of one value; a variadic tail has no name there. */
static void keep_operand(pte_shape_match *match, bool output, uint32_t i, const pte_operand *o) {
  const pte_op_row *row = match->row;
  uint32_t ports = output ? row->output_count : row->input_count;
  uint32_t slot = output ? row->input_count + i : i;
  if (i >= ports || slot >= PTE_MAX_SHAPE_SLOTS) return;
  match->operands[slot] = *o;
  match->operands_bound |= 1u << slot;
}

pte_status pte_shape_port(pte_shape_match *match, bool output, uint32_t i,
                          const pte_operand *operand, pte_fault *fault) {
  const pte_op_port *port = output ? pte_op_output(match->row, i) : pte_op_input(match->row, i);
  if (port == NULL) return fail(fault, output, i, "no such port", -1, i, -1);
  const int64_t *shape = operand->shape;
  uint32_t rank = operand->rank;
  keep_operand(match, output, i, operand);
  int64_t fixed = 0;
  bool open = false;
  for (uint32_t t = 0; t < port->term_count; t++) {
    int64_t takes = term_rank(match, &pte_op_terms[port->terms + t]);
    if (takes < 0) open = true;
    else fixed += takes;
  }
  if (rank < fixed || (rank > fixed && !open))
    return fail(fault, output, i, "rank differs from the operator's shape rule", -1, rank, fixed);
  uint32_t axis = 0;
  for (uint32_t t = 0; t < port->term_count; t++) {
    const pte_shape_term *term = &pte_op_terms[port->terms + t];
    int64_t takes = term_rank(match, term);
    uint32_t count = takes < 0 ? rank - (uint32_t)fixed : (uint32_t)takes;
    uint32_t at = 0;
    int64_t expected = 0;
    bool agrees = true;
    if (term->kind == PTE_TERM_RUN)
      agrees = run_agrees(match, term, count, shape == NULL ? NULL : shape + axis,
                          place_of(output, i, axis), &at, &expected);
    else if (term->kind != PTE_TERM_ANY && shape != NULL)
      agrees = dim_agrees(match, term, shape[axis], place_of(output, i, axis), &expected);
    if (!agrees)
      return fail(fault, output, i, "extent differs from the operator's shape rule", axis + at,
                  shape == NULL ? count : shape[axis + at], expected);
    axis += count;
  }
  return PTE_OK;
}

static pte_status tensor_port(pte_shape_match *match, bool output, uint32_t i, const pte_tensor *t,
                              pte_fault *fault) {
  if (t == NULL) return PTE_OK;
  pte_operand o = {t->shape, t->groups, t->format, t->block, t->rank, t->dtype};
  return pte_shape_port(match, output, i, &o, fault);
}

pte_status pte_shape_check(const pte_op_row *row, const pte_call *call) {
  pte_shape_match match;
  pte_shape_begin(&match, row, call->attrs);
  for (uint32_t i = 0; i < call->in_count; i++)
    PTE_TRY(tensor_port(&match, false, i, call->in[i], call->fault));
  for (uint32_t i = 0; i < call->out_count; i++)
    PTE_TRY(tensor_port(&match, true, i, call->out[i], call->fault));
  return pte_relations_hold(&match, call->tables, call->fault);
}
