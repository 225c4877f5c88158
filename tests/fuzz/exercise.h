/* Opens, prepares and runs whatever bytes it gets, within small caps: what hostile.c and the
 * fuzzers call. The file and the inputs lie in pages that nobody may write (fence.h). */
#ifndef PTE_TEST_EXERCISE_H
#define PTE_TEST_EXERCISE_H

#include <stdbool.h>

#include "pteron/pteron.h"
#include "pteron/types.h"

/* How far the bytes got. */
typedef enum exercise_stage {
  STAGE_REFUSED = 0, /* by open */
  STAGE_OPENED = 1,  /* refused by prepare */
  STAGE_PREPARED = 2,
  STAGE_RAN = 3 /* at least one run succeeded */
} exercise_stage;

typedef struct exercise_result {
  exercise_stage stage;
  uint64_t largest_bytes; /* the largest piece of memory that the library asked for */
  char broken[200];       /* a promise that did not hold, or "" */
  char text[144];         /* the first refusal */
} exercise_result;

/* The most that a library may ask for: what the cap says, and tables in proportion to the file. */
#define EXERCISE_CAP_BYTES  (8u << 20)
#define EXERCISE_CAP_TABLES 1024u

/* States that are saved and restored ten times, which hashes them as often, are small. */
#define EXERCISE_STATE_BYTES (64u << 10)

/* A run has this long, and may take this much longer: what is done between two looks at the clock,
 * which sanitizers make some twenty times as long. */
#define EXERCISE_DEADLINE_MS 50u
#define EXERCISE_SLACK_MS    200u

/* `run` 0: opens only; 2: runs by a pool and on portable kernels, too, and over a file that
 * changes. */
void exercise(const uint8_t *bytes, size_t size, int run, exercise_result *out);

#endif
