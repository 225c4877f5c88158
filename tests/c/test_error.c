/* Error texts without printf. */
// sources: core/error.c core/status.c
#include "core/error.h"

#include "check.h"

static void marks_print_their_arguments(void) {
  pte_error err;
  pte_status status = pte_fail(&err, PTE_LIMIT, "%u %d %lld %llu %s %%|", 4294967295u, -7,
                               INT64_MIN, UINT64_MAX, "ab");
  CHECK_EQUAL(status, PTE_LIMIT);
  CHECK_EQUAL(err.status, PTE_LIMIT);
  CHECK(strcmp(err.text, "4294967295 -7 -9223372036854775808 18446744073709551615 ab %|") == 0);
  CHECK_EQUAL(err.instr, PTE_NONE);
}

static void long_text_is_cut_and_terminated(void) {
  pte_error err;
  char text[400];
  memset(text, 'x', sizeof text);
  text[399] = 0;
  CHECK_EQUAL(pte_fail(&err, PTE_IO, "%s", text), PTE_IO);
  CHECK_EQUAL(strlen(err.text), sizeof err.text - 1);
}

static void strings_of_files_cannot_reach_the_terminal(void) {
  pte_error err;
  CHECK_EQUAL(pte_fail(&err, PTE_IO, "a\x1b%s", "\x1b[2J\n\xff"), PTE_IO);
  CHECK(strcmp(err.text + 2, "?[2J??") == 0);
  CHECK_EQUAL(pte_fail(&err, PTE_IO, "%s", (const char *)NULL), PTE_IO);
  CHECK(strcmp(err.text, "?") == 0);
}

static void a_plus_adds_to_the_text(void) {
  pte_error err;
  CHECK_EQUAL(pte_fail(&err, PTE_LIMIT, "a %u", 1u), PTE_LIMIT);
  CHECK_EQUAL(pte_fail(&err, PTE_OK, "+, b %u", 2u), PTE_OK);
  CHECK_EQUAL(err.status, PTE_LIMIT);
  CHECK(strcmp(err.text, "a 1, b 2") == 0);
}

/* The name of the node stands behind the text: all of it, its end, or nothing where there is no
 * room for a word. The text before it is never cut for it. */
static void a_node_is_named_where_there_is_room(void) {
  const char *name = "encoder.layer.0.attention.query";
  pte_error err;
  char text[200];
  memset(text, 'x', sizeof text);
  for (size_t length = 0; length < sizeof err.text; length++) {
    text[199] = 0;
    (void)pte_fail(&err, PTE_LIMIT, "%s", text + 199 - length);
    pte_error_at(&err, 4, 5, 6, name);
    CHECK_EQUAL(err.instr + err.op + err.node, 15);
    CHECK(memcmp(err.text, text, length) == 0);
    const char *behind = err.text + length;
    size_t room = sizeof err.text - 1 - length;
    if (room >= strlen(name) + 11)
      CHECK(strcmp(behind, " [node encoder.layer.0.attention.query]") == 0);
    else if (room >= 20)
      CHECK(memcmp(behind, " [node ...", 10) == 0 && strstr(behind, "query]") != NULL);
    CHECK(*behind == 0 || behind[strlen(behind) - 1] == ']');
  }
  (void)pte_fail(&err, PTE_LIMIT, "a");
  pte_error_at(&err, 4, 5, 6, "");
  CHECK(strcmp(err.text, "a") == 0);
}

static void an_absent_error_is_no_error(void) {
  CHECK_EQUAL(pte_fail(NULL, PTE_DEADLINE, "%u", 1u), PTE_DEADLINE);
  pte_error_at(NULL, 1, 2, 3, "n");
}

static void every_status_has_a_name(void) {
  for (int i = 0; i <= PTE_IO; i++)
    CHECK(strcmp(pte_status_name((pte_status)i), "unknown status") != 0);
  CHECK(strcmp(pte_status_name((pte_status)99), "unknown status") == 0);
  CHECK_EQUAL(pte_api_version(), PTE_API_VERSION);
}

int main(void) {
  marks_print_their_arguments();
  long_text_is_cut_and_terminated();
  strings_of_files_cannot_reach_the_terminal();
  a_plus_adds_to_the_text();
  a_node_is_named_where_there_is_room();
  an_absent_error_is_no_error();
  every_status_has_a_name();
  return check_done();
}
