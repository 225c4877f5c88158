/* Blocks, the instructions that name blocks, and delegates: nesting ends, and both sides of a
 * binding agree. */
#include "gen/ops.h"
#include "program/check.h"
#include "pteron/types.h"

/* What one side of a binding is; both sides of it must be equal. */
static bool binds(const pte_program *p, uint32_t a, uint32_t b) {
  const pte_file_value *x = &p->values[a], *y = &p->values[b];
  return x->dtype == y->dtype && x->rank == y->rank && x->layout == y->layout &&
         x->format == y->format &&
         (x->groups > 1 ? x->groups : 1) == (y->groups > 1 ? y->groups : 1);
}

static pte_status verify_values_of(pte_verifier *v, uint32_t i, const char *field, pte_range range,
                                   bool params) {
  const pte_program *p = v->program;
  PTE_TRY(pte_check_spend(v, "blocks", i, range.count));
  const pte_file_method *m = &p->methods[p->blocks[i].method];
  for (uint32_t k = 0; k < range.count; k++) {
    uint32_t value = p->tables.refs[range.start + k];
    if (value - m->values.start >= m->values.count)
      return pte_refuse(v, "blocks[%u].%s: value %u is not of method %u", i, field, value,
                        p->blocks[i].method);
    if (params && p->values[value].storage != PTE_STORAGE_PARAM)
      return pte_refuse(v, "blocks[%u].%s: value %u is not PARAM", i, field, value);
  }
  return PTE_OK;
}

static const pte_field BLOCK[] = {
    PTE_INDEX(pte_file_block, method, method_count),
    PTE_CHOICE(pte_file_block, depth, PTE_MAX_BLOCK_DEPTH + 1),
    PTE_ZERO(pte_file_block),
    PTE_LIST(pte_file_block, instrs, instr_count, 0),
    PTE_LIST(pte_file_block, params, ref_count, PTE_MAX_LIST),
    PTE_LIST(pte_file_block, results, ref_count, PTE_MAX_LIST),
};

static pte_status verify_block(pte_verifier *v, uint32_t i, uint32_t *next_instr) {
  const pte_program *p = v->program;
  const pte_file_block *b = &p->blocks[i];
  PTE_CHECK_FIELDS(v, "blocks", i, b, BLOCK);
  if (b->instrs.start != *next_instr)
    return pte_refuse(v, "blocks[%u].instrs: expected start %u, got %u", i, *next_instr,
                      b->instrs.start);
  *next_instr += b->instrs.count;
  bool main_block = p->methods[b->method].block == i;
  if (main_block != (b->depth == 0))
    return pte_refuse(v, "blocks[%u].depth: got %u; 0 is for a method's own block", i,
                      (uint32_t)b->depth);
  if (main_block && b->params.count + b->results.count != 0)
    return pte_refuse(v, "blocks[%u].params: a method's own block has ports, no params or results",
                      i);
  PTE_TRY(verify_values_of(v, i, "params", b->params, true));
  return verify_values_of(v, i, "results", b->results, false);
}

static const pte_field DELEGATE[] = {
    PTE_INDEX(pte_file_delegate, name, strings.count),
    PTE_INDEX(pte_file_delegate, target, strings.count),
    PTE_INDEX(pte_file_delegate, segment, segment_count),
    PTE_CHOICE(pte_file_delegate, policy, PTE_POLICY_COUNT),
    PTE_MAYBE(pte_file_delegate, fallback, block_count),
    PTE_ZERO(pte_file_delegate),
};

static pte_status verify_delegate(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_delegate *d = &p->delegates[i];
  PTE_CHECK_FIELDS(v, "delegates", i, d, DELEGATE);
  if (p->segments[d->segment].kind != PTE_SEGMENT_BLOB)
    return pte_refuse(v, "delegates[%u].segment: segment %u is not BLOB", i, d->segment);
  return PTE_OK;
}

/* Names the node where the instruction is refused. */
static pte_status verify_instr(pte_verifier *v, uint32_t block, uint32_t i) {
  pte_status status = pte_verify_instr(v, block, i);
  if (status != PTE_OK) pte_program_where(v->program, i, v->error);
  return status;
}

pte_status pte_verify_blocks(pte_verifier *v) {
  const pte_program *p = v->program;
  uint32_t next_instr = 0;
  for (uint32_t i = 0; i < p->method_count; i++) {
    const pte_file_block *own = &p->blocks[p->methods[i].block];
    if (own->method != i)
      return pte_refuse(v, "methods[%u].block: block %u is of method %u", i, p->methods[i].block,
                        own->method);
  }
  for (uint32_t i = 0; i < p->delegate_count; i++) PTE_TRY(verify_delegate(v, i));
  for (uint32_t i = 0; i < p->block_count; i++) PTE_TRY(verify_block(v, i, &next_instr));
  if (next_instr != p->instr_count)
    return pte_refuse(v, "instrs: %u of %u belong to no block", p->instr_count - next_instr,
                      p->instr_count);
  for (uint32_t i = 0; i < p->block_count;
       i++) /* only now: instructions look into blocks above theirs */
    for (uint32_t k = 0; k < p->blocks[i].instrs.count; k++)
      PTE_TRY(verify_instr(v, i, p->blocks[i].instrs.start + k));
  return PTE_OK;
}

/* --- instructions over blocks --------------------------------------------------------------------
 */

static pte_status fail(const pte_verifier *v, uint32_t i, const char *field, const char *why) {
  return pte_refuse(v, "instrs[%u].%s: %s", i, field, why);
}

/* The block `child` may be named by an instruction of `block`. */
static pte_status check_child(pte_verifier *v, uint32_t block, uint32_t i, const char *field,
                              uint32_t child) {
  const pte_program *p = v->program;
  PTE_TRY(pte_check_index(v, "instrs", i, field, child, p->block_count));
  if (child <= block || p->blocks[child].depth <= p->blocks[block].depth)
    return fail(v, i, field, "expected a block with a higher index and depth");
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
      return fail(v, i, names[k], "expected no params, and as many results as outputs");
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
    return fail(v, i, "body", "params, results and outputs do not fit the carried values");
  const uint32_t *params = p->tables.refs + b->params.start;
  const uint32_t *results = p->tables.refs + b->results.start;
  const uint32_t *outputs = p->tables.refs + instr->outputs.start;
  PTE_TRY(check_scalar(v, i, params[0], PTE_I64));
  PTE_TRY(check_scalar(v, i, results[0], PTE_BOOL));
  for (uint32_t k = 0; k < b->results.count; k++)
    if (p->values[results[k]].storage == PTE_STORAGE_PARAM)
      return fail(v, i, "body", "a result is a PARAM; expected a value of its own");
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
    return fail(v, i, field, "expected as many params as inputs and results as outputs");
  for (uint32_t k = 0; k < b->results.count; k++)
    if (p->values[p->tables.refs[b->results.start + k]].storage != PTE_STORAGE_PARAM)
      return fail(v, i, field, "a result of a called block is not PARAM");
  PTE_TRY(check_binding(v, i, field, b->params.start, instr->inputs.start, b->params.count));
  return check_binding(v, i, field, b->results.start, instr->outputs.start, b->results.count);
}

pte_status pte_verify_control(pte_verifier *v, uint32_t block, uint32_t i, const void *attrs) {
  const pte_program *p = v->program;
  switch (p->instrs[i].op) {
  case PTE_OP_IF: return check_if(v, block, i, attrs);
  case PTE_OP_LOOP: return check_loop(v, block, i, attrs);
  case PTE_OP_CALL: return check_call(v, block, i, "body", ((const pte_call_attrs *)attrs)->body);
  case PTE_OP_DELEGATE: {
    int64_t index = ((const pte_delegate_attrs *)attrs)->index;
    if (index < 0 || index >= p->delegate_count)
      return pte_bad_index(v, "instrs", i, "index", (uint64_t)index, p->delegate_count);
    uint32_t fallback = p->delegates[index].fallback;
    return fallback == PTE_NONE ? PTE_OK : check_call(v, block, i, "fallback", fallback);
  }
  default: return PTE_OK;
  }
}
