/* What the tables of a FlatBuffer are: rows for the verifier of program/flatbuf.h. The rows
 * themselves are generated (gen/layout.c). */
#ifndef PTE_FLAT_H
#define PTE_FLAT_H

#include "core/kernel.h"

typedef enum pte_flat_kind {
  PTE_FLAT_SCALAR = 0,
  PTE_FLAT_STRING = 1,
  PTE_FLAT_VECTOR = 2,  /* of scalars or structs */
  PTE_FLAT_STRINGS = 3, /* vector of strings */
  PTE_FLAT_TABLES = 4   /* vector of tables */
} pte_flat_kind;

typedef struct pte_flat_table pte_flat_table;

typedef struct pte_flat_field {
  char name[16];
  uint8_t kind;
  bool required;
  uint8_t size, align; /* of the scalar or of one element */
} pte_flat_field;

struct pte_flat_table {
  const char *name;
  const pte_flat_field *fields;
  uint32_t field_count;
  const pte_flat_table *element; /* of its vectors of tables: one kind a table */
};

#endif
