#include "session/plan.h"

#include "core/size.h"
#include "session/values.h"

/* The end of value `v`, rounded up so that what lies above it is aligned. */
static bool end_of(const pte_session *s, uint32_t v, uint64_t *out) {
  uint64_t bytes;
  return pte_align(s->slots[v].room_bytes, PTE_ARENA_ALIGN, &bytes) &&
         pte_add(s->slots[v].offset_bytes, bytes, out) && *out <= INT64_MAX;
}

static bool place_planned(pte_session *s, uint32_t v, const pte_file_value *file) {
  uint64_t offset = 0, end = 0;
  for (uint32_t i = 0; i < file->above.count; i++) {
    uint32_t below = s->program->tables.refs[file->above.start + i] - s->first_value;
    (void)end_of(s, below, &end); /* its index is lower: it fitted when it was placed */
    if (end > offset) offset = end;
  }
  s->slots[v].offset_bytes = offset;
  if (!end_of(s, v, &end)) return false;
  if (end > s->sizes.planned_bytes) s->sizes.planned_bytes = end;
  return true;
}

static bool place_state(pte_session *s, uint32_t v) {
  s->slots[v].offset_bytes = s->sizes.state_bytes;
  return end_of(s, v, &s->sizes.state_bytes);
}

pte_status pte_plan_value(pte_session *s, uint32_t v, pte_error *err) {
  const pte_file_value *file = pte_session_file_value(s, v);
  bool fits = true;
  if (file->storage == PTE_STORAGE_PLANNED) fits = place_planned(s, v, file);
  else if (file->storage == PTE_STORAGE_STATE) fits = place_state(s, v);
  if (fits) return PTE_OK;
  return pte_value_misfit(s, v, PTE_LIMIT, "the plan does not fit in 63 bits", err);
}
