/* Reading and writing .npy files, version 1: what pte_run takes and gives. */
#ifndef PTE_TOOLS_NPY_H
#define PTE_TOOLS_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pteron/pteron.h"

typedef struct npy {
  char kind;     /* 'f', 'i', 'u', 'b' as in NumPy; 0: raw bytes (.bin) */
  uint32_t size; /* bytes an element */
  uint32_t rank;
  int64_t shape[PTE_MAX_RANK];
  void *data; /* malloc; the caller frees */
  size_t bytes;
} npy;

/* Reads `path`: .npy (C order, little-endian), or any other file as raw bytes. false: a message has
 * been printed. */
bool npy_read(const char *path, npy *out);

/* Writes a dense array of PTE_* element type `dtype`; types that NumPy lacks as unsigned bytes. */
bool npy_write(const char *path, unsigned dtype, uint32_t rank, const int64_t *shape,
               const void *data, size_t bytes);

#endif
