/* The monotonic clock. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "pteron/host.h"

uint64_t pte_host_now(void *self) {
  (void)self;
  LARGE_INTEGER now, each; /* neither fails since Windows XP */
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&each);
  const uint64_t ticks = (uint64_t)now.QuadPart, second = (uint64_t)each.QuadPart;
  return ticks / second * 1000000000u + ticks % second * 1000000000u / second;
}
