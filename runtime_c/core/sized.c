#include "core/sized.h"

#include <stdbool.h>
#include <string.h>

#include "core/error.h"

/* The size that a struct says: at least one field behind it, whole pointers, and no more than any
 * future version has; else 0. A size that nobody has set is rarely one of those. */
static uint32_t size_of(const void *given) {
  uint32_t size;
  memcpy(&size, given, sizeof size);
  return size >= 8 && size <= 4096 && size % sizeof(void *) == 0 ? size : 0;
}

pte_status pte_sized_read(const void *given, void *out, uint32_t size, const char *what,
                          pte_error *err) {
  memset(out, 0, size);
  if (given == NULL) return PTE_OK;
  uint32_t says = size_of(given);
  if (says == 0)
    return pte_fail(err, PTE_BAD_ARGUMENT, "%s: `size` is not set to the size of the struct", what);
  memcpy(out, given, says < size ? says : size);
  for (uint32_t i = size; i < says; i++)
    if (((const uint8_t *)given)[i] != 0)
      return pte_fail(err, PTE_UNSUPPORTED, "%s: byte %u is set, this library knows %u", what, i,
                      size);
  return PTE_OK;
}

pte_status pte_sized_write(void *out, const void *from, uint32_t size) {
  uint32_t says = out == NULL ? 0 : size_of(out);
  if (says == 0) return PTE_BAD_ARGUMENT;
  uint32_t common = says < size ? says : size;
  memset((uint8_t *)out + sizeof says, 0, says - sizeof says);
  memcpy((uint8_t *)out + sizeof says, (const uint8_t *)from + sizeof says, common - sizeof says);
  return PTE_OK;
}
