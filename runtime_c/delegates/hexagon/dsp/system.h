/* The system calls that the image makes: Linux, as qemu-hexagon's user mode provides them. */
#ifndef PTE_HEXAGON_SYSTEM_H
#define PTE_HEXAGON_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count); /* start.c */

enum { SYSTEM_READ = 63, SYSTEM_WRITE = 64, SYSTEM_EXIT_GROUP = 94, SYSTEM_MMAP2 = 222 };

/* The call's number in r6, arguments in r0 to r5. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r6 __asm__("r6") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = d;
  register long r4 __asm__("r4") = e;
  register long r5 __asm__("r5") = f;
  __asm__ volatile("trap0(#1)"
                   : "+r"(r0)
                   : "r"(r6), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
                   : "memory");
  return r0;
}

static inline _Noreturn void system_exit(int code) {
  for (;;) system_call(SYSTEM_EXIT_GROUP, code, 0, 0, 0, 0, 0);
}

/* Maps the first `bytes` of a file, shared, to read and write; NULL: it cannot. */
static inline uint8_t *system_map(int file, uint32_t bytes) {
  const long read_write = 3, shared = 1;
  unsigned long at =
      (unsigned long)system_call(SYSTEM_MMAP2, 0, (long)bytes, read_write, shared, file, 0);
  return at > 0xfffff000ul ? 0 : (uint8_t *)at;
}

#endif
