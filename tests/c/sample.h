/* Sample programs for C tests: reading them, corrupting them, making their digests right again. */
#ifndef PTE_TEST_SAMPLE_H
#define PTE_TEST_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include "win32.h"
#endif
#include "program/blake2s.h"

/* 64-byte aligned and exactly `size` bytes, so that the sanitizer sees a read behind the end. The
 * caller frees. */
typedef struct sample {
  uint8_t *bytes;
  size_t size;
} sample;

static inline void *sample_memory(size_t size) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, size == 0 ? 1 : size) != 0) abort();
  return memory;
}

static inline sample sample_read(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    printf("%s: expected a file; run tests/program/samples.py\n", path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  sample out = {NULL, (size_t)ftell(file)};
  rewind(file);
  out.bytes = sample_memory(out.size);
  if (fread(out.bytes, 1, out.size, file) != out.size) abort();
  fclose(file);
  return out;
}

static inline uint64_t sample_word(const uint8_t *at, unsigned size) {
  uint64_t value = 0;
  memcpy(&value, at, size);
  return value;
}

/* Recomputes the digests of all segments that lie inside the file, and of header and table. */
static inline void sample_reseal(uint8_t *bytes, size_t size) {
  if (size < 64) return;
  uint64_t count = sample_word(bytes + 12, 4);
  if (count > (size - 64) / 64) count = (size - 64) / 64;
  for (uint64_t i = 0; i < count; i++) {
    uint8_t *entry = bytes + 64 + 64 * i;
    uint64_t offset = sample_word(entry + 8, 8), length = sample_word(entry + 16, 8);
    if (sample_word(entry + 4, 4) == 0 && offset <= size && length <= size - offset)
      pte_blake2s_256(bytes + offset, (size_t)length, entry + 24);
  }
  pte_blake2s hash;
  pte_blake2s_begin(&hash, 32);
  pte_blake2s_add(&hash, bytes, 32);
  pte_blake2s_add(&hash, bytes + 64, (size_t)(64 * count));
  pte_blake2s_end(&hash, bytes + 32);
}

#endif
