/* Runs many programs, each in a child process that lives until one of them kills it, and counts
 * what became of them. */
#ifndef PTE_TEST_EACH_H
#define PTE_TEST_EACH_H

#include <stdint.h>
#include <stdio.h>

#include "exercise.h"

/* Makes program `i` of `context` and exercises it. */
typedef void (*each_run)(void *context, uint64_t i, exercise_result *result);

/* Prints totals as a line of JSON; what crashes, hangs (10 s) or breaks a promise is named on
 * stderr by its number. `lines`, unless NULL, gets a line for each: the stage, 4 for a crash, 5 for
 * a hang, and the first refusal. Returns the exit status: 0 where nothing went wrong. */
int each_program(uint64_t count, each_run run, void *context, FILE *lines);

#endif
