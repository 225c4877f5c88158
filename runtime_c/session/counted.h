/* Counted dimensions: sizes that only the data decides. Buffers have room for the capacity; tensors
 * have the extent. */
#ifndef PTE_COUNTED_H
#define PTE_COUNTED_H

#include "session/session.h"

/* Every counted dimension of the program to its capacity, or to 0. */
void pte_counted_set_all(pte_session *s, bool full);

/* Opens the counted axes of an output to their capacities, before the instruction that decides
 * them. */
void pte_counted_open(pte_session *s, const pte_tensor *out);

/* Sets the counted dimensions that are axes of `out`, which is `port` of instruction `work`
 * (outputs from 128), to `shape` (its rank), sizes `out` again and compares. PTE_LIMIT: above a
 * capacity; the text names the dimension. PTE_BAD_DATA: another axis differs. */
PTE_CHECKED pte_status pte_counted_close(pte_session *s, uint32_t work, pte_tensor *out,
                                         const int64_t *shape, unsigned port, pte_error *err);

#endif
