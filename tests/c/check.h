/* Checks for the C tests: one program per file, one function per fact, its name a sentence.
 *
 * Lines `// sources:` of a test say which files, or folders, of runtime_c/ it links; tests/c/run.sh
 * builds and runs it under the address and undefined-behaviour sanitizers. */
#ifndef PTE_TEST_CHECK_H
#define PTE_TEST_CHECK_H

#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#include "win32.h"
#endif

static int failures;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      failures++;                                                                                  \
      printf("%s:%d: %s: expected %s\n", __FILE__, __LINE__, __func__, #condition);                \
    }                                                                                              \
  } while (0)

#define CHECK_EQUAL(got, expected)                                                                 \
  do {                                                                                             \
    long long check_got = (long long)(got), check_expected = (long long)(expected);                \
    if (check_got != check_expected) {                                                             \
      failures++;                                                                                  \
      printf("%s:%d: %s: %s: expected %lld, got %lld\n", __FILE__, __LINE__, __func__, #got,       \
             check_expected, check_got);                                                           \
    }                                                                                              \
  } while (0)

#define CHECK_TEXT(got, part)                                                                      \
  do {                                                                                             \
    if (strstr((got), (part)) == NULL) {                                                           \
      failures++;                                                                                  \
      printf("%s:%d: %s: expected '%s' in '%s'\n", __FILE__, __LINE__, __func__, (part), (got));   \
    }                                                                                              \
  } while (0)

/* What main returns. */
static inline int check_done(void) { return failures == 0 ? 0 : 1; }

#endif
