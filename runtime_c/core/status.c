/* The version, and the names of the status codes. */
#include "pteron/pteron.h"

uint32_t pte_api_version(void) { return PTE_API_VERSION; }

const char *pte_status_name(pte_status status) {
  static const char *const names[] = {
      [PTE_OK] = "ok",
      [PTE_BAD_PROGRAM] = "bad program",
      [PTE_UNSUPPORTED] = "unsupported",
      [PTE_BAD_ARGUMENT] = "bad argument",
      [PTE_NO_MEMORY] = "no memory",
      [PTE_DELEGATE] = "delegate failed",
      [PTE_BAD_DATA] = "bad data",
      [PTE_LIMIT] = "limit reached",
      [PTE_CANCELLED] = "cancelled",
      [PTE_DEADLINE] = "deadline passed",
      [PTE_IO] = "input or output failed",
  };
  unsigned i = (unsigned)status;
  return i < sizeof names / sizeof names[0] ? names[i] : "unknown status";
}
