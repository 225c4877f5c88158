/* Instructions that name blocks: nesting ends, and both sides of a binding agree. */
#include "core/kept.h"
#include "gen/ops.h"
#include "program/check.h"
#include "pteron/types.h"

/* What one side of a binding is; both sides of it must be equal. */
static bool binds(const pte_program *p, uint32_t a, uint32_t b) {
  const pte_file_value *x = &p->values[a], *y = &p->values[b];
  return x->dtype == y->dtype && x->rank == y->rank && x->layout == y->layout &&
         x->format == y->format && x->block == y->block &&
         (x->groups > 1 ? x->groups : 1) == (y->groups > 1 ? y->groups : 1);
}

static const char COUNTS[] = "the block has other params or results";

static pte_status fail(const pte_verifier *v, uint32_t i, const char *field, const char *why) {
  return pte_refuse(v, "instrs[%u].%s: %s", i, field, why);
}

/* The block `child` may be named by an instruction of `block`. */
static pte_status check_child(pte_verifier *v, uint32_t block, uint32_t i, const char *field,
                              uint32_t child) {
  const pte_program *p = v->program;
  PTE_TRY(pte_check_index(v, "instrs", i, field, child, p->block_count));
  if (child <= block || p->blocks[child].depth <= p->blocks[block].depth)
    return fail(v, i, field, "expected a higher index and depth");
  if (p->blocks[child].method != p->blocks[block].method)
    return fail(v, i, field, "the block is of another method");
  return PTE_OK;
}

/* Values of two lists of refs agree one by one. None is absent: rows admit that for no operand that
 * is bound, and blocks for no value. */
static pte_status check_binding(pte_verifier *v, uint32_t i, const char *field, uint32_t start_a,
                                uint32_t start_b, uint32_t count) {
  const uint32_t *refs = v->program->tables.refs;
  PTE_TRY(pte_check_spend(v, "instrs", i, count));
  for (uint32_t k = 0; k < count; k++) {
    uint32_t a = refs[start_a + k], b = refs[start_b + k];
    if (!binds(v->program, a, b))
      return pte_refuse(v, "instrs[%u].%s: values %u and %u differ in dtype, rank or layout", i,
                        field, a, b);
  }
  return PTE_OK;
}

static pte_status check_if(pte_verifier *v, uint32_t block, uint32_t i, const pte_if_attrs *attrs) {
  const pte_file_instr *instr = &v->program->instrs[i];
  const uint32_t branches[2] = {attrs->then_block, attrs->else_block};
  const char *const names[2] = {"then_block", "else_block"};
  for (unsigned k = 0; k < 2; k++) {
    PTE_TRY(check_child(v, block, i, names[k], branches[k]));
    const pte_file_block *b = &v->program->blocks[branches[k]];
    if (b->params.count != 0 || b->results.count != instr->outputs.count)
      return fail(v, i, names[k], COUNTS);
    PTE_TRY(check_binding(v, i, names[k], b->results.start, instr->outputs.start,
                          instr->outputs.count));
  }
  return PTE_OK;
}

static pte_status check_scalar(pte_verifier *v, uint32_t i, uint32_t value, uint32_t dtype) {
  const pte_file_value *x = &v->program->values[value];
  if (x->dtype == dtype && x->rank == 0 && x->layout == PTE_STRIDED) return PTE_OK;
  return fail(v, i, "body",
              dtype == PTE_BOOL ? "result 0 is not one bool" : "param 0 is not one i64");
}

static pte_status check_loop(pte_verifier *v, uint32_t block, uint32_t i,
                             const pte_loop_attrs *attrs) {
  const pte_program *p = v->program;
  const pte_file_instr *instr = &p->instrs[i];
  PTE_TRY(check_child(v, block, i, "body", attrs->body));
  const pte_file_block *b = &p->blocks[attrs->body];
  uint32_t carried = instr->inputs.count < 2 ? 0 : instr->inputs.count - 2;
  if (b->params.count != 1 + carried || b->results.count != 1 + instr->outputs.count ||
      instr->outputs.count < carried)
    return fail(v, i, "body", COUNTS);
  const uint32_t *params = p->tables.refs + b->params.start;
  const uint32_t *results = p->tables.refs + b->results.start;
  const uint32_t *outputs = p->tables.refs + instr->outputs.start;
  PTE_TRY(check_scalar(v, i, params[0], PTE_I64));
  PTE_TRY(check_scalar(v, i, results[0], PTE_BOOL));
  for (uint32_t k = 0; k < b->results.count; k++)
    if (p->values[results[k]].storage == PTE_STORAGE_PARAM)
      return fail(v, i, "body", "a result is a PARAM; expected its own value");
  if (carried != 0)
    PTE_TRY(check_binding(v, i, "carried", instr->inputs.start + 2, b->params.start + 1, carried));
  PTE_TRY(check_binding(v, i, "carried", b->results.start + 1, instr->outputs.start, carried));
  PTE_TRY(check_binding(v, i, "carried", b->params.start + 1, instr->outputs.start, carried));
  PTE_TRY(pte_check_spend(v, "instrs", i, instr->outputs.count));
  for (uint32_t k = carried; k < instr->outputs.count; k++) {
    const pte_file_value *row = &p->values[results[1 + k]], *all = &p->values[outputs[k]];
    if (row->dtype != all->dtype || row->rank + 1 != all->rank || row->layout != all->layout)
      return fail(v, i, "outputs", "a row of results does not fit its output");
  }
  return PTE_OK;
}

/* A called block, or a fallback: params are the inputs, results the outputs. */
static pte_status check_call(pte_verifier *v, uint32_t block, uint32_t i, const char *field,
                             uint32_t child) {
  const pte_program *p = v->program;
  const pte_file_instr *instr = &p->instrs[i];
  PTE_TRY(check_child(v, block, i, field, child));
  const pte_file_block *b = &p->blocks[child];
  if (b->params.count != instr->inputs.count || b->results.count != instr->outputs.count)
    return fail(v, i, field, COUNTS);
  for (uint32_t k = 0; k < b->results.count; k++)
    if (!pte_is_param(&p->values[p->tables.refs[b->results.start + k]], child))
      return fail(v, i, field, "a result of a called block is no PARAM of it");
  PTE_TRY(check_binding(v, i, field, b->params.start, instr->inputs.start, b->params.count));
  return check_binding(v, i, field, b->results.start, instr->outputs.start, b->results.count);
}

pte_status pte_verify_control(pte_verifier *v, uint32_t block, uint32_t i, const void *attrs) {
  const pte_program *p = v->program;
  switch (p->instrs[i].op) {
  case PTE_OP_IF: return PTE_OP_KEPT(IF) ? check_if(v, block, i, attrs) : PTE_UNSUPPORTED;
  case PTE_OP_LOOP: return PTE_OP_KEPT(LOOP) ? check_loop(v, block, i, attrs) : PTE_UNSUPPORTED;
  case PTE_OP_CALL:
    if (!PTE_OP_KEPT(CALL)) return PTE_UNSUPPORTED;
    return check_call(v, block, i, "body", ((const pte_call_attrs *)attrs)->body);
  case PTE_OP_DELEGATE: {
    if (!PTE_OP_KEPT(DELEGATE)) return PTE_UNSUPPORTED;
    int64_t index = ((const pte_delegate_attrs *)attrs)->index;
    if (index < 0 || index >= p->delegate_count)
      return pte_bad_index(v, "instrs", i, "index", (uint64_t)index, p->delegate_count);
    uint32_t fallback = p->delegates[index].fallback;
    return fallback == PTE_NONE ? PTE_OK : check_call(v, block, i, "fallback", fallback);
  }
  default: return PTE_OK;
  }
}
