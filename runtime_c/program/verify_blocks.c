/* Blocks, their instructions one by one, and delegates. */
#include "program/check.h"
#include "pteron/types.h"

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
    if (params && !pte_is_param(&p->values[value], i))
      return pte_refuse(v, "blocks[%u].%s: value %u is no PARAM of it", i, field, value);
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
    return pte_refuse(v, "blocks[%u].params: a method's own block has ports alone", i);
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
