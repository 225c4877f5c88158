/* A sample program on the stage: opened, with a session, and prepared. */
#ifndef STAGE_H
#define STAGE_H

#include "check.h"
#include "pteron/delegate.h"
#include "pteron/pteron.h"
#include "sample.h"

/* A program, a session of it, and their memory: exactly as large as asked for, so that the
 * sanitizer sees more. */
typedef struct stage {
  sample file;
  void *program_memory, *session_memory, *arena, *state;
  pte_program *program;
  pte_session *session;
  pte_sizes sizes;
  pte_error error;
} stage;

static inline sample read_sample(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "build/samples/%s.pte", name);
  return sample_read(path);
}

static inline stage open_stage(const char *name, const char *method, bool delegates) {
  static const pte_delegate_api *permitted[1]; /* outlives the programs */
  permitted[0] = pte_delegate_null();
  stage s = {.file = read_sample(name), .sizes = {.size = sizeof s.sizes}};
  size_t bytes = 0;
  uint32_t index = 0;
  pte_open_options options = {
      .size = sizeof options, .delegate_count = delegates ? 1 : 0, .delegates = permitted};
  CHECK_EQUAL(pte_program_size(s.file.bytes, s.file.size, &bytes, &s.error), PTE_OK);
  s.program_memory = sample_memory(bytes);
  CHECK_EQUAL(pte_program_open(s.file.bytes, s.file.size, &options,
                               (pte_memory){s.program_memory, bytes}, &s.program, &s.error),
              PTE_OK);
  CHECK_EQUAL(pte_program_find_method(s.program, method, &index, &s.error), PTE_OK);
  CHECK_EQUAL(pte_session_size(s.program, index, &bytes, &s.error), PTE_OK);
  s.session_memory = sample_memory(bytes);
  CHECK_EQUAL(pte_session_open(s.program, index, (pte_memory){s.session_memory, bytes}, &s.session,
                               &s.error),
              PTE_OK);
  return s;
}

static inline void close_stage(stage *s) {
  pte_session_close(s->session);
  free(s->arena);
  free(s->state);
  free(s->session_memory);
  free(s->program_memory);
  free(s->file.bytes);
}

static inline pte_prepare_options shapes_of(const int64_t *const *shapes) {
  return (pte_prepare_options){.size = sizeof(pte_prepare_options), .shapes = shapes};
}

/* Prepares with fresh arena memory; the state block stays while its size does. */
static inline pte_status prepare(stage *s, const pte_prepare_options *options) {
  uint64_t before = s->sizes.state_bytes;
  pte_status status = pte_prepare_size(s->session, options, &s->sizes, &s->error);
  if (status != PTE_OK) return status;
  free(s->arena);
  s->arena = sample_memory((size_t)s->sizes.arena_bytes);
  if (s->state == NULL || before != s->sizes.state_bytes) {
    free(s->state);
    s->state = sample_memory((size_t)s->sizes.state_bytes);
  }
  return pte_session_prepare(
      s->session, options, (pte_memory){s->arena, (size_t)s->sizes.arena_bytes},
      (pte_memory){s->state, (size_t)s->sizes.state_bytes}, PTE_STATE_KEEP, &s->error);
}

#endif
