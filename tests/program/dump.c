/* Prints every field of a FlatBuffer of program.fbs, read by the runtime's own reader: what
 * test_reader.py compares with the reader of the `flatbuffers` package. Usage: dump FILE TABLE;
 * exit 1 and the error's text where it is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/layout.h"
#include "program/flatbuf.h"

static void print_hex(const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) printf("%02x", bytes[i]);
}

static void print_table(pte_flat table, const pte_flat_table *type);

static void print_field(pte_flat table, const pte_flat_table *type, uint32_t number) {
  const pte_flat_field *field = &type->fields[number];
  pte_flat_vector vector = {NULL, 0};
  if (field->kind == PTE_FLAT_SCALAR) {
    printf("%llu", (unsigned long long)pte_flat_get_scalar(table, number, field->size));
    return;
  }
  if (field->kind == PTE_FLAT_STRING) {
    const char *text = pte_flat_get_string(table, number);
    print_hex((const uint8_t *)text, strlen(text));
    return;
  }
  vector = pte_flat_get_vector(table, number);
  printf("%u:", vector.count);
  if (field->kind == PTE_FLAT_VECTOR) print_hex(vector.data, (size_t)vector.count * field->size);
  for (uint32_t i = 0; i < vector.count && field->kind != PTE_FLAT_VECTOR; i++) {
    uint32_t length = 0;
    if (field->kind == PTE_FLAT_STRINGS) {
      const char *text = pte_flat_string_at(vector, i, &length);
      print_hex((const uint8_t *)text, length);
    } else {
      print_table(pte_flat_table_at(table, vector, i), type->element);
    }
    printf(",");
  }
}

static void print_table(pte_flat table, const pte_flat_table *type) {
  for (uint32_t number = 0; number < type->field_count; number++) {
    printf("%s=", type->fields[number].name);
    print_field(table, type, number);
    printf(";");
  }
}

int main(int argc, char **argv) {
  const pte_flat_table *types[] = {&pte_program_table, &pte_manifest_table, &pte_debug_table};
  const pte_flat_table *type = NULL;
  if (argc != 3) return 2;
  for (unsigned i = 0; i < 3; i++)
    if (strcmp(types[i]->name, argv[2]) == 0) type = types[i];
  FILE *file = fopen(argv[1], "rb");
  if (file == NULL || type == NULL) return 2;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  void *bytes = NULL;
  if (posix_memalign(&bytes, 64, size + (size == 0)) != 0) return 2;
  if (fread(bytes, 1, size, file) != size) return 2;
  fclose(file);
  pte_flat root;
  pte_error error;
  pte_status status =
      pte_flat_verify(bytes, size, type, PTE_FILE_IDENTIFIER, "file", &root, &error);
  if (status == PTE_OK) print_table(root, type);
  else printf("%s\n", error.text);
  free(bytes);
  return status == PTE_OK ? 0 : 1;
}
