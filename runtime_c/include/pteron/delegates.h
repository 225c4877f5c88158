/* The delegates of this build: libpteron_delegates, a static library beside libpteron, because they
 * may need what not every system has. Each folder of runtime_c/delegates/ is one. */
#ifndef PTERON_DELEGATES_H
#define PTERON_DELEGATES_H

#include "pteron/pteron.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many there are, and the one of index `index` (NULL: there is none); they live as long as the
 * process. */
uint32_t pte_delegates_count(void);
const pte_delegate_api *pte_delegates_at(uint32_t index);

/* Its name; and 1 where it runs blobs for `target` here and now, else 0 with the reason in `error`.
 */
const char *pte_delegates_name(const pte_delegate_api *api);
int pte_delegates_accept(const pte_delegate_api *api, const char *target, pte_error *error);

#ifdef __cplusplus
}
#endif
#endif
