/* Prefetch distances: bytes from what a loop reads to what it prefetches, a row a loop. They are
 * compiled in, where they take no register from the sums; whether a loop prefetches into the first
 * cache or the second follows from the machine (core/machine.h). */
#ifndef PTE_PREFETCH_H
#define PTE_PREFETCH_H

enum {
  /* gemm_int8, one row times stored weights: each stream into the second cache (Zen 4: 2 to 4 KiB
   * are one, each line 1 KiB ahead loses a tenth); each line into the first one where that follows
   * many misses (Zen 5), or for the next block alone; four rows, whose sums wait long. */
  PTE_PREFETCH_STREAM = 3072,
  PTE_PREFETCH_ROW_AVX512VNNI = 4096,
  PTE_PREFETCH_ROW_6_AVX512VNNI = 3072, /* of six bits */
  PTE_PREFETCH_ROW_AVX2 = 256,
  PTE_PREFETCH_ROWS_AVX2 = 4096,
  PTE_PREFETCH_TALL = 8192, /* rows that share what is read */

  /* gemm, FP8 times few rows: into the first cache, or into the second one where four streams keep
   * the core's own prefetching busy (Zen 4, one row: 0.94 of the time; fewer lose by it). */
  PTE_PREFETCH_FLOATS_L1 = 4096,
  PTE_PREFETCH_FLOATS_L2 = 1024,

  /* gemm, f32 times few rows. Zen 5, 12 rows times 1536 x 384 from memory: 61 us at 4 KiB, 56 at 8,
   * 78 at 2, 105 without; 50 us are a bare read and 50 the products. */
  PTE_PREFETCH_FEW = 6144,

  /* gemm and sequence, keys and values of a context that are widened: a core reads 16 GB/s, 13.6
   * without. */
  PTE_PREFETCH_NARROW = 4096
};

#endif
