/* The peak of fused multiply-adds of one thread, which benchmarks of kernels measure in the same
 * rounds as those: twelve chains in named registers (gcc keeps an array of them in memory). */
#ifndef PTE_BENCHMARKS_PEAK_H
#define PTE_BENCHMARKS_PEAK_H

#include <stdlib.h>
#include <time.h>

#include "core/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static volatile float sink;
static uint32_t cpu; /* what kernels may use, and which peak */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, compare);
  return v[n / 2];
}

enum { CHAINS = 12 };
#define EACH(F)    F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define DECLARE(i) a##i = x,
#define SUM(i)     +((float *)&a##i)[0]
#define LOOP(type, fma, keep)                                                                      \
  type EACH(DECLARE) spare = x;                                                                    \
  for (long k = 0; k < count; k++) {                                                               \
    EACH(fma)                                                                                      \
    __asm__ volatile("" : EACH(keep) "+m"(spare));                                                 \
  }                                                                                                \
  sink = 0 EACH(SUM)

#if defined(__x86_64__)
#define FMA8(i)   a##i = _mm256_fmadd_ps(a##i, x, y);
#define FMA16(i)  a##i = _mm512_fmadd_ps(a##i, x, y);
#define KEEP_X(i) "+x"(a##i),
#define KEEP_V(i) "+v"(a##i),
__attribute__((target("avx2,fma"))) static void peak_avx2(long count) {
  __m256 x = _mm256_set1_ps(1.0000001f), y = _mm256_set1_ps(1e-9f);
  LOOP(__m256, FMA8, KEEP_X);
}
__attribute__((target("avx512f"))) static void peak_avx512(long count) {
  __m512 x = _mm512_set1_ps(1.0000001f), y = _mm512_set1_ps(1e-9f);
  LOOP(__m512, FMA16, KEEP_V);
}
static double peak_of(long count) { /* flop a second */
  double begin = now();
  bool wide = (cpu & PTE_CPU_AVX512) != 0;
  if (wide) peak_avx512(count);
  else peak_avx2(count);
  return (double)count * CHAINS * 2 * (wide ? 16 : 8) / (now() - begin);
}
#else
static double peak_of(long count) {
  (void)count;
  return 0;
}
#endif

#endif
