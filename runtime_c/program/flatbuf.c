#include "program/flatbuf.h"

#include <string.h>

#include "core/error.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "program files are read in place: little-endian hosts only"
#endif

typedef struct reader {
  const uint8_t *bytes;
  uint32_t size;
  const char *what;
  pte_error *error;
} reader;

/* Where a table and its field table lie, proved to be inside. */
typedef struct table_at {
  uint32_t position, size, vtable, vtable_size;
} table_at;

static uint32_t load32(const uint8_t *bytes, uint32_t at) {
  uint32_t value;
  memcpy(&value, bytes + at, 4);
  return value;
}

static uint32_t load16(const uint8_t *bytes, uint32_t at) {
  uint16_t value;
  memcpy(&value, bytes + at, 2);
  return value;
}

static bool inside(const reader *r, uint32_t at, uint64_t size) {
  return at <= r->size && size <= r->size - at;
}

static pte_status bad(const reader *r, const pte_flat_table *table, const char *field,
                      const char *why, uint32_t position) {
  return pte_fail(r->error, PTE_BAD_PROGRAM, "%s: %s%s%s: %s at byte %u", r->what, table->name,
                  field[0] ? "." : "", field, why, position);
}

static pte_status open_table(const reader *r, const pte_flat_table *table, uint32_t position,
                             table_at *out) {
  if (position % 4 != 0 || !inside(r, position, 4))
    return bad(r, table, "", "table outside the buffer or unaligned", position);
  int64_t vtable = (int64_t)position - (int32_t)load32(r->bytes, position);
  if (vtable < 0 || vtable % 2 != 0 || vtable > r->size || !inside(r, (uint32_t)vtable, 4))
    return bad(r, table, "", "field table outside the buffer or unaligned", position);
  table_at t = {position, 0, (uint32_t)vtable, load16(r->bytes, (uint32_t)vtable)};
  t.size = load16(r->bytes, t.vtable + 2);
  if (t.vtable_size < 4 || t.vtable_size % 2 != 0 || !inside(r, t.vtable, t.vtable_size))
    return bad(r, table, "", "bad size of the field table", t.vtable);
  if (t.size < 4 || !inside(r, position, t.size))
    return bad(r, table, "", "bad size of the table", t.vtable + 2);
  *out = t;
  return PTE_OK;
}

/* Position of a field's inline bytes, or 0 where it is absent. */
static uint32_t field_position(const uint8_t *bytes, const table_at *t, uint32_t number) {
  uint32_t slot = 4 + 2 * number;
  if (slot + 2 > t->vtable_size) return 0;
  uint32_t offset = load16(bytes, t->vtable + slot);
  return offset == 0 ? 0 : t->position + offset;
}

static pte_status check_string(const reader *r, const pte_flat_table *table,
                               const pte_flat_field *field, uint32_t at) {
  uint64_t target = (uint64_t)at + load32(r->bytes, at);
  if (target % 4 != 0 || target > r->size || !inside(r, (uint32_t)target, 4))
    return bad(r, table, field->name, "string outside the buffer or unaligned", at);
  uint64_t length = load32(r->bytes, (uint32_t)target);
  if (!inside(r, (uint32_t)target + 4, length + 1))
    return bad(r, table, field->name, "string longer than the buffer", at);
  if (r->bytes[target + 4 + length] != 0)
    return bad(r, table, field->name, "string without end mark", at);
  return PTE_OK;
}

static pte_status check_vector(const reader *r, const pte_flat_table *table,
                               const pte_flat_field *field, uint32_t at, uint32_t *out_first,
                               uint32_t *out_count) {
  uint64_t target = (uint64_t)at + load32(r->bytes, at);
  if (target % 4 != 0 || target > r->size || !inside(r, (uint32_t)target, 4))
    return bad(r, table, field->name, "vector outside the buffer or unaligned", at);
  uint32_t count = load32(r->bytes, (uint32_t)target);
  uint32_t first = (uint32_t)target + 4;
  if (!inside(r, first, (uint64_t)count * field->size))
    return bad(r, table, field->name, "vector longer than the buffer", at);
  if (first % field->align != 0) return bad(r, table, field->name, "elements unaligned", first);
  *out_first = first;
  *out_count = count;
  return PTE_OK;
}

static pte_status check_table(const reader *r, const pte_flat_table *table, uint32_t position,
                              unsigned depth);

static pte_status check_field(const reader *r, const pte_flat_table *table, const table_at *t,
                              uint32_t number, unsigned depth) {
  const pte_flat_field *field = &table->fields[number];
  uint32_t at = field_position(r->bytes, t, number);
  if (at == 0) {
    if (!field->required) return PTE_OK;
    return bad(r, table, field->name, "required, but absent", t->position);
  }
  bool scalar = field->kind == PTE_FLAT_SCALAR;
  uint32_t size = scalar ? field->size : 4, align = scalar ? field->align : 4;
  uint32_t offset = at - t->position;
  if (offset < 4 || offset + size > t->size || at % align != 0)
    return bad(r, table, field->name, "outside its table or unaligned", at);
  if (scalar) return PTE_OK;
  if (field->kind == PTE_FLAT_STRING) return check_string(r, table, field, at);
  uint32_t first = 0, count = 0;
  PTE_TRY(check_vector(r, table, field, at, &first, &count));
  if (field->kind == PTE_FLAT_VECTOR) return PTE_OK;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t element = first + 4 * i;
    if (field->kind == PTE_FLAT_STRINGS) {
      PTE_TRY(check_string(r, table, field, element));
      continue;
    }
    uint64_t target = (uint64_t)element + load32(r->bytes, element);
    if (target > r->size) return bad(r, table, field->name, "table outside the buffer", element);
    PTE_TRY(check_table(r, table->element, (uint32_t)target, depth + 1));
  }
  return PTE_OK;
}

static pte_status check_table(const reader *r, const pte_flat_table *table, uint32_t position,
                              unsigned depth) {
  if (depth > 4) return bad(r, table, "", "tables too deep", position);
  table_at t = {0, 0, 0, 0};
  PTE_TRY(open_table(r, table, position, &t));
  for (uint32_t number = 0; number < table->field_count; number++)
    PTE_TRY(check_field(r, table, &t, number, depth));
  return PTE_OK;
}

pte_status pte_flat_verify(const uint8_t *bytes, size_t size, const pte_flat_table *table,
                           const char *identifier, const char *what, pte_flat *out,
                           pte_error *error) {
  reader r = {bytes, (uint32_t)size, what, error};
  if (size < 8 || size > INT32_MAX)
    return pte_fail(error, PTE_BAD_PROGRAM, "%s: expected 8 to 2^31 - 1 bytes, got %llu", what,
                    (uint64_t)size);
  if ((uintptr_t)bytes % 8 != 0)
    return pte_fail(error, PTE_BAD_ARGUMENT, "%s: bytes are not aligned to 8", what);
  if (identifier != NULL && memcmp(bytes + 4, identifier, 4) != 0)
    return pte_fail(error, PTE_BAD_PROGRAM, "%s: expected the identifier %s at byte 4", what,
                    identifier);
  uint32_t root = load32(bytes, 0);
  PTE_TRY(check_table(&r, table, root, 0));
  *out = (pte_flat){bytes, root};
  return PTE_OK;
}

static uint32_t position_of(pte_flat table, uint32_t field) {
  uint32_t vtable = table.table - load32(table.bytes, table.table);
  table_at t = {table.table, 0, vtable, load16(table.bytes, vtable)};
  return field_position(table.bytes, &t, field);
}

pte_flat_vector pte_flat_get_vector(pte_flat table, uint32_t field) {
  uint32_t at = position_of(table, field);
  if (at == 0) return (pte_flat_vector){NULL, 0};
  uint32_t target = at + load32(table.bytes, at);
  return (pte_flat_vector){table.bytes + target + 4, load32(table.bytes, target)};
}

const char *pte_flat_get_string(pte_flat table, uint32_t field) {
  uint32_t at = position_of(table, field);
  return at == 0 ? "" : (const char *)(table.bytes + at + load32(table.bytes, at) + 4);
}

uint64_t pte_flat_get_scalar(pte_flat table, uint32_t field, uint32_t size) {
  uint64_t value = 0;
  uint32_t at = position_of(table, field);
  if (at != 0) memcpy(&value, table.bytes + at, size);
  return value;
}

const char *pte_flat_string_at(pte_flat_vector strings, uint32_t i, uint32_t *out_length) {
  const uint8_t *at = (const uint8_t *)strings.data + 4 * (size_t)i;
  const uint8_t *string = at + load32(at, 0);
  if (out_length != NULL) *out_length = load32(string, 0);
  return (const char *)(string + 4);
}

pte_flat pte_flat_table_at(pte_flat buffer, pte_flat_vector tables, uint32_t i) {
  uint32_t at = (uint32_t)((const uint8_t *)tables.data - buffer.bytes) + 4 * i;
  return (pte_flat){buffer.bytes, at + load32(buffer.bytes, at)};
}
