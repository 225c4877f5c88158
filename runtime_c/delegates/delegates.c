/* The table of the delegates of this build. CMake gives the rows: the folders beside this file. */
#include "pteron/delegates.h"

#include "pteron/delegate.h"

#ifndef PTE_DELEGATE_ROWS
#define PTE_DELEGATE_ROWS
#endif

#define PTE_ROW(name) const pte_delegate_api *pte_delegate_##name(void);
PTE_DELEGATE_ROWS
#undef PTE_ROW
#define PTE_ROW(name) pte_delegate_##name,

static const pte_delegate_api *(*const makers[])(void) = {pte_delegate_null, PTE_DELEGATE_ROWS};

uint32_t pte_delegates_count(void) { return sizeof makers / sizeof makers[0]; }

const pte_delegate_api *pte_delegates_at(uint32_t index) {
  return index < pte_delegates_count() ? makers[index]() : NULL;
}

const char *pte_delegates_name(const pte_delegate_api *api) { return api->name; }

int pte_delegates_accept(const pte_delegate_api *api, const char *target, pte_error *error) {
  error->text[0] = 0;
  return api->accepts(api->self, target, error);
}
