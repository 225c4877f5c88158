/* What the drivers of delegates share: a check that ends the program, memory, files. */
#ifndef PTE_TESTS_DRIVER_H
#define PTE_TESTS_DRIVER_H

#include <stdio.h>
#include <stdlib.h>

#include "pteron/delegate.h"

#define MUST(condition)                                                                            \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                     \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

typedef struct bytes {
  unsigned char *data;
  size_t size;
} bytes;

static void *room(size_t size) {
  void *memory = NULL;
  MUST(posix_memalign(&memory, 128, size == 0 ? 1 : size) == 0);
  return memory;
}

static bytes read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  MUST(file != NULL);
  fseek(file, 0, SEEK_END);
  bytes all = {NULL, (size_t)ftell(file)};
  rewind(file);
  all.data = room(all.size);
  MUST(fread(all.data, 1, all.size, file) == all.size);
  fclose(file);
  return all;
}

static void write_file(const char *path, const pte_delegate_tensor *tensor) {
  FILE *file = fopen(path, "wb");
  MUST(file != NULL);
  MUST(fwrite(tensor->data, 1, (size_t)tensor->size_bytes, file) == tensor->size_bytes);
  MUST(fclose(file) == 0);
}

#endif
