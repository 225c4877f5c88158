/* Where the image begins, and the functions that the compiler calls by itself. The barriers keep
 * it from turning their loops back into calls. */
#include <stddef.h>

#include "delegates/hexagon/dsp/system.h"

_Noreturn void serve(void);
void *memset(void *to, int value, size_t count);
void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from,
                                                            size_t count);

__asm__(".globl _start\n"
        "_start:\n"
        "  r29 = and(r29, #-128)\n" /* vectors on the stack */
        "  call serve\n");

void *memset(void *to, int value, size_t count) {
  for (size_t i = 0; i < count; i++) {
    ((uint8_t *)to)[i] = (uint8_t)value;
    __asm__ volatile("" ::: "memory");
  }
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  for (size_t i = 0; i < count; i++) {
    ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    __asm__ volatile("" ::: "memory");
  }
  return to;
}

void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from,
                                                            size_t count) {
  return memcpy(to, from, count);
}
