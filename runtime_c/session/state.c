/* States: memory that outlives runs. Callers see them dense and row-major; so does the session. */
#include "session/state.h"

#include <string.h>

#include "core/error.h"
#include "session/ports.h"

static const pte_file_state *file_state(const pte_session *s, uint32_t value) {
  return &s->program->states[pte_session_file_value(s, value)->base];
}

static void reset_one(pte_session *s, uint32_t value) {
  uint32_t initial = file_state(s, value)->initial;
  void *data = s->tensors[value].data;
  uint64_t bytes = s->slots[value].room_bytes;
  if (bytes == 0) return;
  if (initial == PTE_NONE) memset(data, 0, (size_t)bytes);
  else memcpy(data, pte_program_constant(s->program, initial), (size_t)bytes);
}

void pte_states_reset(pte_session *s) {
  s->written = 0;
  for (uint32_t i = 0; i < s->state_count; i++) reset_one(s, s->state_values[i]);
}

static pte_status check_state(const pte_session *s, uint32_t index, pte_error *err) {
  if (s == NULL || !s->prepared) return pte_fail(err, PTE_BAD_ARGUMENT, "session: not prepared");
  if (index < s->state_count) return PTE_OK;
  return pte_fail(err, PTE_BAD_ARGUMENT, "state %u: the method has %u", index, s->state_count);
}

static pte_status check_buffer(const pte_session *s, uint32_t index, const void *data, size_t got,
                               pte_error *err) {
  PTE_TRY(check_state(s, index, err));
  uint32_t value = s->state_values[index];
  const char *name = pte_program_string(s->program, file_state(s, value)->name);
  if (got != s->slots[value].room_bytes)
    return pte_fail(err, PTE_BAD_ARGUMENT, "state %s: expected %llu bytes, got %llu", name,
                    s->slots[value].room_bytes, (uint64_t)got);
  if (data == NULL && got != 0)
    return pte_fail(err, PTE_BAD_ARGUMENT, "state %s: data is NULL", name);
  return PTE_OK;
}

pte_status pte_session_state(const pte_session *s, uint32_t index, pte_extents *out) {
  PTE_TRY(check_state(s, index, NULL));
  return pte_port_extents(s, s->state_values[index], out);
}

/* Between a state and a buffer: into `out`, or where that is NULL from `in`. */
static pte_status transfer(const pte_session *s, uint32_t index, void *out, const void *in,
                           size_t size_bytes, pte_error *err) {
  PTE_TRY(check_buffer(s, index, out != NULL ? out : in, size_bytes, err));
  void *state = s->tensors[s->state_values[index]].data;
  if (size_bytes != 0) memcpy(out != NULL ? out : state, out != NULL ? state : in, size_bytes);
  return PTE_OK;
}

pte_status pte_session_get_state(const pte_session *s, uint32_t index, void *data,
                                 size_t size_bytes, pte_error *err) {
  return transfer(s, index, data, NULL, size_bytes, err);
}

pte_status pte_session_set_state(pte_session *s, uint32_t index, const void *data,
                                 size_t size_bytes, pte_error *err) {
  return transfer(s, index, NULL, data, size_bytes, err);
}

pte_status pte_session_reset(pte_session *s, pte_error *err) {
  if (s == NULL) return pte_fail(err, PTE_BAD_ARGUMENT, "session: NULL");
  if (s->prepared) pte_states_reset(s);
  else s->state_valid = false; /* the next prepare gives initial values */
  return PTE_OK;
}
