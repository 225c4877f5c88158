/* Pointwise programs, checked at prepare: a program that passes cannot read a register that is not
 * set, mix up types, or leave an output unwritten. */
#include "kernels/pointwise.h"

typedef struct checker {
  const pte_call *call;
  const pte_operands *operands;
  const pte_steps *program;
  uint32_t index; /* of the step */
  uint8_t type[PTE_REGISTERS];
  uint8_t defined[PTE_REGISTERS];
} checker;

static pte_status fail(const checker *c, const char *text, int64_t got, int64_t expected) {
  return pte_kernel_fail(c->call, PTE_BAD_PROGRAM, text, 255, c->index, got, expected);
}

/* The register type of an element type; 255: it has none. */
static unsigned register_type(unsigned dtype) {
  switch (dtype) {
  case PTE_F16:
  case PTE_BF16:
  case PTE_F32: return PTE_STEP_F32;
  case PTE_F64: return PTE_STEP_F64;
  case PTE_BOOL: return PTE_STEP_BOOL;
  default: return dtype >= PTE_I8 && dtype <= PTE_U64 ? PTE_STEP_I64 : 255;
  }
}

static const pte_tensor *operand_at(const pte_operands *o, unsigned i) {
  if (o->y == NULL) return i < o->x_count ? o->xs[i] : NULL;
  if (i == 0) return o->y;
  return i <= o->x_count ? o->xs[i - 1] : NULL;
}

static pte_status check_load(const checker *c, const pte_step *s) {
  const pte_tensor *x = operand_at(c->operands, s->arg);
  if (x == NULL)
    return fail(c, "pointwise: loads an operand that is not there", s->arg, c->operands->x_count);
  if (register_type(x->dtype) != s->type)
    return fail(c, "pointwise: loads an element type as another", x->dtype, s->type);
  return PTE_OK;
}

static pte_status check_store(const checker *c, const pte_step *s) {
  const pte_operands *o = c->operands;
  uint32_t count = o->y != NULL ? 1 : o->out_count;
  if (s->arg >= count)
    return fail(c, "pointwise: stores an output that is not there", s->arg, count);
  const pte_tensor *y = o->y != NULL ? o->y : o->outs[s->arg];
  if (y != NULL && register_type(y->dtype) != s->type)
    return fail(c, "pointwise: stores an element type as another", y->dtype, s->type);
  for (uint32_t i = 0; i < c->index; i++) {
    const pte_step *other = &c->call->tables->steps[c->program->steps.start + i];
    if (other->op == PTE_STEP_STORE && other->arg == s->arg)
      return fail(c, "pointwise: stores an output twice", s->arg, 1);
  }
  return PTE_OK;
}

static pte_status check_argument(const checker *c, const pte_step *s) {
  const pte_operands *o = c->operands;
  const pte_tensor *model = o->y;
  for (uint32_t i = 0; model == NULL && i < o->out_count; i++) model = o->outs[i];
  switch (s->op) {
  case PTE_STEP_LOAD: return check_load(c, s);
  case PTE_STEP_STORE: return check_store(c, s);
  case PTE_STEP_INDEX:
    if (model == NULL || s->arg < model->rank) return PTE_OK;
    return fail(c, "pointwise: axis of an index", s->arg, model->rank);
  case PTE_STEP_LITERAL:
    if (s->arg < c->program->literals.count) return PTE_OK;
    return fail(c, "pointwise: number of a literal", s->arg, c->program->literals.count);
  case PTE_STEP_CAST:
    if (s->b <= PTE_STEP_BOOL) return PTE_OK;
    return fail(c, "pointwise: type cast from", s->b, PTE_STEP_BOOL);
  case PTE_STEP_ROUND:
    if (s->arg == PTE_F16 || s->arg == PTE_BF16) return PTE_OK;
    return fail(c, "pointwise: type rounded to", s->arg, PTE_F16);
  case PTE_STEP_WRAP:
    if (s->arg >= PTE_I8 && s->arg <= PTE_U64) return PTE_OK;
    return fail(c, "pointwise: type wrapped to", s->arg, PTE_I8);
  default: return PTE_OK;
  }
}

static pte_status check_reads(const checker *c, const pte_step *s, const pte_step_row *row) {
  uint8_t registers[3] = {s->a, s->b, s->c};
  for (unsigned i = 0; i < row->arity; i++) {
    unsigned r = registers[i], expected = row->reads[i] == PTE_STEP_SAME ? s->type : row->reads[i];
    if (s->op == PTE_STEP_CAST) expected = s->b;
    if (r >= PTE_REGISTERS || !c->defined[r])
      return fail(c, "pointwise: reads a register that is not set", r, PTE_REGISTERS);
    if (c->type[r] != expected)
      return fail(c, "pointwise: reads a register of another type", c->type[r], expected);
  }
  return PTE_OK;
}

/* Unused register numbers must be numbers of registers too: the engine looks them up before it
 * knows. */
static pte_status check_step(checker *c, const pte_step *s) {
  const pte_step_row *row = s->op < PTE_STEP_ROWS ? &pte_step_rows[s->op] : NULL;
  if (row == NULL || row->types == 0)
    return fail(c, "pointwise: no such step", s->op, PTE_STEP_ROWS);
  if (s->type > PTE_STEP_BOOL || !(row->types >> s->type & 1))
    return fail(c, "pointwise: type of a step", s->type, row->types);
  if (s->dst >= PTE_REGISTERS || s->a >= PTE_REGISTERS || s->b >= PTE_REGISTERS ||
      s->c >= PTE_REGISTERS)
    return fail(c, "pointwise: number of a register", s->dst, PTE_REGISTERS);
  PTE_TRY(check_argument(c, s));
  PTE_TRY(check_reads(c, s, row));
  if (s->op == PTE_STEP_STORE) return PTE_OK;
  c->defined[s->dst] = 1;
  c->type[s->dst] = row->result == PTE_STEP_SAME ? s->type : row->result;
  return PTE_OK;
}

pte_status pte_program_check(const pte_call *call, pte_steps program,
                             const pte_operands *operands) {
  checker c = {.call = call, .operands = operands, .program = &program};
  uint32_t stores = 0, outputs = operands->y != NULL ? 1 : operands->out_count;
  if (program.steps.count > PTE_MAX_STEPS)
    return fail(&c, "pointwise: number of steps", program.steps.count, PTE_MAX_STEPS);
  for (; c.index < program.steps.count; c.index++) {
    const pte_step *s = &call->tables->steps[program.steps.start + c.index];
    PTE_TRY(check_step(&c, s));
    stores += s->op == PTE_STEP_STORE;
  }
  return stores == outputs ? PTE_OK
                           : fail(&c, "pointwise: number of outputs stored", stores, outputs);
}
