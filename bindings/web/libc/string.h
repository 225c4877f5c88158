/* What the runtime calls of string.h; memory.c defines it. WebAssembly brings no libc. */
#ifndef PTE_WEB_STRING_H
#define PTE_WEB_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
int memcmp(const void *a, const void *b, size_t count);
int strcmp(const char *a, const char *b);
size_t strlen(const char *text);

#endif
