#include "program/check.h"

#include <stdarg.h>
#include <string.h>

#include "core/kept.h"
#include "pteron/types.h"

pte_status pte_refuse(const pte_verifier *v, const char *format, ...) {
  va_list args;
  va_start(args, format);
  pte_status status = pte_fail_list(v->error, PTE_BAD_PROGRAM, format, &args);
  va_end(args);
  return status;
}

pte_status pte_bad_index(const pte_verifier *v, const char *table, uint32_t i, const char *field,
                         uint64_t got, uint64_t limit) {
  return pte_refuse(v, "%s[%u].%s: expected below %llu, got %llu", table, i, field, limit, got);
}

pte_status pte_check_index(const pte_verifier *v, const char *table, uint32_t i, const char *field,
                           uint32_t got, uint32_t limit) {
  return got < limit ? PTE_OK : pte_bad_index(v, table, i, field, got, limit);
}

pte_status pte_check_range(const pte_verifier *v, const char *table, uint32_t i, const char *field,
                           pte_range range, uint32_t count, uint32_t most) {
  if (!pte_range_inside(range, count))
    return pte_refuse(v, "%s[%u].%s: %u from %u end behind the %u there are", table, i, field,
                      range.count, range.start, count);
  if (range.count > most)
    return pte_refuse(v, "%s[%u].%s: expected at most %u, got %u", table, i, field, most,
                      range.count);
  return PTE_OK;
}

static pte_status check_zero(const pte_verifier *v, const char *table, uint32_t i,
                             const uint8_t *bytes, size_t size) {
  for (size_t at = 0; at < size; at++)
    if (bytes[at] != 0)
      return pte_refuse(v, "%s[%u].zero: expected 0, got %u", table, i, (uint32_t)bytes[at]);
  return PTE_OK;
}

pte_status pte_check_fields(const pte_verifier *v, const char *table, uint32_t i, const void *entry,
                            const pte_field *fields, size_t count) {
  for (const pte_field *f = fields; f < fields + count; f++) {
    const uint8_t *at = (const uint8_t *)entry + f->offset;
    uint32_t limit = f->most, got = *at;
    pte_range range = {0, 0};
    if (f->count != 0) memcpy(&limit, (const uint8_t *)v->program + f->count, sizeof limit);
    if (f->bytes == 4) memcpy(&got, at, sizeof got);
    if (f->kind == PTE_FIELD_ZERO) PTE_TRY(check_zero(v, table, i, at, f->bytes));
    else if (f->kind == PTE_FIELD_INSIDE) {
      memcpy(&range, at, sizeof range);
      uint32_t most = f->most == 0 ? UINT32_MAX : f->most;
      PTE_TRY(pte_check_range(v, table, i, f->name, range, limit, most));
    } else if (f->kind == PTE_FIELD_BELOW || got != PTE_NONE)
      PTE_TRY(pte_check_index(v, table, i, f->name, got, limit));
  }
  return PTE_OK;
}

pte_status pte_check_spend(pte_verifier *v, const char *table, uint32_t i, uint32_t count) {
  if (count > v->refs) return pte_refuse(v, "%s[%u]: shared lists outgrow the file", table, i);
  v->refs -= count;
  return PTE_OK;
}

pte_status pte_check_type(const pte_verifier *v, const char *table, uint32_t i, uint32_t dtype,
                          uint32_t layout, uint32_t format, uint32_t block) {
  PTE_TRY(pte_check_index(v, table, i, "dtype", dtype, PTE_DTYPE_COUNT));
  PTE_TRY(pte_check_index(v, table, i, "layout", layout, PTE_LAYOUT_COUNT));
  if (!pte_is_format(format, block) || (layout != PTE_PANELS && format != PTE_FORMAT_PLAIN))
    return pte_refuse(v, "%s[%u].format: no %u of block %u in layout %u", table, i, format, block,
                      layout);
  if (!PTE_DTYPE_KEPT(dtype) || !PTE_FORMAT_KEPT(format))
    return pte_refuse(v, "%s[%u]: %s, format %u is not in this build", table, i,
                      pte_dtype_names[dtype], format);
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
