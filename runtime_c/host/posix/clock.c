/* The monotonic clock. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "pteron/host.h"

uint64_t pte_host_now(void *self) {
  (void)self;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
