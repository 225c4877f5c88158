/* The FlatBuffer reader: what it accepts can be read whole, every prefix and every changed byte
 * included. */
// samples: yes
// sources: program/flatbuf.c program/blake2s.c gen/layout.c core/error.c
#include "check.h"
#include "gen/layout.h"
#include "program/flatbuf.h"
#include "sample.h"

static const pte_flat_table *const TABLES[] = {NULL, &pte_manifest_table, &pte_program_table, NULL,
                                               NULL, &pte_debug_table};
static const char *const FILES[] = {"build/samples/pointwise.pte", "build/samples/control.pte"};

static volatile uint64_t seen; /* so that nothing read is left out */

static uint64_t read_table(pte_flat table, const pte_flat_table *type) {
  uint64_t sum = 0;
  for (uint32_t n = 0; n < type->field_count; n++) {
    const pte_flat_field *field = &type->fields[n];
    if (field->kind == PTE_FLAT_SCALAR) sum += pte_flat_get_scalar(table, n, field->size);
    else if (field->kind == PTE_FLAT_STRING) sum += strlen(pte_flat_get_string(table, n));
    if (field->kind == PTE_FLAT_SCALAR || field->kind == PTE_FLAT_STRING) continue;
    pte_flat_vector v = pte_flat_get_vector(table, n);
    if (field->kind == PTE_FLAT_VECTOR) {
      for (size_t k = 0; k < (size_t)v.count * field->size; k++)
        sum += ((const uint8_t *)v.data)[k];
      continue;
    }
    for (uint32_t i = 0; i < v.count; i++)
      sum += field->kind == PTE_FLAT_STRINGS
                 ? strlen(pte_flat_string_at(v, i, NULL))
                 : read_table(pte_flat_table_at(table, v, i), type->element);
  }
  return sum;
}

static pte_status read_buffer(const uint8_t *bytes, size_t size, const pte_flat_table *type) {
  pte_flat root;
  pte_error error = {0};
  pte_status status =
      pte_flat_verify(bytes, size, type, PTE_FILE_IDENTIFIER, "buffer", &root, &error);
  if (status == PTE_OK) seen += read_table(root, type);
  else CHECK(error.text[0] != 0);
  return status;
}

/* Calls `visit` with every FlatBuffer of the sample files, alone in memory of exactly its size. */
static void for_each_buffer(void (*visit)(uint8_t *, size_t, const pte_flat_table *)) {
  for (size_t f = 0; f < sizeof FILES / sizeof FILES[0]; f++) {
    sample s = sample_read(FILES[f]);
    for (uint64_t i = 0; i < sample_word(s.bytes + 12, 4); i++) {
      const uint8_t *entry = s.bytes + 64 + 64 * i;
      const pte_flat_table *type = TABLES[sample_word(entry, 4)];
      size_t size = (size_t)sample_word(entry + 16, 8);
      if (type == NULL) continue;
      uint8_t *bytes = sample_memory(size);
      memcpy(bytes, s.bytes + sample_word(entry + 8, 8), size);
      visit(bytes, size, type);
      free(bytes);
    }
    free(s.bytes);
  }
}

static void whole(uint8_t *bytes, size_t size, const pte_flat_table *type) {
  CHECK_EQUAL(read_buffer(bytes, size, type), PTE_OK);
}
static void buffers_are_accepted(void) { for_each_buffer(whole); }

static void prefixes(uint8_t *bytes, size_t size, const pte_flat_table *type) {
  unsigned accepted = 0;
  for (size_t keep = 0; keep < size; keep++) {
    uint8_t *part = sample_memory(keep);
    memcpy(part, bytes, keep);
    accepted += read_buffer(part, keep, type) == PTE_OK;
    free(part);
  }
  CHECK(accepted < 8); /* what is left out there is padding at the end */
}
static void prefixes_are_refused_or_whole(void) { for_each_buffer(prefixes); }

static void changes(uint8_t *bytes, size_t size, const pte_flat_table *type) {
  for (size_t at = 0; at < size; at++) {
    uint8_t old = bytes[at];
    for (unsigned value = 0; value < 256; value += value < 8 ? 1 : 31) {
      bytes[at] = (uint8_t)value;
      (void)read_buffer(bytes, size, type);
    }
    bytes[at] = old;
  }
}
static void changed_bytes_are_refused_or_readable(void) { for_each_buffer(changes); }

static void words(uint8_t *bytes, size_t size, const pte_flat_table *type) {
  static const uint32_t values[] = {0, 4, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
  for (size_t at = 0; at + 4 <= size; at += 4) {
    uint32_t old;
    memcpy(&old, bytes + at, 4);
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
      memcpy(bytes + at, &values[v], 4);
      (void)read_buffer(bytes, size, type);
    }
    memcpy(bytes + at, &old, 4);
  }
}
static void changed_words_are_refused_or_readable(void) { for_each_buffer(words); }

static void tiny_and_unaligned_buffers_are_refused(void) {
  uint8_t bytes[24] __attribute__((aligned(8))) = {8, 0, 0, 0, 'P', 'T', 'E', '1'};
  pte_flat root;
  pte_error error;
  CHECK_EQUAL(pte_flat_verify(bytes, 0, &pte_debug_table, NULL, "b", &root, &error),
              PTE_BAD_PROGRAM);
  CHECK_EQUAL(pte_flat_verify(bytes, 7, &pte_debug_table, NULL, "b", &root, &error),
              PTE_BAD_PROGRAM);
  CHECK_EQUAL(pte_flat_verify(bytes + 4, 16, &pte_debug_table, NULL, "b", &root, &error),
              PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_flat_verify(bytes, 24, &pte_debug_table, "XXXX", "b", &root, &error),
              PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "expected the identifier XXXX");
}

/* Tables of one vector of tables, `levels` of them, each so many bytes behind the one before. */
static pte_status read_nested(unsigned levels, uint32_t behind, pte_error *error) {
  static const pte_flat_field field = {"inner", PTE_FLAT_TABLES, false, 4, 4};
  static pte_flat_table nested = {"nested", &field, 1, NULL};
  nested.element = &nested;
  uint8_t bytes[512] __attribute__((aligned(8))) = {16};
  for (unsigned k = 0; k < levels; k++) {
    uint8_t *at = bytes + 8 + (size_t)24 * k;
    at[0] = 6; /* the field table: its bytes, the table's, the field's place */
    at[2] = 8;
    at[4] = 4;
    at[8] = 8; /* the table: back to the field table, on to the vector */
    at[12] = 4;
    at[16] = k + 1 < levels; /* the vector: so many, on to the next table */
    memcpy(at + 20, &behind, 4);
  }
  pte_flat root;
  return pte_flat_verify(bytes, 8 + (size_t)24 * levels, &nested, NULL, "b", &root, error);
}

static void tables_nest_five_deep(void) {
  pte_error error = {0};
  CHECK_EQUAL(read_nested(5, 12, &error), PTE_OK);
  CHECK_EQUAL(read_nested(6, 12, &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "tables too deep");
}

static void a_required_field_is_there(void) {
  static const pte_flat_field field = {"needed", PTE_FLAT_SCALAR, true, 4, 4};
  static const pte_flat_table table = {"t", &field, 1, NULL};
  uint8_t bytes[24]
      __attribute__((aligned(8))) = {16, 0, 0, 0, 0, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0};
  pte_flat root;
  pte_error error = {0};
  CHECK_EQUAL(pte_flat_verify(bytes, 24, &table, NULL, "b", &root, &error), PTE_OK);
  bytes[12] = 0; /* its place */
  CHECK_EQUAL(pte_flat_verify(bytes, 24, &table, NULL, "b", &root, &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "needed: required, but absent");
}

static void an_element_lies_behind_its_vector(void) {
  pte_error error = {0};
  CHECK_EQUAL(read_nested(2, (uint32_t)-12, &error), PTE_BAD_PROGRAM); /* 32 bits would wrap */
  CHECK_TEXT(error.text, "inner: table outside the buffer at");
}

static void wide_elements_lie_on_multiples_of_their_size(void) {
  static const pte_flat_field field = {"wide", PTE_FLAT_VECTOR, false, 8, 8};
  static const pte_flat_table table = {"t", &field, 1, NULL};
  uint8_t bytes[40] __attribute__((aligned(8))) = {16, 0, 0, 0, 0, 0, 0, 0, 6, 0, 8,
                                                   0,  4, 0, 0, 0, 8, 0, 0, 0, 8};
  pte_flat root;
  pte_error error = {0};
  bytes[28] = 1; /* one element, from byte 32 */
  CHECK_EQUAL(pte_flat_verify(bytes, 40, &table, NULL, "b", &root, &error), PTE_OK);
  bytes[28] = 0;
  bytes[20] = 4; /* from byte 28 */
  bytes[24] = 1;
  CHECK_EQUAL(pte_flat_verify(bytes, 40, &table, NULL, "b", &root, &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "wide: elements unaligned");
}

/* A table of one field, which lies at byte 20 and leads `forward` bytes on; behind it `count`, then
 * `text`. */
static pte_status read_one(pte_flat_kind kind, uint32_t forward, uint32_t count, const char *text,
                           pte_error *error) {
  const pte_flat_field field = {"one", (uint8_t)kind, false, 1, 1};
  const pte_flat_table table = {"t", &field, 1, NULL};
  uint8_t bytes[36]
      __attribute__((aligned(8))) = {16, 0, 0, 0, 0, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0};
  memcpy(bytes + 20, &forward, 4);
  memcpy(bytes + 24, &count, 4);
  memcpy(bytes + 28, text, 8);
  pte_flat root;
  return pte_flat_verify(bytes, sizeof bytes, &table, NULL, "b", &root, error);
}

static void strings_and_vectors_lie_on_words_of_the_buffer(void) {
  static const uint32_t wrong[] = {5, 6, 7, 16, 20, 0xfffffff8u, 0xffffffecu, 0xfffffff0u};
  static const pte_flat_kind kinds[] = {PTE_FLAT_STRING, PTE_FLAT_VECTOR};
  static const char *const texts[] = {"one: string outside the buffer or unaligned",
                                      "one: vector outside the buffer or unaligned"};
  for (int k = 0; k < 2; k++) {
    pte_error error = {0};
    CHECK_EQUAL(read_one(kinds[k], 4, 3, "abc\0\0\0\0", &error), PTE_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      CHECK_EQUAL(read_one(kinds[k], wrong[i], 0, "\0\0\0\0\0\0\0", &error), PTE_BAD_PROGRAM);
      CHECK_TEXT(error.text, texts[k]);
    }
  }
}

static void their_ends_lie_in_the_buffer(void) {
  pte_error error = {0};
  CHECK_EQUAL(read_one(PTE_FLAT_STRING, 4, 7, "abcdefg", &error), PTE_OK);
  CHECK_EQUAL(read_one(PTE_FLAT_STRING, 4, 6, "abcdefg", &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "one: string without end mark");
  static const uint32_t longer[] = {8, 9, 0x7fffffffu, 0xffffffffu};
  for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
    CHECK_EQUAL(read_one(PTE_FLAT_STRING, 4, longer[i], "abcdefg", &error), PTE_BAD_PROGRAM);
    CHECK_TEXT(error.text, "one: string longer than the buffer");
  }
  CHECK_EQUAL(read_one(PTE_FLAT_VECTOR, 4, 8, "abcdefg", &error), PTE_OK);
  CHECK_EQUAL(read_one(PTE_FLAT_VECTOR, 4, 9, "abcdefg", &error), PTE_BAD_PROGRAM);
  CHECK_EQUAL(read_one(PTE_FLAT_VECTOR, 4, 0xffffffffu, "abcdefg", &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "one: vector longer than the buffer");
}

int main(void) {
  buffers_are_accepted();
  prefixes_are_refused_or_whole();
  changed_bytes_are_refused_or_readable();
  changed_words_are_refused_or_readable();
  tiny_and_unaligned_buffers_are_refused();
  tables_nest_five_deep();
  a_required_field_is_there();
  an_element_lies_behind_its_vector();
  wide_elements_lie_on_multiples_of_their_size();
  strings_and_vectors_lie_on_words_of_the_buffer();
  their_ends_lie_in_the_buffer();
  return check_done();
}
