/* A strided tensor as rows: what the data-moving kernels share. */
#ifndef PTE_ROWS_H
#define PTE_ROWS_H

#include <string.h>

#include "core/kernel.h"

/* The axes begin..end of a tensor as `count` rows of `length` elements, `step` elements apart.
 * Neighbouring axes whose memory runs on are one axis. No axes: one row of one element. */
typedef struct pte_rows {
  int64_t shape[PTE_MAX_RANK], stride[PTE_MAX_RANK]; /* of the `rank` axes above the row */
  int64_t count, length, step;
  unsigned rank;
} pte_rows;

static inline pte_rows pte_rows_of(const pte_tensor *t, unsigned begin, unsigned end) {
  pte_rows rows = {.count = 1, .length = 1, .step = 1, .rank = 0};
  for (unsigned axis = begin; axis < end; axis++) {
    unsigned last = rows.rank - 1;
    if (t->shape[axis] == 1) continue;
    if (rows.rank > 0 && rows.stride[last] == t->stride[axis] * t->shape[axis]) {
      rows.shape[last] *= t->shape[axis];
      rows.stride[last] = t->stride[axis];
    } else {
      rows.shape[rows.rank] = t->shape[axis];
      rows.stride[rows.rank++] = t->stride[axis];
    }
  }
  if (rows.rank > 0) {
    rows.rank--;
    rows.length = rows.shape[rows.rank];
    rows.step = rows.stride[rows.rank];
  }
  for (unsigned i = 0; i < rows.rank; i++) rows.count *= rows.shape[i];
  return rows;
}

/* Coordinates, counted like an odometer. */
typedef struct pte_coords {
  int64_t at[PTE_MAX_RANK];
} pte_coords;

static inline pte_coords pte_coords_at(int64_t flat, const int64_t *shape, unsigned rank) {
  pte_coords coords = {{0}};
  for (unsigned i = rank; i-- > 0 && flat > 0;) {
    coords.at[i] = flat % shape[i];
    flat /= shape[i];
  }
  return coords;
}

static inline void pte_coords_next(pte_coords *coords, const int64_t *shape, unsigned rank) {
  for (unsigned i = rank; i-- > 0;) {
    if (++coords->at[i] < shape[i]) return;
    coords->at[i] = 0;
  }
}

static inline int64_t pte_coords_offset(const pte_coords *coords, const int64_t *stride,
                                        unsigned rank) {
  int64_t offset = 0;
  for (unsigned i = 0; i < rank; i++) offset += coords->at[i] * stride[i];
  return offset;
}

#define PTE_STEP_COPY(type)                                                                        \
  for (int64_t i = 0; i < count; i++)                                                              \
    ((type *)to)[i * to_step] = ((const type *)from)[i * from_step];                               \
  break

/* Copies `count` elements of 1, 2, 4 or 8 bytes; steps in elements. */
static inline void pte_row_copy(void *restrict to, int64_t to_step, const void *restrict from,
                                int64_t from_step, int64_t count, unsigned bytes) {
  if (to_step == 1 && from_step == 1) {
    memcpy(to, from, (size_t)count * bytes);
    return;
  }
  switch (bytes) {
  case 1: PTE_STEP_COPY(uint8_t);
  case 2: PTE_STEP_COPY(uint16_t);
  case 4: PTE_STEP_COPY(uint32_t);
  default: PTE_STEP_COPY(uint64_t);
  }
}

#undef PTE_STEP_COPY

/* The same for rows of any length, looking at the run's watch: false: the run is to end. */
bool pte_row_move(pte_pace *pace, void *to, int64_t to_step, const void *from, int64_t from_step,
                  int64_t count, unsigned bytes);

/* Address of element `offset`. */
static inline char *pte_element(const pte_tensor *t, int64_t offset) {
  return (char *)t->data + offset * (int64_t)(pte_dtype_bits(t->dtype) / 8);
}

/* Items a thread should take at least: about 16 KiB of memory traffic. */
static inline size_t pte_grain(int64_t bytes_per_item) {
  int64_t grain = bytes_per_item > 0 ? 16384 / bytes_per_item : 16384;
  return grain > 0 ? (size_t)grain : 1;
}

#endif
