/* What one thread of this processor can do at best, for the roofline of `pteron bench`: products in
 * registers, bytes from L2 and from memory. No part of the runtime. */
#ifndef PTERON_PEAKS_H
#define PTERON_PEAKS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PTERON_PEAK_FMA, PTERON_PEAK_DOT, PTERON_PEAK_L2, PTERON_PEAK_MEMORY };
enum { PTERON_PEAK_ROUNDS = 40, PTERON_PEAK_CHAINS = 12, PTERON_PEAK_STEPS = 200000 };

static double pteron_peak_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Twelve chains hide the latency of any FMA; named, since compilers keep an array of them in
 * memory. The asm keeps them from being folded. */
#define PTERON_EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define PTERON_CHAINS(name, attributes, type, constraint, instruction)                             \
  attributes static void name(void) {                                                              \
    type b = {0}, c = {0};                                                                         \
    PTERON_EACH(PTERON_CHAIN_##type)                                                               \
    for (long k = 0; k < PTERON_PEAK_STEPS; k++)                                                   \
      __asm__ volatile(instruction                                                                 \
                       : "+" constraint(a0), "+" constraint(a1), "+" constraint(a2),               \
                         "+" constraint(a3), "+" constraint(a4), "+" constraint(a5),               \
                         "+" constraint(a6), "+" constraint(a7), "+" constraint(a8),               \
                         "+" constraint(a9), "+" constraint(a10), "+" constraint(a11)              \
                       : constraint(b), constraint(c));                                            \
  }
#define PTERON_TWELVE(one)                                                                         \
  one("%0") one("%1") one("%2") one("%3") one("%4") one("%5") one("%6") one("%7") one("%8")        \
      one("%9") one("%10") one("%11")

typedef float pteron_v16 __attribute__((vector_size(16)));
typedef float pteron_v32 __attribute__((vector_size(32)));
typedef float pteron_v64 __attribute__((vector_size(64)));
#define PTERON_CHAIN_pteron_v16(i) pteron_v16 a##i = {0};
#define PTERON_CHAIN_pteron_v32(i) pteron_v32 a##i = {0};
#define PTERON_CHAIN_pteron_v64(i) pteron_v64 a##i = {0};

/* 10^9 products a second of twelve chains of `products` each. */
static double pteron_peak_rate(void (*run)(void), double products) {
  double best = 0;
  for (int i = 0; i < PTERON_PEAK_ROUNDS; i++) {
    double begin = pteron_peak_now();
    run();
    double rate =
        1e-9 * PTERON_PEAK_STEPS * PTERON_PEAK_CHAINS * products / (pteron_peak_now() - begin);
    best = rate > best ? rate : best;
  }
  return best;
}

#if defined(__x86_64__)
#define PTERON_FMA(y)  "vfmadd231ps %12, %13, " y "\n\t"
#define PTERON_DOT(y)  "vpdpbusd %12, %13, " y "\n\t"
#define PTERON_VDOT(y) "%{vex%} vpdpbusd %12, %13, " y "\n\t"
/* Where no instruction adds up products of bytes, they are widened to 16 bits: six sums, and as
 * many registers of products. */
#define PTERON_PAIR(product, sum)                                                                  \
  "vpmaddwd %12, %13, " product "\n\tvpaddd " product ", " sum ", " sum "\n\t"
#define PTERON_SIX                                                                                 \
  PTERON_PAIR("%6", "%0")                                                                          \
  PTERON_PAIR("%7", "%1")                                                                          \
  PTERON_PAIR("%8", "%2")                                                                          \
  PTERON_PAIR("%9", "%3") PTERON_PAIR("%10", "%4") PTERON_PAIR("%11", "%5")
#define PTERON_ZMM __attribute__((target("avx512f,avx512vnni")))
#define PTERON_YMM __attribute__((target("avx2,fma")))
PTERON_CHAINS(pteron_fma_zmm, PTERON_ZMM, pteron_v64, "v", PTERON_TWELVE(PTERON_FMA))
PTERON_CHAINS(pteron_fma_ymm, PTERON_YMM, pteron_v32, "x", PTERON_TWELVE(PTERON_FMA))
PTERON_CHAINS(pteron_dot_zmm, PTERON_ZMM, pteron_v64, "v", PTERON_TWELVE(PTERON_DOT))
PTERON_CHAINS(pteron_dot_ymm, PTERON_YMM, pteron_v32, "x", PTERON_TWELVE(PTERON_VDOT))
PTERON_CHAINS(pteron_dot_pairs, PTERON_YMM, pteron_v32, "x", PTERON_SIX)

/* Four chains of 16 x 16 x 64 products hide a tile's latency: three rounds of them are twelve. Who
 * names the instruction set has asked the system for tiles (pte_host_cpu). */
static void pteron_dot_amx(void) {
  uint8_t shape[64] = {1};
  for (int i = 0; i < 8; i++) shape[16 + 2 * i] = 64, shape[48 + i] = 16;
#define PTERON_ROUND                                                                               \
  "tdpbssd %%tmm6, %%tmm4, %%tmm0\n\ttdpbssd %%tmm7, %%tmm4, %%tmm1\n\t"                           \
  "tdpbssd %%tmm6, %%tmm5, %%tmm2\n\ttdpbssd %%tmm7, %%tmm5, %%tmm3\n\t"
  __asm__ volatile("ldtilecfg %0" : : "m"(shape));
  for (long k = 0; k < PTERON_PEAK_STEPS; k++)
    __asm__ volatile(PTERON_ROUND PTERON_ROUND PTERON_ROUND : : : "memory");
  __asm__ volatile("tilerelease");
}

static double pteron_peak_products(int kind, const char *isa) {
  const int fma = kind == PTERON_PEAK_FMA;
  if (strcmp(isa, "amx") == 0 && !fma) return pteron_peak_rate(pteron_dot_amx, 16384);
  if (strcmp(isa, "avx512vnni") == 0 || strcmp(isa, "amx") == 0)
    return pteron_peak_rate(fma ? pteron_fma_zmm : pteron_dot_zmm, fma ? 16 : 64);
  if (strcmp(isa, "avx512") == 0 && fma) return pteron_peak_rate(pteron_fma_zmm, 16);
  if (strcmp(isa, "avxvnni") == 0)
    return pteron_peak_rate(fma ? pteron_fma_ymm : pteron_dot_ymm, fma ? 8 : 32);
  if (strcmp(isa, "avx2") != 0 && strcmp(isa, "avx512") != 0) return 0;
  return fma ? pteron_peak_rate(pteron_fma_ymm, 8) : pteron_peak_rate(pteron_dot_pairs, 16 / 2.0);
}
#elif defined(__aarch64__)
#define PTERON_FMA(y) "fmla " y ".4s, %12.4s, %13.4s\n\t"
#define PTERON_DOT(y) "sdot " y ".4s, %12.16b, %13.16b\n\t"
PTERON_CHAINS(pteron_fma_neon, , pteron_v16, "w", PTERON_TWELVE(PTERON_FMA))
PTERON_CHAINS(pteron_dot_neon, __attribute__((target("arch=armv8.2-a+dotprod"))), pteron_v16, "w",
              PTERON_TWELVE(PTERON_DOT))

static double pteron_peak_products(int kind, const char *isa) {
  if (kind == PTERON_PEAK_FMA) return pteron_peak_rate(pteron_fma_neon, 4);
  return strcmp(isa, "neon") == 0 ? 0 : pteron_peak_rate(pteron_dot_neon, 16);
}
#else
static double pteron_peak_products(int kind, const char *isa) {
  (void)kind, (void)isa;
  return 0;
}
#endif

/* 10^9 bytes a second read from a buffer of so many. */
static double pteron_peak_bytes(size_t bytes) {
  const size_t count = bytes / sizeof(pteron_v64), times = ((size_t)64 << 20) / bytes + 1;
  char *taken = malloc(bytes + sizeof(pteron_v64));
  double best = 0;
  if (taken == NULL) return 0;
  pteron_v64 *x = (void *)(taken + sizeof *x - (uintptr_t)taken % sizeof *x);
  memset(x, 0, bytes);
  for (int i = 0; i < PTERON_PEAK_ROUNDS; i++) {
    double begin = pteron_peak_now();
    for (size_t j = 0; j < times; j++)
      for (size_t k = 0; k < count; k++) { /* a line each; what is loaded is not needed */
        uint64_t word = *(const volatile uint64_t *)(const void *)&x[k];
        (void)word;
      }
    double rate = 1e-9 * (double)(times * bytes) / (pteron_peak_now() - begin);
    best = rate > best ? rate : best;
  }
  free(taken);
  return best;
}

/* Of a thread, for the instruction set that kernels get; 0: this machine has no such. */
static double pteron_peak(int kind, const char *isa) {
  if (kind == PTERON_PEAK_L2) return pteron_peak_bytes((size_t)256 << 10);
  if (kind == PTERON_PEAK_MEMORY) return pteron_peak_bytes((size_t)256 << 20);
  return pteron_peak_products(kind, isa);
}

#endif
