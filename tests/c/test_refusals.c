/* What callers get wrong, in the words of the refusal; and bytes that only a broken writer makes.
 */
// sources: library
// samples: yes
#include <stdbool.h>

#include "gen/layout.h"
#include "stage.h"

#define REFUSED(call, status, words)                                                               \
  do {                                                                                             \
    pte_error error = {0};                                                                         \
    CHECK_EQUAL(call, status);                                                                     \
    CHECK_TEXT(error.text, words);                                                                 \
  } while (0)

static void of_a_program(void) {
  stage s = open_stage("pointwise", "main", false);
  uint8_t *bytes = s.file.bytes, *apart = sample_memory(s.file.size + 64);
  size_t size = s.file.size, needed = 0;
  uint32_t index = 0;
  pte_program *program = NULL;
  pte_memory room = {s.program_memory, 1 << 16}, odd = {(char *)s.program_memory + 1, 1 << 16};
  pte_program_info info = {.size = sizeof info};
  pte_open_options options = {.size = sizeof options, .delegate_count = 1};
  REFUSED(pte_program_size(NULL, size, &needed, &error), PTE_BAD_ARGUMENT, "program_size: null");
  REFUSED(pte_program_size(bytes, size, NULL, &error), PTE_BAD_ARGUMENT, "program_size: null");
  REFUSED(pte_program_open(NULL, size, NULL, room, &program, &error), PTE_BAD_ARGUMENT,
          "program_open: null");
  REFUSED(pte_program_open(bytes, size, NULL, room, NULL, &error), PTE_BAD_ARGUMENT,
          "program_open: null");
  memcpy(apart + 1, bytes, size);
  REFUSED(pte_program_open(apart + 1, size, NULL, room, &program, &error), PTE_BAD_ARGUMENT,
          "program_open: expected bytes aligned to 64");
  REFUSED(pte_program_open(bytes, size, NULL, odd, &program, &error), PTE_BAD_ARGUMENT,
          "aligned to 64, memory to 16");
  REFUSED(pte_program_open(bytes, size, &options, room, &program, &error), PTE_BAD_ARGUMENT,
          "options: null pointer");
  CHECK_EQUAL(pte_program_get_info(NULL, &info), PTE_BAD_ARGUMENT);
  REFUSED(pte_program_check_digests(NULL, &error), PTE_BAD_ARGUMENT, "check_digests: null");
  REFUSED(pte_program_find_method(NULL, "main", &index, &error), PTE_BAD_ARGUMENT,
          "find_method: null");
  REFUSED(pte_program_find_method(s.program, "main", NULL, &error), PTE_BAD_ARGUMENT,
          "find_method: null");
  REFUSED(pte_program_find_method(s.program, "other", &index, &error), PTE_BAD_ARGUMENT,
          "method 'other': the program has none");
  pte_method_info method = {.size = sizeof method};
  pte_port_info port = {.size = sizeof port};
  CHECK_EQUAL(pte_program_method(s.program, 1, &method), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_program_method(NULL, 0, &method), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_program_input(s.program, 0, 1, &port), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_program_output(s.program, 0, 1, &port), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_program_state(s.program, 0, 0, &port), PTE_BAD_ARGUMENT);
  free(apart);
  close_stage(&s);
}

static void of_a_session(void) {
  stage s = open_stage("state", "step", false);
  size_t bytes = 0;
  pte_session *session = NULL;
  pte_memory none = {NULL, 0}, odd = {(char *)s.session_memory + 1, 1 << 16};
  pte_pool pool = {.size = sizeof pool, .threads = 3};
  pte_prepare_options options = shapes_of(NULL);
  pte_sizes sizes = {.size = sizeof sizes};
  float x[64] = {0};
  REFUSED(pte_session_size(NULL, 0, &bytes, &error), PTE_BAD_ARGUMENT, "program: is NULL");
  REFUSED(pte_session_size(s.program, 2, &bytes, &error), PTE_BAD_ARGUMENT,
          "method 2: the program");
  REFUSED(pte_session_open(s.program, 0, none, &session, &error), PTE_NO_MEMORY, "needs");
  REFUSED(pte_session_open(s.program, 0, odd, &session, &error), PTE_BAD_ARGUMENT, "64-byte");
  REFUSED(pte_prepare_size(NULL, &options, &sizes, &error), PTE_BAD_ARGUMENT, "session: NULL");
  REFUSED(pte_session_prepare(NULL, &options, none, none, 0, &error), PTE_BAD_ARGUMENT, "session");
  REFUSED(pte_session_prepare(s.session, &options, none, none, 9, &error), PTE_BAD_ARGUMENT,
          "reset: expected PTE_STATE_*, got 9");
  options.pool = &pool;
  REFUSED(pte_prepare_size(s.session, &options, &sizes, &error), PTE_BAD_ARGUMENT,
          "pool: has 3 threads, options.threads is 1");
  REFUSED(pte_session_run(s.session, NULL, NULL, NULL, &error), PTE_BAD_ARGUMENT, "not prepared");
  REFUSED(pte_session_get_state(s.session, 0, x, sizeof x, &error), PTE_BAD_ARGUMENT,
          "not prepared");
  CHECK_EQUAL(pte_session_reset(s.session, &s.error), PTE_OK);
  REFUSED(pte_session_reset(NULL, &error), PTE_BAD_ARGUMENT, "session: NULL");
  CHECK_EQUAL(prepare(&s, NULL), PTE_OK);
  pte_memory arena = {(char *)s.arena + 1, (size_t)s.sizes.arena_bytes};
  pte_memory state = {(char *)s.state + 1, (size_t)s.sizes.state_bytes};
  if (s.sizes.arena_bytes != 0)
    REFUSED(pte_session_prepare(s.session, NULL, arena, state, 0, &error), PTE_BAD_ARGUMENT,
            "arena: expected 64-byte alignment");
  arena.data = s.arena;
  REFUSED(pte_session_prepare(s.session, NULL, arena, state, 0, &error), PTE_BAD_ARGUMENT,
          "state: expected 64-byte alignment");
  close_stage(&s);
}

static void of_a_run(void) {
  stage s = open_stage("state", "step", false);
  float update[8] = {0}, y[64] = {0}, x[64];
  int64_t at[2] = {0, 0};
  const void *inputs[] = {update, at}, *missing[] = {update, NULL};
  void *outputs[] = {y}, *same[] = {update};
  pte_run_options options = {.size = 0};
  CHECK_EQUAL(prepare(&s, NULL), PTE_OK);
  REFUSED(pte_session_run(NULL, inputs, outputs, NULL, &error), PTE_BAD_ARGUMENT, "session");
  REFUSED(pte_session_run(s.session, NULL, outputs, NULL, &error), PTE_BAD_ARGUMENT,
          "inputs or outputs: NULL");
  REFUSED(pte_session_run(s.session, inputs, NULL, NULL, &error), PTE_BAD_ARGUMENT,
          "inputs or outputs: NULL");
  REFUSED(pte_session_run(s.session, missing, outputs, NULL, &error), PTE_BAD_ARGUMENT,
          "input at: the buffer is NULL");
  REFUSED(pte_session_run(s.session, inputs, same, NULL, &error), PTE_BAD_ARGUMENT,
          "output y: overlaps input update");
  REFUSED(pte_session_run(s.session, inputs, outputs, &options, &error), PTE_BAD_ARGUMENT,
          "run options");
  options = (pte_run_options){.size = sizeof options, .deadline_ns = 1};
  REFUSED(pte_session_run(s.session, inputs, outputs, &options, &error), PTE_BAD_ARGUMENT,
          "a deadline needs `now`");
  REFUSED(pte_session_get_state(s.session, 1, x, sizeof x, &error), PTE_BAD_ARGUMENT,
          "state 1: the method has 1");
  REFUSED(pte_session_set_state(s.session, 0, x, 4, &error), PTE_BAD_ARGUMENT,
          "state cache: expected 256 bytes, got 4");
  REFUSED(pte_session_set_state(s.session, 0, NULL, 256, &error), PTE_BAD_ARGUMENT,
          "state cache: data is NULL");
  close_stage(&s);
}

static void a_size_is_an_element_that_there_is(void) {
  stage s = open_stage("counted", NULL, false);
  int64_t x[] = {2, 3}, none[] = {0}, one[] = {1}, k = 2;
  const int64_t *shapes[] = {x, none}, *values[] = {NULL, &k};
  pte_prepare_options options = shapes_of(shapes);
  options.values = values;
  REFUSED(pte_prepare_size(s.session, &options, &s.sizes, &error), PTE_BAD_ARGUMENT,
          "input shape: dimension k is its element 0, got 0 elements");
  shapes[1] = one;
  CHECK_EQUAL(pte_prepare_size(s.session, &options, &s.sizes, &s.error), PTE_OK);
  close_stage(&s);
}

static void outputs_do_not_overlap(void) {
  stage s = open_stage("moves", "main", false);
  float x[48] = {0}, y[256];
  int64_t index[3] = {0};
  const void *inputs[] = {x, index};
  void *outputs[] = {y, y, y + 100, y + 200};
  CHECK_EQUAL(prepare(&s, NULL), PTE_OK);
  REFUSED(pte_session_run(s.session, inputs, outputs, NULL, &error), PTE_BAD_ARGUMENT,
          "output where: overlaps output best");
  close_stage(&s);
}

/* --- bytes ----------------------------------------------------------------------------------- */

typedef struct change {
  size_t at; /* in the file */
  unsigned size;
  uint64_t value;
  const char *text;
} change;

#define ENTRY(i, offset) (64 + 64 * (i) + (offset))

/* The samples' segments: manifest, program, constants, debug. */
static const change CHANGES[] = {
    {0, 4, 1, "header.magic: not a Pteron program"},
    {8, 4, 99, "header.version: expected"},
    {12, 4, 1, "header.segments: expected 2 to"},
    {12, 4, 99, "header.segments: 99 entries do not fit"},
    {24, 8, 7, "header.schema: made for another version"},
    {ENTRY(0, 0), 4, 77, "segments[0].kind: 77 is not a kind"},
    {ENTRY(1, 0), 4, PTE_SEGMENT_MANIFEST, "segments: expected one MANIFEST, one PROGRAM"},
    {ENTRY(0, 4), 4, 2, "segments[0].flags: 2 has undefined bits"},
    {ENTRY(0, 4), 4, 1, "segments[0].flags: MANIFEST cannot be external"},
    {ENTRY(0, 8), 8, 64, "segments[0].offset: expected"},
    {ENTRY(1, 16), 8, 99, "segments[2].offset: expected"},
    {ENTRY(3, 16), 8, 64, "header.bytes:"},
    {ENTRY(3, 16), 8, 1u << 30, "segments[3].size: 1073741824 bytes"},
    {ENTRY(0, 56), 4, 0, "segments[0].external: expected"},
    {ENTRY(0, 60), 4, 1, "segments[0].zero: expected 0, got 1"},
};

static void of_header_and_table(void) {
  for (size_t k = 0; k < sizeof CHANGES / sizeof CHANGES[0]; k++) {
    stage s = open_stage("pointwise", "main", false);
    pte_program *program = NULL;
    size_t needed = 0;
    pte_error error = {0};
    memcpy(s.file.bytes + CHANGES[k].at, &CHANGES[k].value, CHANGES[k].size);
    sample_reseal(s.file.bytes, s.file.size);
    pte_status status = pte_program_size(s.file.bytes, s.file.size, &needed, &error);
    pte_memory room = {sample_memory(needed), needed};
    if (status == PTE_OK)
      status = pte_program_open(s.file.bytes, s.file.size, NULL, room, &program, &error);
    free(room.data);
    CHECK_EQUAL(status, PTE_BAD_PROGRAM);
    CHECK_TEXT(error.text, CHANGES[k].text);
    close_stage(&s);
  }
}

/* The place of a scalar of the manifest, the first segment. */
static uint8_t *of_manifest(uint8_t *file, unsigned field) {
  uint8_t *bytes = file + sample_word(file + ENTRY(0, 8), 8);
  uint8_t *table = bytes + sample_word(bytes, 4);
  const uint8_t *places = table - (int32_t)sample_word(table, 4);
  return table + sample_word(places + 4 + 2 * field, 2);
}

static void a_program_of_a_later_runtime(void) {
  stage s = open_stage("pointwise", "main", false);
  pte_program *program = NULL;
  uint32_t later = PTE_API_VERSION + 1;
  memcpy(of_manifest(s.file.bytes, PTE_MANIFEST_MINIMUM_RUNTIME), &later, sizeof later);
  sample_reseal(s.file.bytes, s.file.size);
  pte_memory room = {s.program_memory, 1 << 20}; /* it is as large as the first time */
  REFUSED(pte_program_open(s.file.bytes, s.file.size, NULL, room, &program, &error),
          PTE_UNSUPPORTED, "manifest.minimum_runtime: this is version");
  close_stage(&s);
}

int main(void) {
  of_a_program();
  of_a_session();
  of_a_run();
  a_size_is_an_element_that_there_is();
  outputs_do_not_overlap();
  of_header_and_table();
  a_program_of_a_later_runtime();
  return check_done();
}
