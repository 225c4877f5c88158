/* The functions of string.h. With -mbulk-memory the first three are an instruction each. */
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  return __builtin_memmove(to, from, count);
}
void *memmove(void *to, const void *from, size_t count) {
  return __builtin_memmove(to, from, count);
}
void *memset(void *to, int value, size_t count) { return __builtin_memset(to, value, count); }
int memcmp(const void *a, const void *b, size_t count) {
  const unsigned char *x = a, *y = b;
  for (; count > 0; count--, x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}
int strcmp(const char *a, const char *b) {
  for (; *a != 0 && *a == *b; a++) b++;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}
size_t strlen(const char *text) {
  size_t n = 0;
  while (text[n] != 0) n++;
  return n;
}

/* The compiler's own: the product of two 128-bit numbers, for checked multiplications of 64 bits.
 */
typedef struct wide {
  unsigned long long low, high;
} wide;
wide __multi3(unsigned long long a, unsigned long long a_high, unsigned long long b,
              unsigned long long b_high);
wide __multi3(unsigned long long a, unsigned long long a_high, unsigned long long b,
              unsigned long long b_high) {
  const unsigned long long mask = 0xFFFFFFFFu, a0 = a & mask, a1 = a >> 32, b0 = b & mask,
                           b1 = b >> 32;
  const unsigned long long low = a0 * b0, middle = a1 * b0 + (low >> 32),
                           other = a0 * b1 + (middle & mask);
  return (wide){other << 32 | (low & mask),
                a1 * b1 + (middle >> 32) + (other >> 32) + a * b_high + a_high * b};
}
