/* The verifier: correct programs open, every prefix is refused, every change of a byte is refused
 * or harmless, and a refusal names the field. Kernels are stubs: nothing runs. */
// samples: yes
// sources: program gen core
#include "check.h"
#include "core/size.h"
#include "gen/ops.h"
#include "gen/steps.h"
#include "program/header.h"
#include "program/program.h"
#include "sample.h"

#define STUB(name) const pte_kernel pte_##name##_kernel = {0};
PTE_KERNELS(STUB)

static const char *const NAMES[] = {"pointwise", "matmul",  "moves",    "state",
                                    "control",   "counted", "delegated"};
#define SAMPLES (sizeof NAMES / sizeof NAMES[0])

static char program_memory[1 << 16] __attribute__((aligned(64)));

static sample read_sample(const char *name) {
  char path[200];
  snprintf(path, sizeof path, "build/samples/%s.pte", name);
  return sample_read(path);
}

static pte_status open_bytes(const uint8_t *bytes, size_t size, pte_program **out,
                             pte_error *error) {
  pte_memory memory = {program_memory, sizeof program_memory};
  return pte_program_open(bytes, size, NULL, memory, out, error);
}

/* Reads all that an open program offers. */
static uint64_t read_all(const pte_program *p) {
  uint64_t sum = 0;
  uint64_t scratch[PTE_MAX_ATTRS_BYTES / 8];
  for (uint32_t i = 0; i < p->strings.count; i++) sum += strlen(pte_program_string(p, i));
  for (uint32_t i = 0; i < p->constant_count; i++) {
    const uint8_t *bytes = pte_program_constant(p, i);
    for (uint64_t k = 0; k < p->constants[i].size; k++) sum += bytes[k];
  }
  for (uint32_t i = 0; i < p->instr_count; i++) {
    const uint8_t *attrs = pte_program_attrs(p, &p->instrs[i], scratch);
    for (uint32_t k = 0; k < pte_program_row(&p->instrs[i])->attrs_bytes; k++) sum += attrs[k];
    pte_instr_info instr = {.size = sizeof instr};
    pte_node_info node = {.size = sizeof node};
    CHECK(pte_program_instr(p, i, &instr) == PTE_OK && instr.op_name[0] != 0);
    if (pte_program_node(p, instr.node, &node) == PTE_OK)
      sum += strlen(node.name) + strlen(node.type) + strlen(node.source);
  }
  for (uint32_t m = 0; m < p->method_count; m++) {
    pte_method_info info = {.size = sizeof info};
    pte_port_info port = {.size = sizeof port};
    CHECK(pte_program_method(p, m, &info) == PTE_OK);
    for (uint32_t i = 0; i < info.input_count; i++)
      CHECK(pte_program_input(p, m, i, &port) == PTE_OK);
    for (uint32_t i = 0; i < info.output_count; i++)
      CHECK(pte_program_output(p, m, i, &port) == PTE_OK);
    for (uint32_t i = 0; i < info.state_count; i++)
      CHECK(pte_program_state(p, m, i, &port) == PTE_OK);
  }
  for (uint32_t i = 0; i < p->delegate_count; i++) {
    uint64_t size;
    const uint8_t *blob = pte_program_blob(p, i, &size);
    for (uint64_t k = 0; k < size; k++) sum += blob[k];
  }
  return sum;
}

static void samples_open_and_can_be_read(void) {
  for (size_t k = 0; k < SAMPLES; k++) {
    sample s = read_sample(NAMES[k]);
    pte_program *program = NULL;
    pte_error error;
    size_t needed = 0;
    CHECK_EQUAL(pte_program_size(s.bytes, s.size, &needed, &error), PTE_OK);
    if (open_bytes(s.bytes, s.size, &program, &error) != PTE_OK) {
      printf("%s: %s\n", NAMES[k], error.text);
      failures++;
      continue;
    }
    CHECK(read_all(program) != 0);
    CHECK_EQUAL(pte_program_check_digests(program, &error), PTE_OK);
    free(s.bytes);
  }
}

static void a_program_says_what_it_has(void) {
  sample s = read_sample("pointwise");
  pte_program *p = NULL;
  pte_error error;
  CHECK_EQUAL(open_bytes(s.bytes, s.size, &p, &error), PTE_OK);
  pte_program_info program = {.size = sizeof program};
  CHECK_EQUAL(pte_program_get_info(p, &program), PTE_OK);
  CHECK(program.method_count == 1 && program.instr_count == 2 && program.node_count == 2);
  CHECK(program.file_bytes == s.size && program.delegate_count == 0);
  CHECK(strncmp(program.producer, "pteron", 6) == 0);
  pte_instr_info instr = {.size = sizeof instr};
  CHECK_EQUAL(pte_program_instr(p, 1, &instr), PTE_OK);
  CHECK(strcmp(instr.op_name, "pointwise") == 0 && instr.node == 1);
  pte_node_info node = {.size = sizeof node};
  CHECK_EQUAL(pte_program_node(p, 0, &node), PTE_OK);
  CHECK(strcmp(node.name, "first") == 0 && strcmp(node.type, "Add") == 0);
  CHECK(strcmp(node.source, "m.py:1") == 0);
  pte_method_info method = {.size = sizeof method};
  CHECK_EQUAL(pte_program_method(p, 0, &method), PTE_OK);
  CHECK(method.input_count == 1 && method.output_count == 1 && method.instr_count == 2);
  CHECK(strcmp(pte_dtype_name(PTE_F32), "f32") == 0);
  free(s.bytes);
}

static void questions_about_what_is_not_there_are_refused(void) {
  sample s = read_sample("pointwise");
  pte_program *p = NULL;
  pte_error error;
  CHECK_EQUAL(open_bytes(s.bytes, s.size, &p, &error), PTE_OK);
  pte_program_info program = {.size = 3};
  pte_instr_info instr = {.size = sizeof instr};
  pte_node_info node = {.size = sizeof node};
  pte_port_info port = {.size = sizeof port};
  pte_method_info method = {.size = sizeof method};
  CHECK_EQUAL(pte_program_get_info(p, &program), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_program_get_info(p, NULL), PTE_BAD_ARGUMENT);
  for (unsigned i = 0; i < 2; i++) {
    uint32_t index = i == 0 ? 2 : PTE_NONE;
    CHECK_EQUAL(pte_program_instr(p, index, &instr), PTE_BAD_ARGUMENT);
    CHECK_EQUAL(pte_program_node(p, index, &node), PTE_BAD_ARGUMENT);
    CHECK_EQUAL(pte_program_method(p, index, &method), PTE_BAD_ARGUMENT);
    CHECK_EQUAL(pte_program_input(p, 0, index, &port), PTE_BAD_ARGUMENT);
    CHECK_EQUAL(pte_program_output(p, 0, index, &port), PTE_BAD_ARGUMENT);
    CHECK_EQUAL(pte_program_state(p, 0, index, &port), PTE_BAD_ARGUMENT);
    CHECK_EQUAL(pte_program_input(p, index, 0, &port), PTE_BAD_ARGUMENT);
    CHECK(strcmp(pte_dtype_name(index == 2 ? PTE_DTYPE_COUNT : index), "") == 0);
  }
  CHECK_EQUAL(pte_program_instr(NULL, 0, &instr), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_program_instr(p, 0, NULL), PTE_BAD_ARGUMENT);
  free(s.bytes);
}

static void every_prefix_is_refused(void) {
  for (size_t k = 0; k < SAMPLES; k++) {
    sample s = read_sample(NAMES[k]);
    for (size_t size = 0; size < s.size; size++) {
      uint8_t *part = sample_memory(size);
      pte_program *program = NULL;
      pte_error error;
      memcpy(part, s.bytes, size);
      CHECK_EQUAL(open_bytes(part, size, &program, &error), PTE_BAD_PROGRAM);
      if (size >= 64) {
        uint64_t bytes = size;
        memcpy(part + 16, &bytes, 8);
        sample_reseal(part, size);
        CHECK_EQUAL(open_bytes(part, size, &program, &error), PTE_BAD_PROGRAM);
      }
      CHECK(program == NULL && error.text[0] != 0);
      free(part);
    }
    free(s.bytes);
  }
}

/* A refusal is one of these and says where: the text begins with table, index and field. */
static void check_refusal(pte_status status, const pte_error *error) {
  CHECK(status == PTE_BAD_PROGRAM || status == PTE_UNSUPPORTED || status == PTE_BAD_ARGUMENT);
  const char *colon = strchr(error->text, ':');
  CHECK(error->status == (int32_t)status && colon != NULL && colon - error->text < 60);
}

static void every_changed_byte_is_refused_or_harmless(void) {
  static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x10};
  for (size_t k = 0; k < SAMPLES; k++) {
    sample s = read_sample(NAMES[k]);
    uint8_t *bytes = sample_memory(s.size);
    unsigned accepted = 0;
    for (size_t at = 0; at < s.size; at++) {
      for (size_t c = 0; c < sizeof changes; c++) {
        pte_program *program = NULL;
        pte_error error;
        memcpy(bytes, s.bytes, s.size);
        bytes[at] ^= changes[c];
        pte_status status = open_bytes(bytes, s.size, &program, &error);
        if (status == PTE_OK) read_all(program);
        else check_refusal(status, &error);
        sample_reseal(bytes, s.size);
        status = open_bytes(bytes, s.size, &program, &error);
        if (status == PTE_OK) read_all(program);
        else check_refusal(status, &error);
        accepted += status == PTE_OK;
      }
    }
    CHECK(accepted < 4 * s.size / 2);
    free(bytes);
    free(s.bytes);
  }
}

static void hashed_parts_do_not_change_unnoticed(void) {
  sample s = read_sample("pointwise");
  uint64_t program_at = sample_word(s.bytes + 64 + 64 + 8, 8);
  uint64_t program_end = program_at + sample_word(s.bytes + 64 + 64 + 16, 8);
  for (size_t at = 0; at < program_end; at++) {
    pte_program *program = NULL;
    pte_error error;
    s.bytes[at] ^= 4;
    CHECK_EQUAL(open_bytes(s.bytes, s.size, &program, &error), PTE_BAD_PROGRAM);
    s.bytes[at] ^= 4;
  }
  free(s.bytes);
}

static void an_executorch_file_is_named_as_such(void) {
  uint8_t bytes[128] __attribute__((aligned(64))) = {16, 0, 0, 0, 'E', 'T', '1', '2'};
  pte_program *program = NULL;
  pte_error error;
  CHECK_EQUAL(open_bytes(bytes, sizeof bytes, &program, &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "ExecuTorch");
}

static void memory_that_is_too_small_says_how_much_is_needed(void) {
  sample s = read_sample("pointwise");
  size_t needed = 0;
  pte_error error;
  CHECK_EQUAL(pte_program_size(s.bytes, s.size, &needed, &error), PTE_OK);
  for (size_t size = 0; size <= needed; size++) {
    pte_program *program = NULL;
    void *memory = sample_memory(size);
    pte_status status =
        pte_program_open(s.bytes, s.size, NULL, (pte_memory){memory, size}, &program, &error);
    CHECK_EQUAL(status, size < needed ? PTE_NO_MEMORY : PTE_OK);
    if (size < needed) CHECK_TEXT(error.text, "of memory, got");
    free(memory);
  }
  free(s.bytes);
}

/* Bytes that somebody writes once the program is open: all but constants and blobs, which are
 * numbers. */
static void scramble_tables(sample *s, const pte_program *p) {
  for (uint32_t i = 0; i < p->segment_count; i++) {
    pte_file_entry entry = pte_segment_entry_at(p->head, i);
    if (entry.kind != PTE_SEGMENT_CONSTANTS && entry.kind != PTE_SEGMENT_BLOB)
      memset(s->bytes + entry.offset, 0xff, (size_t)entry.size);
  }
  memset(s->bytes, 0xff, pte_head_bytes(p->segment_count));
}

static void a_file_that_changes_while_it_is_open_moves_nothing(void) {
  for (size_t k = 0; k < SAMPLES; k++) {
    sample s = read_sample(NAMES[k]);
    pte_program *program = NULL;
    pte_error error;
    CHECK_EQUAL(open_bytes(s.bytes, s.size, &program, &error), PTE_OK);
    uint64_t before = read_all(program);
    scramble_tables(&s, program);
    CHECK_EQUAL(read_all(program), before);
    CHECK_EQUAL(pte_program_check_digests(program, &error), PTE_OK);
    free(s.bytes);
  }
}

/* Changes one field of an open program's table in the file, reseals, and expects the text. */
typedef struct change {
  const char *sample;
  void *(*field)(const pte_program *p);
  uint32_t size;
  uint64_t value;
  const char *text;
} change;

#define FIELD(name, expression)                                                                    \
  static void *name(const pte_program *p) { return (void *)(uintptr_t)&(expression); }
FIELD(value_dtype, p->values[0].dtype)
FIELD(value_base, p->values[2].base)
FIELD(value_rank, p->values[1].rank)
FIELD(value_shape, p->values[0].shape)
FIELD(instr_op, p->instrs[0].op)
FIELD(instr_inputs, p->instrs[0].inputs.start)
FIELD(instr_attrs, p->instrs[0].attrs)
FIELD(constant_size, p->constants[0].size)
FIELD(constant_offset, p->constants[0].offset)
FIELD(constant_segment, p->constants[0].segment)
FIELD(step_op, p->tables.steps[0].op)
FIELD(step_register, p->tables.steps[3].a)
FIELD(step_operand, p->tables.steps[0].arg)
FIELD(step_store, p->tables.steps[5].arg)
FIELD(step_whole, p->tables.steps[2])
FIELD(block_depth, p->blocks[1].depth)
FIELD(block_instrs, p->blocks[1].instrs.start)
FIELD(method_block, p->methods[0].block)
FIELD(other_block, p->methods[1].block)
FIELD(call_body, ((const uint8_t *)p->attrs)[p->instrs[1].attrs + offsetof(pte_call_attrs, body)])
FIELD(dims_ref,
      p->tables.refs[((const pte_dims_attrs *)(p->attrs + p->instrs[1].attrs / 8))->values.start])
FIELD(other_inputs, p->methods[1].inputs.start)
FIELD(attrs_size, p->attrs[p->instrs[0].attrs / 8])
FIELD(port_value, p->ports[0].value)
FIELD(delegate_segment, p->delegates[0].segment)

#define CAST (PTE_STEP_CAST | PTE_STEP_F32 << 8 | 2 << 16 | (uint64_t)99 << 32)

static const change CHANGES[] = {
    {"pointwise", value_dtype,      1, 99,   "values[0].dtype: expected below"                     },
    {"pointwise", value_rank,       1, 9,    "values[1].rank: expected below 9, got 9"             },
    {"pointwise", value_shape,      4, 1000, "values[0].shape: 2 from 1000 end behind"             },
    {"pointwise", instr_op,         2, 9999, "instrs[0].op: 9999 is not an operator"               },
    {"pointwise", instr_inputs,     4, 7777, "instrs[0].inputs: 2 from 7777 end behind"            },
    {"pointwise", instr_attrs,      4, 4,    "instrs[0].attrs: expected a multiple of 8"           },
    {"pointwise", constant_size,    8, 16,   "constants[0].size: expected 12"                      },
    {"pointwise", constant_offset,  8, 4096, "constants[0].offset: 12 bytes from 4096"             },
    {"pointwise", constant_segment, 4, 0,    "constants[0].segment: segment 0 is not CONSTANTS"    },
    {"pointwise", step_op,          1, 200,  "instrs[0].steps[0]: no such opcode, got 200"         },
    {"pointwise", step_register,    1, 9,    "instrs[0].steps[3]: reads a register that is not set"},
    {"pointwise", step_operand,     2, 5,    "instrs[0].steps[0]: load: no such operand, got 5"    },
    {"pointwise", step_store,       2, 1,    "instrs[0].steps[5]: store: no such output, got 1"    },
    {"pointwise", step_whole,       8, CAST, "instrs[0].steps[2]: cast: no such type, got 99"      },
    {"pointwise", method_block,     4, 3,    "methods[0].block: expected below 1, got 3"           },
    {"state",     other_block,      4, 0,    "methods[1].block: block 0 is of method 0"            },
    {"control",   call_body,        4, 0,    "instrs[1].body: expected a higher index and depth"   },
    {"control",   instr_attrs,      4, ~0u,  "instrs[0].attrs: if needs attributes"                },
    {"counted",   dims_ref,         4, 9999, "instrs[1].attrs: dims.values: expected expressions"  },
    {"state",     other_inputs,     4, 0,    "methods[1].inputs: expected ports from"              },
    {"control",   attrs_size,       4, 8,    "if.else_block: required, but the struct is too short"},
    {"pointwise", port_value,       4, 3,    "ports[0].value"                                      },
    {"control",   block_depth,      1, 0,    "blocks[1].depth"                                     },
    {"control",   block_depth,      1, 9,    "blocks[1].depth: expected below 9, got 9"            },
    {"control",   block_instrs,     4, 0,    "blocks[1].instrs: expected start"                    },
    {"delegated", delegate_segment, 4, 1,    "delegates[0].segment: segment 1 is not BLOB"         },
};

/* Where in the file the byte is that the program has copied to `at`. */
static uint8_t *in_file(const sample *s, const pte_program *p, const void *at) {
  for (uint32_t i = 0; i < p->segment_count; i++) {
    size_t offset = (size_t)((const uint8_t *)at - p->segments[i].data);
    if (offset < p->segments[i].size)
      return s->bytes + pte_segment_entry_at(p->head, i).offset + offset;
  }
  abort();
}

static void a_changed_field_is_named(void) {
  for (size_t k = 0; k < sizeof CHANGES / sizeof CHANGES[0]; k++) {
    const change *c = &CHANGES[k];
    sample s = read_sample(c->sample);
    pte_program *program = NULL;
    pte_error error = {0};
    CHECK_EQUAL(open_bytes(s.bytes, s.size, &program, &error), PTE_OK);
    memcpy(in_file(&s, program, c->field(program)), &c->value, c->size);
    sample_reseal(s.bytes, s.size);
    CHECK_EQUAL(open_bytes(s.bytes, s.size, &program, &error), PTE_BAD_PROGRAM);
    CHECK_TEXT(error.text, c->text);
    free(s.bytes);
  }
  (void)value_base;
}

/* Of groups and shape as given, in whole rows where a format has scales. */
static bool stored_bytes(uint32_t dtype, uint32_t layout, uint32_t format, uint32_t groups,
                         uint32_t rank, const int64_t *shape, uint64_t *out) {
  pte_tensor t = {.dtype = (uint8_t)dtype,
                  .rank = (uint8_t)rank,
                  .layout = (uint8_t)layout,
                  .format = (uint8_t)format,
                  .groups = (uint16_t)groups};
  memcpy(t.shape, shape, rank * sizeof *shape);
  return pte_storage_bytes(&t, out);
}

static void panels_have_whole_rows_and_steps(void) {
  uint64_t bytes = 0;
  const int64_t shape[2] = {17, 5};
  CHECK(stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 1, 2, shape, &bytes));
  CHECK_EQUAL(bytes, 32 * 5 * 4);
  CHECK(stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I8, 1, 2, shape, &bytes));
  CHECK_EQUAL(bytes, 32 * 8 + 32 * 4);
  const int64_t grouped[2] = {34, 5};
  CHECK(stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 2, 2, grouped, &bytes));
  CHECK_EQUAL(bytes, 64 * 5 * 4);
  CHECK(!stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 3, 2, grouped, &bytes));
  CHECK(stored_bytes(PTE_F32, PTE_TAPS, PTE_FORMAT_PLAIN, 1, 2, shape, &bytes));
  CHECK_EQUAL(bytes, 32 * 5 * 4);
}

static void what_is_no_type_or_format_has_no_storage(void) {
  uint64_t bytes = 0;
  const int64_t shape[2] = {16, 4};
  CHECK(!stored_bytes(99, PTE_STRIDED, PTE_FORMAT_PLAIN, 0, 2, shape, &bytes));
  CHECK(!stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_COUNT, 0, 2, shape, &bytes));
  CHECK(!stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 3, 2, shape, &bytes));
  CHECK(stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 0, 2, shape, &bytes));
}

static void sizes_that_do_not_fit_have_no_storage(void) {
  uint64_t bytes = 0;
  const int64_t huge[3] = {INT64_MAX, INT64_MAX, INT64_MAX}, empty[3] = {INT64_MAX, 0, INT64_MAX};
  CHECK(!stored_bytes(PTE_F32, PTE_STRIDED, PTE_FORMAT_PLAIN, 1, 3, huge, &bytes));
  CHECK(!stored_bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 1, 2, huge, &bytes));
  CHECK(!stored_bytes(PTE_F32, PTE_TAPS, PTE_FORMAT_PLAIN, 1, 2, huge, &bytes));
  CHECK(!stored_bytes(PTE_F32, PTE_STRIDED, PTE_FORMAT_PLAIN, 1, 1, huge, &bytes));
  CHECK(stored_bytes(PTE_I4, PTE_STRIDED, PTE_FORMAT_PLAIN, 1, 1, (const int64_t[]){5}, &bytes));
  CHECK_EQUAL(bytes, 3);
  CHECK(!stored_bytes(PTE_F64, PTE_STRIDED, PTE_FORMAT_PLAIN, 1, 2, empty, &bytes) || bytes == 0);
}

int main(void) {
  samples_open_and_can_be_read();
  a_program_says_what_it_has();
  questions_about_what_is_not_there_are_refused();
  every_prefix_is_refused();
  every_changed_byte_is_refused_or_harmless();
  hashed_parts_do_not_change_unnoticed();
  an_executorch_file_is_named_as_such();
  memory_that_is_too_small_says_how_much_is_needed();
  a_file_that_changes_while_it_is_open_moves_nothing();
  a_changed_field_is_named();
  panels_have_whole_rows_and_steps();
  what_is_no_type_or_format_has_no_storage();
  sizes_that_do_not_fit_have_no_storage();
  return check_done();
}
