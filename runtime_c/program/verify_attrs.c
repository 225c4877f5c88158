/* Attribute structs: in bounds, complete, enums defined, lists inside their side tables. */
#include <string.h>

#include "program/check.h"

static pte_status bad(const pte_verifier *v, uint32_t i, const pte_op_row *row, uint16_t name,
                      const char *why, uint64_t got) {
  return pte_refuse(v, "instrs[%u].attrs: %s.%s: %s, got %llu", i, pte_op_text(row->name),
                    pte_op_text(name), why, got);
}

/* `quick`: so many elements are as much work as one ref. */
static pte_status check_list(pte_verifier *v, uint32_t i, const pte_op_row *row, uint16_t name,
                             pte_range range, uint32_t count, uint32_t most, uint32_t quick) {
  if (!pte_range_inside(range, count))
    return bad(v, i, row, name, "expected a range inside its table", range.start);
  if (range.count > most) return bad(v, i, row, name, "too many elements", range.count);
  return pte_check_spend(v, "instrs", i, (range.count + quick - 1) / quick);
}

static pte_status check_dims(pte_verifier *v, uint32_t i, const pte_op_row *row, uint16_t name,
                             pte_range range) {
  const pte_program *p = v->program;
  PTE_TRY(check_list(v, i, row, name, range, p->ref_count, PTE_MAX_LIST, 1));
  for (uint32_t k = 0; k < range.count; k++)
    if (p->tables.refs[range.start + k] >= p->expr_count)
      return bad(v, i, row, name, "expected expressions", p->tables.refs[range.start + k]);
  return PTE_OK;
}

static pte_status check_attr(pte_verifier *v, uint32_t i, const pte_op_row *row,
                             const pte_op_attr *attr, const uint8_t *bytes) {
  const pte_program *p = v->program;
  uint32_t word;
  pte_range range;
  pte_steps steps;
  memcpy(&word, bytes, sizeof word);
  switch (attr->kind) {
  case PTE_ATTR_BOOL:
    return word <= 1 ? PTE_OK : bad(v, i, row, attr->name, "expected 0 or 1", word);
  case PTE_ATTR_ENUM:
    return word < attr->values ? PTE_OK
                               : bad(v, i, row, attr->name, "expected an enumerator", word);
  case PTE_ATTR_INTS:
  case PTE_ATTR_FLOATS:
    memcpy(&range, bytes, sizeof range);
    return check_list(v, i, row, attr->name, range, p->int_count, PTE_MAX_LIST, 1);
  case PTE_ATTR_DIMS:
    memcpy(&range, bytes, sizeof range);
    return check_dims(v, i, row, attr->name, range);
  case PTE_ATTR_STEPS:
    memcpy(&steps, bytes, sizeof steps);
    PTE_TRY(check_list(v, i, row, attr->name, steps.steps, p->step_count, PTE_MAX_LIST, 4));
    return check_list(v, i, row, attr->name, steps.literals, p->literal_count, PTE_MAX_LIST, 4);
  default: return PTE_OK; /* any number; blocks are looked at by the block checks */
  }
}

/* The struct of instruction `i` in the file is whole and not shorter than its required attributes.
 */
static pte_status check_struct(pte_verifier *v, uint32_t i, const pte_op_row *row, uint32_t offset,
                               uint32_t *out_size) {
  uint64_t bytes = (uint64_t)v->program->attr_words * 8;
  if (offset % 8 != 0 || offset >= bytes)
    return pte_refuse(v, "instrs[%u].attrs: expected a multiple of 8 below %llu, got %u", i, bytes,
                      offset);
  uint32_t size;
  memcpy(&size, (const uint8_t *)v->program->attrs + offset, sizeof size);
  if (size < 8 || size % 8 != 0 || size > row->attrs_bytes || size > bytes - offset)
    return pte_refuse(v, "instrs[%u].attrs: %s.size: expected a multiple of 8, got %u", i,
                      pte_op_text(row->name), size);
  const pte_op_attr *attrs = &pte_op_attrs[row->attrs];
  for (uint32_t a = 0; a < row->attr_count; a++)
    if (attrs[a].required && attrs[a].offset >= size)
      return bad(v, i, row, attrs[a].name, "required, but the struct is too short", size);
  *out_size = size;
  return PTE_OK;
}

pte_status pte_verify_attrs(pte_verifier *v, uint32_t i, const pte_op_row *row, void *scratch,
                            const void **out) {
  const pte_program *p = v->program;
  const pte_file_instr *instr = &p->instrs[i];
  if (instr->attrs == PTE_NONE) {
    *out = pte_op_defaults(row);
    if (row->has_defaults) return PTE_OK;
    return pte_refuse(v, "instrs[%u].attrs: %s needs attributes", i, pte_op_text(row->name));
  }
  uint32_t size = 0;
  PTE_TRY(check_struct(v, i, row, instr->attrs, &size));
  const uint8_t *attrs = pte_program_attrs(p, instr, scratch);
  for (uint32_t a = 0; a < row->attr_count; a++) {
    const pte_op_attr *attr = &pte_op_attrs[row->attrs + a];
    PTE_TRY(check_attr(v, i, row, attr, attrs + attr->offset));
  }
  *out = attrs;
  return PTE_OK;
}
