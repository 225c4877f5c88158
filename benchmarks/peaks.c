/* What one thread of this processor can do: 10^9 fused multiply-adds of f32 a second in registers,
 * and 10^9 bytes a second read from a buffer in L2 and from one in memory. Prints "fma L2 memory".
 *
 *     cc -O2 benchmarks/peaks.c -o build/peaks && build/peaks
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 16, CHAINS = 12, ROUNDS = 40 };
typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

#if defined(__x86_64__)
#define WIDEST __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define WIDEST
#endif

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Named, since compilers keep an array of them in memory. */
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
WIDEST void products(long count, vector *y) {
  const vector x = y[0], z = y[1];
#define OPEN(i) vector a##i = x + (float)i;
#define STEP(i) a##i = a##i * z + x;
#define SUM(i)  y[0] += a##i;
  EACH(OPEN)
  for (long k = 0; k < count; k++) {
    EACH(STEP)
  }
  EACH(SUM)
}

WIDEST void reading(size_t count, const vector *x, vector *y) {
  vector a = y[0], b = a, c = a, d = a;
  for (size_t i = 0; i < count; i += 4) a += x[i], b += x[i + 1], c += x[i + 2], d += x[i + 3];
  y[0] = a + b + c + d;
}

static double read_rate(size_t bytes, vector *y) {
  vector *x = aligned_alloc(64, bytes);
  double best = 0;
  if (x == NULL) return 0;
  memset(x, 0, bytes);
  for (int i = 0; i < ROUNDS; i++) {
    size_t times = (64u << 20) / bytes + 1;
    double begin = now();
    for (size_t j = 0; j < times; j++) reading(bytes / sizeof *x, x, y);
    double rate = (double)(times * bytes) / (now() - begin);
    best = rate > best ? rate : best;
  }
  free(x);
  return best;
}

int main(void) {
  static vector y[2];
  double best = 0;
  y[1] = y[0] + 0.5f;
  for (int i = 0; i < ROUNDS; i++) {
    double begin = now();
    products(1000000, y);
    double rate = 1e6 * CHAINS * LANES / (now() - begin);
    best = rate > best ? rate : best;
  }
  printf("%.1f %.1f %.1f\n", best * 1e-9, read_rate(512u << 10, y) * 1e-9,
         read_rate(128u << 20, y) * 1e-9);
  return y[0][0] > 1e30f;
}
