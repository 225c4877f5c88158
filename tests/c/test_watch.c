/* core/watch.h: how often a run asks whether it is to end, and what it is told. */
// sources: core/watch.c
#include "core/watch.h"

#include <stdint.h>

#include "check.h"

static uint64_t now, asked;

static uint64_t clock_of_the_test(void *self) {
  (void)self;
  asked++;
  return now;
}

static pte_run_options until(uint64_t deadline, const volatile int *cancel) {
  asked = 0;
  return (pte_run_options){.size = sizeof(pte_run_options),
                           .deadline_ns = deadline,
                           .now = clock_of_the_test,
                           .cancel = cancel};
}

static void a_look_finds_who_ends_the_run_and_stays_with_it(void) {
  volatile int cancel = 0;
  pte_run_options options = until(100, &cancel);
  pte_watch watch = {.until = &options, .chunk = 10};
  now = 99;
  CHECK(!pte_watch_look(&watch));
  CHECK_EQUAL(watch.ended, PTE_OK);
  now = 100;
  CHECK(pte_watch_look(&watch));
  CHECK_EQUAL(watch.ended, PTE_DEADLINE);
  cancel = 1, now = 0;
  CHECK(pte_watch_look(&watch));
  CHECK_EQUAL(watch.ended, PTE_DEADLINE);
  now = 1000;
  atomic_store(&watch.ended, PTE_OK);
  CHECK(pte_watch_look(&watch));
  CHECK_EQUAL(watch.ended, PTE_CANCELLED); /* the first that is asked */
}

static void who_is_not_there_is_not_asked(void) {
  volatile int cancel = 0;
  pte_run_options options = until(0, &cancel);
  pte_watch watch = {.until = &options, .chunk = 10};
  CHECK(!pte_watch_look(&watch));
  CHECK_EQUAL(asked, 0);
  options = until(1, NULL), now = 0;
  CHECK(!pte_watch_look(&watch));
  CHECK_EQUAL(asked, 1);
}

/* Takes all of `n` items; returns how many at once at most. */
static int64_t take_all(pte_pace *pace, int64_t n, int64_t cost, int64_t unit) {
  int64_t most = 0;
  for (int64_t at = 0, count; at < n; at += count) {
    count = pte_pace_take(pace, n - at, cost, unit);
    CHECK(count > 0 && count <= n - at && (count % unit == 0 || count == n - at));
    if (count <= 0) return -1;
    if (count > most) most = count;
  }
  return most;
}

static void a_thread_looks_once_in_a_chunk(void) {
  pte_run_options options = until(100, NULL);
  pte_watch watch = {.until = &options, .chunk = 64};
  static const struct {
    int64_t n, cost, unit, most, least_looks, most_looks;
  } rows[] = {
      {1000, 1,             1,  64, 14, 16},
      {1000, 2,             1,  32, 29, 32},
      {1000, 1,             16, 64, 14, 16},
      {1000, 5,             4,  12, 60, 64},
      {100,  1,             80, 80, 1,  2 }, /* what has a unit stays whole */
      {10,   100,           1,  1,  9,  10},
      {4,    INT64_MAX / 2, 1,  1,  3,  4 },
  };
  now = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    pte_pace pace = pte_pace_of(&watch);
    asked = 0;
    CHECK_EQUAL(take_all(&pace, rows[i].n, rows[i].cost, rows[i].unit), rows[i].most);
    CHECK((int64_t)asked >= rows[i].least_looks && (int64_t)asked <= rows[i].most_looks);
  }
}

static void a_late_run_takes_nothing_more(void) {
  pte_run_options options = until(100, NULL);
  pte_watch watch = {.until = &options, .chunk = 64};
  pte_pace pace = pte_pace_of(&watch);
  now = 100;
  CHECK_EQUAL(pte_pace_take(&pace, 1000, 1, 1), 64); /* what it had before it looks */
  CHECK_EQUAL(pte_pace_take(&pace, 1000, 1, 1), 0);
  CHECK_EQUAL(pte_pace_take(&pace, 1000, 1, 1), 0);
  CHECK(!pte_pace_go(&pace, 1));
  pte_pace another = pte_pace_of(&watch);
  CHECK(pte_pace_go(&another, 64) && !pte_pace_go(&another, 1));
}

static void what_nobody_ends_goes_at_once(void) {
  pte_pace pace = pte_pace_of(NULL);
  CHECK_EQUAL(pace.left, 0);
  CHECK_EQUAL(pte_pace_take(&pace, INT64_MAX, INT64_MAX, 1), INT64_MAX);
  CHECK(pte_pace_go(&pace, INT64_MAX));
}

int main(void) {
  a_look_finds_who_ends_the_run_and_stays_with_it();
  who_is_not_there_is_not_asked();
  a_thread_looks_once_in_a_chunk();
  a_late_run_takes_nothing_more();
  what_nobody_ends_goes_at_once();
  return check_done();
}
