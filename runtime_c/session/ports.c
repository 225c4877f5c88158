#include "session/ports.h"

#include <string.h>

#include "core/sized.h"

static const char *name_of(const pte_session *s, pte_range ports, uint32_t index) {
  return pte_program_string(s->program, s->program->ports[ports.start + index].name);
}

const char *pte_session_input_name(const pte_session *s, uint32_t index) {
  return name_of(s, s->method->inputs, index);
}

const char *pte_session_output_name(const pte_session *s, uint32_t index) {
  return name_of(s, s->method->outputs, index);
}

pte_status pte_port_extents(const pte_session *s, uint32_t v, pte_extents *out) {
  const pte_tensor *t = &s->tensors[v];
  pte_extents e = {.dtype = t->dtype, .rank = t->rank, .size_bytes = s->slots[v].room_bytes};
  memcpy(e.shape, t->shape, sizeof e.shape);
  return pte_sized_write(out, &e, sizeof e);
}

static pte_status extents(const pte_session *s, pte_range ports, uint32_t index, pte_extents *out) {
  if (s == NULL || !s->prepared || index >= ports.count) return PTE_BAD_ARGUMENT;
  return pte_port_extents(s, s->program->ports[ports.start + index].value - s->first_value, out);
}

pte_status pte_session_input(const pte_session *s, uint32_t index, pte_extents *out) {
  return extents(s, s == NULL ? (pte_range){0, 0} : s->method->inputs, index, out);
}

pte_status pte_session_output(const pte_session *s, uint32_t index, pte_extents *out) {
  return extents(s, s == NULL ? (pte_range){0, 0} : s->method->outputs, index, out);
}
