/* What both fuzzers share: one input, and the mutators, of structure and of words, which reseal. */
#ifndef PTE_TEST_TARGET_H
#define PTE_TEST_TARGET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "gen/layout.h"
#include "mutate.h"
#include "sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static inline int fuzz_one(const uint8_t *data, size_t size, int run) {
  exercise_result result;
  exercise(data, size, run, &result);
  if (result.broken[0] != 0) {
    fprintf(stderr, "broken promise: %s: %s\n", result.broken, result.text);
    abort();
  }
  return 0;
}

/* A word of the file gets a small or telling number, which random bytes rarely hit. */
static inline void change_word(uint8_t *data, size_t size, unsigned seed) {
  static const uint32_t telling[] = {0,  1,  2,   3,          7,          8,         16,
                                     63, 64, 255, 0x7fffffff, 0xfffffffe, 0xffffffff};
  if (size < 4) return;
  uint32_t old, value;
  size_t at = (seed >> 8) % (size / 4) * 4;
  memcpy(&old, data + at, 4);
  switch (seed & 3) {
  case 0: value = telling[(seed >> 3) % (sizeof telling / sizeof telling[0])]; break;
  case 1: value = old + 1; break;
  case 2: value = old - 1; break;
  default: value = (seed >> 3) % 40; break;
  }
  memcpy(data + at, &value, 4);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
  if (seed % 8 > 5 || !mutate_program(data, size, seed / 8)) {
    if (seed % 4 == 0) size = LLVMFuzzerMutate(data, size, max_size);
    for (unsigned k = 0; k < 1 + seed % 3; k++)
      change_word(data, size, seed * 2654435761u + k * 40503u);
  }
  if (size >= 64 && seed % 16 != 1) {
    uint64_t bytes = size,
             hash = PTE_SCHEMA_HASH; /* inputs kept from an older schema stay useful */
    memcpy(data + 16, &bytes, 8);
    memcpy(data + 24, &hash, 8);
    sample_reseal(data, size);
  }
  return size;
}

#endif
