"""What stands before the runtime's sources: C's own headers, and the few functions of libc that are called."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
/* Bytes lie in flash, where nobody writes them: they are not copied. Buffers are those of a small machine. */
#define PTE_IN_PLACE 1
#define PTE_SMALL_BUFFERS 1

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <float.h>
#include <limits.h>

/* All of libc that is called. The last four are here, for who links none; a libc's own take their place. */
void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
int strcmp(const char *a, const char *b);
size_t strlen(const char *text);
#define PTE_LIBC __attribute__((weak, used, optimize("no-tree-loop-distribute-patterns")))
PTE_LIBC void *memmove(void *to, const void *from, size_t count) {
  unsigned char *t = to;
  const unsigned char *f = from;
  if (t < f) while (count--) *t++ = *f++;
  else while (count--) t[count] = f[count];
  return to;
}
PTE_LIBC void *memset(void *to, int value, size_t count) {
  for (unsigned char *t = to; count--;) *t++ = (unsigned char)value;
  return to;
}
PTE_LIBC int memcmp(const void *a, const void *b, size_t count) {
  const unsigned char *x = a, *y = b;
  for (; count--; x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
PTE_LIBC int strcmp(const char *a, const char *b) {
  for (; *a != 0 && *a == *b; a++) b++;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}
PTE_LIBC size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n] != 0) n++;
  return n;
}
"""
