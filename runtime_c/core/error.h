/* Filling a pte_error: the text of a failure, without printf. */
#ifndef PTE_ERROR_H
#define PTE_ERROR_H

#include <stdarg.h>

#include "pteron/pteron.h"

/* Of functions that only failures run: small rather than fast. */
#define PTE_COLD __attribute__((cold))

/* Stores `status` and the text in `err` (may be NULL) and returns `status`. Marks: %u uint32_t, %d
 * int32_t, %lld int64_t, %llu uint64_t, %s terminated string (NULL prints "?"), %%. Bytes of
 * strings outside printable ASCII appear as '?': names come from files. Text that does not fit is
 * cut. A format that begins with '+' adds to the text in `err`, and leaves its status. */
pte_status pte_fail(pte_error *err, pte_status status, const char *format, ...);

pte_status pte_fail_list(pte_error *err, pte_status status, const char *format, va_list *args);

/* Names the instruction that the failure in `err` (may be NULL) belongs to; `name` is its node's,
 * "" where it has none. Of a name that does not fit behind the text the end is shown: names are
 * paths.
 */
void pte_error_at(pte_error *err, uint32_t instr, uint32_t op, uint32_t node, const char *name);

#endif
