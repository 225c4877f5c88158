/* Saved sessions: forked and gone back, they give the bytes of one that went on; damaged ones are
 * refused, and the session is as it was. */
// sources: library
// samples: yes
#include <stdbool.h>

#include "stage.h"

enum { ROWS = 8, CACHE = 2 * ROWS * 4, HEAD = 104, POSITION = 48, BYTES = 64 };

/* What a session says of itself. */
typedef struct told {
  float y[CACHE];
} told;

static stage new_session(void) {
  stage s = open_stage("context", NULL, false);
  pte_prepare_options options = shapes_of(NULL);
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  return s;
}

/* One token whose row is of `number`. */
static told run(stage *s, int number) {
  float update[2 * 4];
  told out;
  for (int i = 0; i < 8; i++) update[i] = (float)(number * 8 + i);
  const void *inputs[] = {update};
  void *outputs[] = {out.y};
  CHECK_EQUAL(pte_session_run(s->session, inputs, outputs, NULL, &s->error), PTE_OK);
  return out;
}

static int64_t position(stage *s) {
  int64_t at = -1, room = -1;
  CHECK_EQUAL(pte_session_position(s->session, &at, &room, &s->error), PTE_OK);
  CHECK_EQUAL(room, ROWS);
  return at;
}

static sample save(stage *s) {
  uint64_t bytes = 0;
  CHECK_EQUAL(pte_session_save_size(s->session, &bytes, &s->error), PTE_OK);
  sample out = {sample_memory((size_t)bytes), (size_t)bytes};
  CHECK_EQUAL(pte_session_save(s->session, out.bytes, out.size, &s->error), PTE_OK);
  return out;
}

static pte_status restore(stage *s, const void *bytes, size_t size) {
  return pte_session_restore(s->session, bytes, size, &s->error);
}

/* Makes the digest right again, as one who means harm would. */
static void reseal(uint8_t *bytes, size_t size) {
  pte_blake2s hash;
  pte_blake2s_begin(&hash, 32);
  pte_blake2s_add(&hash, bytes, 72);
  pte_blake2s_add(&hash, bytes + HEAD, size - HEAD);
  pte_blake2s_end(&hash, bytes + 72);
}

static void a_fork_goes_on_as_its_original_does(void) {
  stage one = new_session(), two = new_session();
  for (int i = 0; i < 3; i++) run(&one, i);
  sample saved = save(&one);
  CHECK_EQUAL(saved.size, HEAD + 8 + 3 * 2 * 4 * sizeof(float));
  run(&two, 77);
  CHECK_EQUAL(restore(&two, saved.bytes, saved.size), PTE_OK);
  CHECK_EQUAL(position(&two), 3);
  told a = run(&one, 9), b = run(&two, 9);
  for (int h = 0; h < 2; h++) CHECK(memcmp(a.y + h * ROWS * 4, b.y + h * ROWS * 4, 4 * 16) == 0);
  free(saved.bytes);
  close_stage(&one);
  close_stage(&two);
}

static void gone_back_it_writes_over_what_was_there(void) {
  stage one = new_session(), two = new_session();
  for (int i = 0; i < 5; i++) run(&one, i);
  CHECK_EQUAL(pte_session_rewind(one.session, 2, &one.error), PTE_OK);
  for (int i = 0; i < 2; i++) run(&two, i);
  for (int i = 7; i < 10; i++) run(&one, i), run(&two, i);
  sample a = save(&one), b = save(&two);
  CHECK(a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
  free(a.bytes);
  free(b.bytes);
  close_stage(&one);
  close_stage(&two);
}

static void back_is_no_further_than_it_came(void) {
  stage s = new_session();
  for (int i = 0; i < 5; i++) run(&s, i);
  const int64_t wrong[] = {-1, 6, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 4; i++) {
    CHECK_EQUAL(pte_session_rewind(s.session, wrong[i], &s.error), PTE_BAD_ARGUMENT);
    CHECK_EQUAL(position(&s), 5);
  }
  CHECK_EQUAL(pte_session_rewind(s.session, 5, &s.error), PTE_OK);
  CHECK_EQUAL(pte_session_rewind(s.session, 0, &s.error), PTE_OK);
  sample saved = save(&s);
  CHECK_EQUAL(saved.size, HEAD + 8);
  CHECK_EQUAL(restore(&s, saved.bytes, saved.size), PTE_OK);
  free(saved.bytes);
  close_stage(&s);
}

static void a_full_context_is_saved_and_restored(void) {
  stage one = new_session(), two = new_session();
  for (int i = 0; i < ROWS; i++) run(&one, i);
  sample saved = save(&one);
  CHECK_EQUAL(restore(&two, saved.bytes, saved.size), PTE_OK);
  CHECK_EQUAL(position(&two), ROWS);
  sample again = save(&two);
  CHECK(again.size == saved.size && memcmp(again.bytes, saved.bytes, saved.size) == 0);
  free(again.bytes);
  free(saved.bytes);
  close_stage(&one);
  close_stage(&two);
}

/* Every byte bent, and every prefix, each in memory of its own so that the sanitizer sees more. */
static void damaged_bytes_are_refused_and_change_nothing(void) {
  stage s = new_session();
  for (int i = 0; i < 3; i++) run(&s, i);
  sample saved = save(&s);
  for (size_t i = 0; i < saved.size; i++) {
    uint8_t before = saved.bytes[i];
    saved.bytes[i] ^= (uint8_t)(1u << i % 8);
    CHECK_EQUAL(restore(&s, saved.bytes, saved.size), PTE_BAD_DATA);
    saved.bytes[i] = before;
  }
  for (size_t size = 0; size < saved.size; size++) {
    uint8_t *cut = sample_memory(size);
    memcpy(cut, saved.bytes, size);
    CHECK_EQUAL(restore(&s, cut, size), PTE_BAD_DATA);
    free(cut);
  }
  CHECK_EQUAL(restore(&s, NULL, saved.size), PTE_BAD_DATA);
  sample after = save(&s);
  CHECK(after.size == saved.size && memcmp(after.bytes, saved.bytes, after.size) == 0);
  free(after.bytes);
  free(saved.bytes);
  close_stage(&s);
}

static void numbers_of_one_who_means_harm_are_refused(void) {
  const uint64_t wrong[] = {4, 7, 8, 9, 1u << 31, 1ull << 32, 1ull << 61, INT64_MAX, UINT64_MAX};
  stage s = new_session();
  for (int i = 0; i < 3; i++) run(&s, i);
  sample saved = save(&s);
  for (int field = POSITION; field <= BYTES; field += 8)
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      uint8_t *bent = sample_memory(saved.size);
      memcpy(bent, saved.bytes, saved.size);
      memcpy(bent + field, &wrong[i], 8);
      reseal(bent, saved.size);
      CHECK_EQUAL(restore(&s, bent, saved.size), PTE_BAD_DATA);
      CHECK_EQUAL(position(&s), 3);
      free(bent);
    }
  free(saved.bytes);
  close_stage(&s);
}

/* The position of a state is data: whatever it says, nothing beyond the cache is read or written.
 */
static void a_position_in_the_state_may_be_anything(void) {
  const int64_t wrong[] = {-1, 8, 9, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    stage s = new_session();
    sample saved = save(&s);
    memcpy(saved.bytes + HEAD, &wrong[i], 8); /* the state itself, beside what the head says */
    reseal(saved.bytes, saved.size);
    CHECK_EQUAL(restore(&s, saved.bytes, saved.size), PTE_OK);
    CHECK_EQUAL(position(&s), 0);
    CHECK_EQUAL(pte_session_set_state(s.session, 1, &wrong[i], 8, &s.error), PTE_OK);
    CHECK_EQUAL(position(&s), wrong[i] < 0 ? 0 : ROWS);
    sample again = save(&s);
    free(again.bytes);
    free(saved.bytes);
    float update[8] = {0};
    told out;
    const void *inputs[] = {update};
    void *outputs[] = {out.y};
    CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_BAD_DATA);
    close_stage(&s);
  }
}

static void room_that_is_wrong_is_said(void) {
  stage s = new_session();
  sample saved = save(&s);
  CHECK_EQUAL(pte_session_save(s.session, saved.bytes, saved.size - 1, &s.error), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_session_save(s.session, NULL, saved.size, &s.error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "expected room for 112 bytes");
  free(saved.bytes);
  close_stage(&s);
  stage fresh = open_stage("context", NULL, false);
  uint64_t bytes;
  CHECK_EQUAL(pte_session_save_size(fresh.session, &bytes, &fresh.error), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(restore(&fresh, "", 0), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_session_rewind(fresh.session, 0, &fresh.error), PTE_BAD_ARGUMENT);
  close_stage(&fresh);
}

static void a_program_without_context_says_so(void) {
  stage s = open_stage("state", "peek", false);
  const int64_t shape[] = {1}, *const shapes[] = {shape};
  pte_prepare_options options = shapes_of(shapes);
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  CHECK_EQUAL(pte_session_rewind(s.session, 0, &s.error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "keeps no context");
  sample saved = save(&s);
  CHECK_EQUAL(restore(&s, saved.bytes, saved.size), PTE_OK);
  stage other = new_session();
  CHECK_EQUAL(restore(&other, saved.bytes, saved.size), PTE_BAD_DATA);
  CHECK_TEXT(other.error.text, "of another program");
  free(saved.bytes);
  close_stage(&other);
  close_stage(&s);
}

/* What a session saves, another takes, and says the same of itself. */
static void saves_what_restores(stage *s, const char *program) {
  stage other = open_stage(program, NULL, false);
  pte_prepare_options options = shapes_of(NULL);
  CHECK_EQUAL(prepare(&other, &options), PTE_OK);
  sample saved = save(s);
  CHECK_EQUAL(restore(&other, saved.bytes, saved.size), PTE_OK);
  sample again = save(&other);
  CHECK(again.size == saved.size && memcmp(again.bytes, saved.bytes, saved.size) == 0);
  free(again.bytes);
  free(saved.bytes);
  close_stage(&other);
}

static void a_position_that_the_caller_sets_is_saved_and_restored(void) {
  stage s = new_session();
  for (int i = 0; i < 6; i++) run(&s, i);
  sample saved = save(&s);
  CHECK_EQUAL(restore(&s, saved.bytes, saved.size), PTE_OK);
  for (int64_t at = 0; at <= ROWS + 1; at++) {
    CHECK_EQUAL(pte_session_set_state(s.session, 1, &at, 8, &s.error), PTE_OK);
    saves_what_restores(&s, "context");
  }
  free(saved.bytes);
  close_stage(&s);
}

/* A ring of 8 rows of which a run reads 3: wherever it went back from and to, or was set to. */
static void a_ring_is_saved_and_restored_from_anywhere(void) {
  float update[8] = {1}, rows[64];
  uint8_t lines[384];
  int64_t past = 0;
  const void *inputs[] = {update};
  void *outputs[] = {rows, lines, &past};
  stage s = open_stage("ring", NULL, false);
  pte_prepare_options options = shapes_of(NULL);
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  for (int i = 0; i < 40; i++) {
    CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_OK);
    CHECK_EQUAL(past, i);
    saves_what_restores(&s, "ring");
  }
  CHECK_EQUAL(pte_session_rewind(s.session, 34, &s.error), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_session_rewind(s.session, 37, &s.error), PTE_OK);
  saves_what_restores(&s, "ring");
  sample saved = save(&s);
  const int64_t set[] = {0, 1, 8, 34, 35, 36, 37, 38, 39, 40, 41, INT64_MAX, INT64_MIN, -1};
  for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
    CHECK_EQUAL(restore(&s, saved.bytes, saved.size), PTE_OK);
    CHECK_EQUAL(pte_session_set_state(s.session, 2, &set[i], 8, &s.error), PTE_OK);
    saves_what_restores(&s, "ring");
  }
  free(saved.bytes);
  close_stage(&s);
}

static void a_program_without_context_takes_no_position(void) {
  stage s = open_stage("state", "peek", false);
  const int64_t shape[] = {1}, *const shapes[] = {shape};
  const uint64_t forged[] = {1, 1};
  pte_prepare_options options = shapes_of(shapes);
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  sample saved = save(&s);
  memcpy(saved.bytes + POSITION, forged, sizeof forged);
  reseal(saved.bytes, saved.size);
  CHECK_EQUAL(restore(&s, saved.bytes, saved.size), PTE_BAD_DATA);
  CHECK_TEXT(s.error.text, "held 1 tokens");
  free(saved.bytes);
  close_stage(&s);
}

int main(void) {
  a_position_that_the_caller_sets_is_saved_and_restored();
  a_ring_is_saved_and_restored_from_anywhere();
  a_program_without_context_takes_no_position();
  a_fork_goes_on_as_its_original_does();
  gone_back_it_writes_over_what_was_there();
  back_is_no_further_than_it_came();
  a_full_context_is_saved_and_restored();
  damaged_bytes_are_refused_and_change_nothing();
  numbers_of_one_who_means_harm_are_refused();
  a_position_in_the_state_may_be_anything();
  room_that_is_wrong_is_said();
  a_program_without_context_says_so();
  return check_done();
}
