#include "core/cpu.h"

#if defined(__x86_64__) || defined(__i386__)

typedef struct words {
  uint32_t a, b, c, d;
} words;

static words cpuid(uint32_t leaf, uint32_t subleaf) {
  words w;
  __asm__ volatile("cpuid" : "=a"(w.a), "=b"(w.b), "=c"(w.c), "=d"(w.d) : "a"(leaf), "c"(subleaf));
  return w;
}

/* Register state that the system saves (XCR0). */
static uint32_t xgetbv(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint32_t pte_cpu_detect(void) {
  const uint32_t fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
  const uint32_t needed = fma | osxsave | avx | f16c;
  const uint32_t avx2 = 1u << 5, sse_and_avx_state = 6, avx512_state = 0xe6;
  const uint32_t f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31,
                 avx512 = f | dq | bw | vl;
  const uint32_t vbmi = 1u << 1, vnni = 1u << 11, integers = vbmi | vnni;
  if (cpuid(0, 0).a < 7 || (cpuid(1, 0).c & needed) != needed) return 0;
  uint32_t state = xgetbv();
  words more = cpuid(7, 0);
  if ((state & sse_and_avx_state) != sse_and_avx_state || (more.b & avx2) == 0) return 0;
  if ((state & avx512_state) != avx512_state || (more.b & avx512) != avx512) return PTE_CPU_AVX2;
  return (more.c & integers) != integers ? PTE_CPU_AVX2 | PTE_CPU_AVX512
                                         : PTE_CPU_AVX2 | PTE_CPU_AVX512 | PTE_CPU_AVX512VNNI;
}

uint32_t pte_cpu_allow(uint32_t wanted) {
  return pte_cpu_detect() & (wanted == PTE_CPU_DETECT ? UINT32_MAX : wanted);
}

#else

uint32_t pte_cpu_detect(void) {
#if defined(__aarch64__)
  return PTE_CPU_NEON;
#else
  return 0;
#endif
}

uint32_t pte_cpu_allow(uint32_t wanted) {
  const uint32_t arm = PTE_CPU_NEON | PTE_CPU_DOTPROD | PTE_CPU_I8MM;
  return wanted == PTE_CPU_DETECT ? pte_cpu_detect() : wanted & arm;
}

#endif
