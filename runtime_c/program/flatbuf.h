/* FlatBuffers, read in place: a table-driven verifier, then typed access that needs no further
 * checks.
 *
 * Only what schema/program.fbs uses: tables of scalars, strings, vectors of scalars or structs,
 * vectors of strings and of tables. Little-endian hosts only. Vectors lie on multiples of their
 * element's alignment, so they are used by casting. */
#ifndef PTE_FLATBUF_H
#define PTE_FLATBUF_H

#include <stddef.h>

#include "core/flat.h"

/* A verified buffer, and the position of a table in it. */
typedef struct pte_flat {
  const uint8_t *bytes;
  uint32_t table;
} pte_flat;

/* Elements in place; `data` is NULL where the field is absent. */
typedef struct pte_flat_vector {
  const void *data;
  uint32_t count;
} pte_flat_vector;

/* Proves that `bytes` (8-byte aligned, fewer than 2^31) is a buffer whose root is a `table`: every
 * offset, vtable, vector, string and required field that reading can meet. `identifier` (4 letters)
 * may be NULL. PTE_BAD_PROGRAM: the text names `what`, table and field. */
PTE_CHECKED pte_status pte_flat_verify(const uint8_t *bytes, size_t size,
                                       const pte_flat_table *table, const char *identifier,
                                       const char *what, pte_flat *out, pte_error *error);

/* A field of a verified table, by number: a vector or the strings' offsets; text (never NULL; ""
 * where absent); a scalar. */
pte_flat_vector pte_flat_get_vector(pte_flat table, uint32_t field);
const char *pte_flat_get_string(pte_flat table, uint32_t field);
uint64_t pte_flat_get_scalar(pte_flat table, uint32_t field, uint32_t size);

/* Element `i` of a vector of strings (its length in `*out_length`, may be NULL) or of tables. */
const char *pte_flat_string_at(pte_flat_vector strings, uint32_t i, uint32_t *out_length);
pte_flat pte_flat_table_at(pte_flat buffer, pte_flat_vector tables, uint32_t i);

#endif
