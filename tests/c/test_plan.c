/* Offsets: the maximum of the ends below, rounded up; states one behind the other. */
// sources: library
#include "check.h"
#include "session/plan.h"

enum { VALUES = 6 };

typedef struct board {
  pte_program program;
  pte_file_value values[VALUES];
  pte_slot slots[VALUES];
  uint32_t refs[16];
  pte_session s;
} board;

static board b;

static pte_session *begin(void) {
  memset(&b, 0, sizeof b);
  b.program.values = b.values;
  b.program.tables.refs = b.refs;
  b.s.program = &b.program;
  b.s.slots = b.slots;
  return &b.s;
}

static void add(uint8_t storage, uint64_t bytes, uint32_t above_start, uint32_t above_count) {
  uint32_t v = b.s.value_count++;
  b.values[v].storage = storage;
  b.values[v].above = (pte_range){above_start, above_count};
  b.slots[v].room_bytes = bytes;
}

static pte_status plan(pte_session *s, pte_error *err) {
  for (uint32_t v = 0; v < s->value_count; v++) PTE_TRY(pte_plan_value(s, v, err));
  return PTE_OK;
}

static void a_value_lies_above_all_that_it_names(void) {
  pte_session *s = begin();
  b.refs[0] = 0, b.refs[1] = 1, b.refs[2] = 1, b.refs[3] = 0;
  add(PTE_STORAGE_PLANNED, 100, 0, 0); /* 0 .. 128 */
  add(PTE_STORAGE_PLANNED, 10, 0, 0);  /* 0 .. 64: may share with value 0 */
  add(PTE_STORAGE_PLANNED, 64, 0, 2);  /* 128 .. 192 */
  add(PTE_STORAGE_PLANNED, 1, 2, 1);   /* 64 .. 128 */
  add(PTE_STORAGE_PLANNED, 0, 3, 1);   /* nothing, at 128 */
  add(PTE_STORAGE_INPUT, 1000, 0, 0);  /* not ours */
  CHECK_EQUAL(plan(s, NULL), PTE_OK);
  const uint64_t expected[] = {0, 0, 128, 64, 128};
  for (int i = 0; i < 5; i++) CHECK_EQUAL(b.slots[i].offset_bytes, expected[i]);
  CHECK_EQUAL(s->sizes.planned_bytes, 192);
}

static void states_follow_each_other(void) {
  pte_session *s = begin();
  add(PTE_STORAGE_STATE, 1, 0, 0);
  add(PTE_STORAGE_STATE, 64, 0, 0);
  add(PTE_STORAGE_STATE, 65, 0, 0);
  CHECK_EQUAL(plan(s, NULL), PTE_OK);
  CHECK_EQUAL(b.slots[1].offset_bytes, 64);
  CHECK_EQUAL(b.slots[2].offset_bytes, 128);
  CHECK_EQUAL(s->sizes.state_bytes, 256);
  CHECK_EQUAL(s->sizes.planned_bytes, 0);
}

static void a_plan_beyond_63_bits_is_refused(void) {
  pte_session *s = begin();
  pte_error err;
  b.refs[0] = 0;
  add(PTE_STORAGE_PLANNED, INT64_MAX - 1000, 0, 0);
  add(PTE_STORAGE_PLANNED, 4096, 0, 1);
  CHECK_EQUAL(plan(s, &err), PTE_LIMIT);
  CHECK_TEXT(err.text, "value 1");
}

int main(void) {
  a_value_lies_above_all_that_it_names();
  states_follow_each_other();
  a_plan_beyond_63_bits_is_refused();
  return check_done();
}
