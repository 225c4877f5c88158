/* The arena over the caller's memory. */
// sources: core/arena.c
#include "core/arena.h"

#include "check.h"

static _Alignas(64) unsigned char room[256];

static void takes_follow_each_other_at_their_alignment(void) {
  pte_arena arena = pte_arena_open((pte_memory){room, sizeof room});
  void *a = NULL, *b = NULL;
  CHECK_EQUAL(pte_arena_take(&arena, 1, 3, 1, &a), PTE_OK);
  CHECK_EQUAL(pte_arena_take(&arena, 2, 8, 64, &b), PTE_OK);
  CHECK(a == room);
  CHECK(b == room + 64);
  CHECK_EQUAL(arena.used, 80);
}

static void take_fails_whole_and_leaves_arena_unchanged(void) {
  pte_arena arena = pte_arena_open((pte_memory){room, 100});
  void *a = NULL, *b = room + 1;
  CHECK_EQUAL(pte_arena_take(&arena, 1, 90, 1, &a), PTE_OK);
  CHECK_EQUAL(pte_arena_take(&arena, 1, 11, 1, &b), PTE_NO_MEMORY);
  CHECK_EQUAL(pte_arena_take(&arena, 1, 1, 64, &b), PTE_NO_MEMORY);
  CHECK(b == room + 1);
  CHECK_EQUAL(arena.used, 90);
  CHECK_EQUAL(pte_arena_take(&arena, 10, 1, 1, &b), PTE_OK);
}

static void a_product_that_does_not_fit_is_no_memory(void) {
  pte_arena arena = pte_arena_measure();
  void *a = NULL;
  CHECK_EQUAL(pte_arena_take(&arena, UINT64_MAX / 2, 4, 1, &a), PTE_NO_MEMORY);
  CHECK_EQUAL(pte_arena_take(&arena, UINT64_MAX, 1, 1, &a), PTE_OK);
  CHECK_EQUAL(pte_arena_take(&arena, 1, 1, 1, &a), PTE_NO_MEMORY);
}

static void measuring_counts_what_taking_takes(void) {
  pte_arena measure = pte_arena_measure(), arena = pte_arena_open((pte_memory){room, sizeof room});
  const uint64_t sizes[] = {1, 7, 64, 0, 33};
  for (unsigned i = 0; i < 5; i++) {
    void *a = room, *b = NULL;
    CHECK_EQUAL(pte_arena_take(&measure, 1, sizes[i], 16, &a), PTE_OK);
    CHECK_EQUAL(pte_arena_take(&arena, 1, sizes[i], 16, &b), PTE_OK);
    CHECK(a == NULL);
  }
  CHECK_EQUAL(measure.used, arena.used);
}

static void an_arena_over_nothing_has_nothing(void) {
  pte_arena arena = pte_arena_open((pte_memory){NULL, 100});
  void *a = NULL;
  CHECK_EQUAL(pte_arena_take(&arena, 1, 1, 1, &a), PTE_NO_MEMORY);
}

int main(void) {
  takes_follow_each_other_at_their_alignment();
  take_fails_whole_and_leaves_arena_unchanged();
  a_product_that_does_not_fit_is_no_memory();
  measuring_counts_what_taking_takes();
  an_arena_over_nothing_has_nothing();
  return check_done();
}
