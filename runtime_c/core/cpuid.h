/* What a processor of x86 says of itself. */
#ifndef PTE_CPUID_H
#define PTE_CPUID_H

#include <stdint.h>

typedef struct pte_cpuid_words {
  uint32_t a, b, c, d;
} pte_cpuid_words;

static inline pte_cpuid_words pte_cpuid(uint32_t leaf, uint32_t subleaf) {
  pte_cpuid_words w;
  __asm__ volatile("cpuid" : "=a"(w.a), "=b"(w.b), "=c"(w.c), "=d"(w.d) : "a"(leaf), "c"(subleaf));
  return w;
}

#endif
