/* Structs that start with their size, between callers and a library of different ages. */
// sources: core/sized.c core/error.c
#include "core/sized.h"

#include "check.h"

/* What this library knows, what an older caller knew, and what a newer one knows. */
typedef struct today {
  uint32_t size, a;
  uint64_t b;
} today;
typedef struct older {
  uint32_t size, a;
} older;
typedef struct newer {
  uint32_t size, a;
  uint64_t b, c;
} newer;

static void a_shorter_struct_is_extended_by_zeros(void) {
  pte_error err;
  older given = {sizeof given, 7};
  today out = {1, 1, 1};
  CHECK_EQUAL(pte_sized_read(&given, &out, sizeof out, "options", &err), PTE_OK);
  CHECK_EQUAL(out.a, 7);
  CHECK_EQUAL(out.b, 0);
  out = (today){1, 1, 1};
  CHECK_EQUAL(pte_sized_read(NULL, &out, sizeof out, "options", &err), PTE_OK);
  CHECK(out.size == 0 && out.a == 0 && out.b == 0);
}

static void a_longer_struct_may_say_nothing_that_is_not_known(void) {
  pte_error err;
  newer given = {sizeof given, 7, 8, 0};
  today out;
  CHECK_EQUAL(pte_sized_read(&given, &out, sizeof out, "options", &err), PTE_OK);
  CHECK(out.a == 7 && out.b == 8);
  given.c = 1ull << 56;
  CHECK_EQUAL(pte_sized_read(&given, &out, sizeof out, "options", &err), PTE_UNSUPPORTED);
  CHECK(strcmp(err.text, "options: byte 23 is set, this library knows 16") == 0);
}

static void a_size_that_no_struct_has_is_refused(void) {
  static const uint32_t wrong[] = {0, 1, 4, 12 + 1, 4104, 0x7fffffff, 0xffffffff};
  pte_error err;
  today given = {0, 7, 8}, out;
  for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    given.size = wrong[i];
    CHECK_EQUAL(pte_sized_read(&given, &out, sizeof out, "options", &err), PTE_BAD_ARGUMENT);
    CHECK(strcmp(err.text, "options: `size` is not set to the size of the struct") == 0);
    CHECK_EQUAL(pte_sized_write(&given, &out, sizeof out), PTE_BAD_ARGUMENT);
    CHECK(given.a == 7 && given.b == 8);
  }
}

static void only_what_a_caller_has_room_for_is_given(void) {
  const today from = {0, 7, 8};
  struct {
    older out;
    uint32_t behind;
  } small = {
      {sizeof small.out, 0},
      99
  };
  CHECK_EQUAL(pte_sized_write(&small.out, &from, sizeof from), PTE_OK);
  CHECK(small.out.size == sizeof small.out && small.out.a == 7 && small.behind == 99);
  newer large = {sizeof large, 1, 1, 1};
  CHECK_EQUAL(pte_sized_write(&large, &from, sizeof from), PTE_OK);
  CHECK(large.size == sizeof large && large.a == 7 && large.b == 8 && large.c == 0);
  CHECK_EQUAL(pte_sized_write(NULL, &from, sizeof from), PTE_BAD_ARGUMENT);
}

int main(void) {
  a_shorter_struct_is_extended_by_zeros();
  a_longer_struct_may_say_nothing_that_is_not_known();
  a_size_that_no_struct_has_is_refused();
  only_what_a_caller_has_room_for_is_given();
  return check_done();
}
