/* What the session asks of tensors, which know nothing of it: extents, reach, bytes, copies. */
#ifndef PTE_TENSOR_H
#define PTE_TENSOR_H

#include "core/kernel.h"

/* Whether a tensor is dense and row-major (axes of extent 1 aside). */
bool pte_tensor_is_dense(const pte_tensor *t);

/* Whether an extent is 0. */
bool pte_tensor_is_empty(const pte_tensor *t);

/* The lowest and highest element of a tensor that has any, counted from its memory's start, where
 * its first element is number `first`. false: 64 bits are not enough. */
bool pte_tensor_range(const pte_tensor *t, int64_t first, int64_t *out_low, int64_t *out_high);

/* Bytes of a dense tensor that has passed pte_value_size. */
uint64_t pte_tensor_bytes(const pte_tensor *t);

/* dst = src for two tensors of one dtype and shape, any strides, or as much of it as `watch` (may
 * be NULL) lets. They may overlap: then the result is unspecified, nothing else. */
void pte_tensor_move(const pte_tensor *dst, const pte_tensor *src, pte_watch *watch);

#endif
