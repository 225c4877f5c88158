/* The version, and the names of the status codes. */
#include "pteron/pteron.h"

uint32_t pte_api_version(void) { return PTE_API_VERSION; }

const char *pte_status_name(pte_status status) {
  /* in order of code, one behind the other: pointers would cost more than the words */
  static const char names[] = "ok\0"
                              "bad program\0"
                              "unsupported\0"
                              "bad argument\0"
                              "no memory\0"
                              "delegate failed\0"
                              "bad data\0"
                              "limit reached\0"
                              "cancelled\0"
                              "deadline passed\0"
                              "input or output failed\0";
  const char *at = names;
  for (unsigned i = (unsigned)status; i > 0 && *at != 0; at++, i--)
    while (*at != 0) at++;
  return *at != 0 ? at : "unknown status";
}
