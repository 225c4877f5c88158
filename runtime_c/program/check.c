#include "program/check.h"

#include "pteron/types.h"

pte_status pte_bad_index(const pte_verifier *v, const char *table, uint32_t i, const char *field,
                         uint64_t got, uint64_t limit) {
  return pte_fail(v->error, PTE_BAD_PROGRAM, "%s[%u].%s: expected below %llu, got %llu", table, i,
                  field, limit, got);
}

pte_status pte_check_index(const pte_verifier *v, const char *table, uint32_t i, const char *field,
                           uint32_t got, uint32_t limit) {
  return got < limit ? PTE_OK : pte_bad_index(v, table, i, field, got, limit);
}

pte_status pte_check_range(const pte_verifier *v, const char *table, uint32_t i, const char *field,
                           pte_range range, uint32_t count, uint32_t most) {
  if (!pte_range_inside(range, count))
    return pte_fail(v->error, PTE_BAD_PROGRAM, "%s[%u].%s: %u from %u end behind the %u there are",
                    table, i, field, range.count, range.start, count);
  if (range.count > most)
    return pte_fail(v->error, PTE_BAD_PROGRAM, "%s[%u].%s: expected at most %u, got %u", table, i,
                    field, most, range.count);
  return PTE_OK;
}

pte_status pte_check_zero(const pte_verifier *v, const char *table, uint32_t i,
                          const uint8_t *bytes, size_t size) {
  for (size_t at = 0; at < size; at++)
    if (bytes[at] != 0)
      return pte_fail(v->error, PTE_BAD_PROGRAM, "%s[%u].zero: expected 0, got %u", table, i,
                      (uint32_t)bytes[at]);
  return PTE_OK;
}

pte_status pte_check_spend(pte_verifier *v, const char *table, uint32_t i, uint32_t count) {
  if (count > v->budget)
    return pte_fail(v->error, PTE_BAD_PROGRAM,
                    "%s[%u]: lists share refs so often that the program is larger than its file",
                    table, i);
  v->budget -= count;
  return PTE_OK;
}

pte_status pte_check_type(const pte_verifier *v, const char *table, uint32_t i, uint32_t dtype,
                          uint32_t layout, uint32_t format) {
  PTE_TRY(pte_check_index(v, table, i, "dtype", dtype, PTE_DTYPE_COUNT));
  PTE_TRY(pte_check_index(v, table, i, "layout", layout, PTE_LAYOUT_COUNT));
  if (format >= PTE_FORMAT_COUNT || pte_format_rows[format].name == NULL)
    return pte_fail(v->error, PTE_BAD_PROGRAM, "%s[%u].format: %u is not a format", table, i,
                    format);
  if (layout != PTE_PANELS && format != PTE_FORMAT_PLAIN)
    return pte_fail(v->error, PTE_BAD_PROGRAM, "%s[%u].format: %s needs layout PANELS", table, i,
                    pte_format_rows[format].name);
  return PTE_OK;
}

bool pte_static_shape_is(const pte_program *program, uint32_t start, uint32_t rank,
                         pte_range shape) {
  if (rank != shape.count) return false;
  for (uint32_t axis = 0; axis < rank; axis++) {
    const pte_file_expr *e = &program->exprs[program->tables.refs[start + axis]];
    if (e->op != PTE_EXPR_CONST || e->value != program->tables.ints[shape.start + axis])
      return false;
  }
  return true;
}
