/* Pointwise programs: opcodes and types admitted, registers written before they are read and of the
 * right type, operands that exist, every output stored once. */
#include <string.h>

#include "gen/steps.h"
#include "program/check.h"
#include "pteron/types.h"

#define UNSET 255
_Static_assert((PTE_REGISTERS & (PTE_REGISTERS - 1)) == 0, "numbers of registers are or-ed");

typedef struct state {
  pte_verifier *v;
  const pte_steps *steps;
  const pte_steps_port *port;
  uint32_t i, at; /* instruction, step */
  uint8_t types[PTE_REGISTERS];
  uint8_t stored[PTE_MAX_STEPS];
} state;

static pte_status fail(const state *s, const char *why, uint32_t got) {
  return pte_refuse(s->v, "instrs[%u].steps[%u]: %s, got %u", s->i, s->at, why, got);
}

/* The compute type that elements of `dtype` are loaded to and stored from. */
static uint8_t widened(uint32_t dtype) {
  if (dtype == PTE_BOOL) return PTE_STEP_BOOL;
  if (dtype >= PTE_I8 && dtype <= PTE_U64) return PTE_STEP_I64;
  if (dtype == PTE_F16 || dtype == PTE_BF16 || dtype == PTE_F32) return PTE_STEP_F32;
  return dtype == PTE_F64 ? PTE_STEP_F64 : UNSET;
}

static uint8_t operand_type(const state *s, uint32_t operand) {
  const pte_program *p = s->v->program;
  uint32_t at = s->port->refs + operand;
  if (s->port->result_first) at = operand == 0 ? s->port->outputs : at - 1;
  return widened(p->values[p->tables.refs[at]].dtype);
}

static pte_status check_load(const state *s, const pte_step *step) {
  if (step->arg >= s->port->operand_count) return fail(s, "load: no such operand", step->arg);
  if (operand_type(s, step->arg) != step->type)
    return fail(s, "load: the operand has another type", step->arg);
  return PTE_OK;
}

static pte_status check_store(state *s, const pte_step *step) {
  const pte_program *p = s->v->program;
  if (step->arg >= s->port->output_count) return fail(s, "store: no such output", step->arg);
  if (s->stored[step->arg]) return fail(s, "store: the output is stored twice", step->arg);
  s->stored[step->arg] = 1;
  uint32_t value = p->tables.refs[s->port->outputs + step->arg];
  if (widened(p->values[value].dtype) != step->type)
    return fail(s, "store: the output has another type", step->arg);
  return PTE_OK;
}

static pte_status check_literal(const state *s, const pte_step *step) {
  const pte_program *p = s->v->program;
  if (step->arg >= s->steps->literals.count) return fail(s, "literal: no such literal", step->arg);
  uint64_t bits = p->tables.literals[s->steps->literals.start + step->arg];
  if (step->type == PTE_STEP_BOOL && bits > 1)
    return fail(s, "literal: expected 0 or 1", step->arg);
  return PTE_OK;
}

/* What `arg` and `b` mean, by opcode. */
static pte_status check_arg(state *s, const pte_step *step) {
  switch (step->op) {
  case PTE_STEP_LOAD: return check_load(s, step);
  case PTE_STEP_STORE: return check_store(s, step);
  case PTE_STEP_LITERAL: return check_literal(s, step);
  case PTE_STEP_INDEX:
    return step->arg < s->port->rank ? PTE_OK : fail(s, "index: no such axis", step->arg);
  case PTE_STEP_CAST:
    return step->b <= PTE_STEP_BOOL ? PTE_OK : fail(s, "cast: no such type", step->b);
  case PTE_STEP_ROUND:
    return step->arg == PTE_F16 || step->arg == PTE_BF16
               ? PTE_OK
               : fail(s, "round: no f16 or bf16", step->arg);
  case PTE_STEP_WRAP:
    return step->arg >= PTE_I8 && step->arg <= PTE_U64 ? PTE_OK
                                                       : fail(s, "wrap: no integer", step->arg);
  default: return PTE_OK;
  }
}

static pte_status check_registers(state *s, const pte_step *step, const pte_step_row *row) {
  const uint8_t args[3] = {step->a, step->b, step->c};
  uint8_t any = step->dst | step->a | step->b | step->c; /* unused ones are looked up too */
  if (any >= PTE_REGISTERS) return fail(s, "no such register", any);
  for (uint32_t k = 0; k < row->arity; k++) {
    if (s->types[args[k]] == UNSET) return fail(s, "reads a register that is not set", args[k]);
    uint8_t expected = row->reads[k] == PTE_STEP_SAME ? step->type : row->reads[k];
    if (step->op == PTE_STEP_CAST) expected = step->b;
    if (s->types[args[k]] != expected) return fail(s, "reads a register of another type", args[k]);
  }
  if (step->op == PTE_STEP_STORE) return PTE_OK;
  s->types[step->dst] = row->result == PTE_STEP_SAME ? step->type : row->result;
  return PTE_OK;
}

pte_status pte_verify_steps(pte_verifier *v, uint32_t i, const pte_steps *steps,
                            const pte_steps_port *port) {
  state s = {.v = v, .steps = steps, .port = port, .i = i};
  memset(s.types, UNSET, sizeof s.types);
  if (steps->steps.count > PTE_MAX_STEPS) return fail(&s, "at most 256 steps", steps->steps.count);
  if (port->output_count > PTE_MAX_STEPS)
    return fail(&s, "more outputs than steps", port->output_count);
  for (s.at = 0; s.at < steps->steps.count; s.at++) {
    const pte_step *step = &v->program->tables.steps[steps->steps.start + s.at];
    const pte_step_row *row = step->op < PTE_STEP_ROWS ? &pte_step_rows[step->op] : NULL;
    if (row == NULL || row->types == 0) return fail(&s, "no such opcode", step->op);
    if (step->type > PTE_STEP_BOOL || (row->types >> step->type & 1) == 0)
      return fail(&s, "the opcode does not admit this type", step->type);
    PTE_TRY(check_arg(&s, step));
    PTE_TRY(check_registers(&s, step, row));
  }
  for (uint32_t k = 0; k < port->output_count; k++)
    if (!s.stored[k]) return fail(&s, "an output is never stored", k);
  return PTE_OK;
}
