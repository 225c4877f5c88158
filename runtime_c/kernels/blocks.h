/* Sizes of blocks that follow from a machine's caches: a row a block, one function for all of them
 * (ADR 14). A block takes a share of a cache, and is never larger than it was measured to be worth,
 * so processors with larger caches cut as those do that were measured; the usual machine of
 * core/machine.h gives every row its most. Blocks never change a bit. */
#ifndef PTE_BLOCKS_H
#define PTE_BLOCKS_H

#include "core/machine.h"

/* name, level and share of its cache in eightieths, bytes of an item, and the items: a multiple,
 * the least and the most of them. */
#define PTE_BLOCKS(ROW)                                                                            \
  /* K of a block: rows of 16 floats that are half of L1 */                                        \
  ROW(GEMM_DEPTH, 1, 40, 64, 16, 32, 256)                                                          \
  /* of one whose panels lie in place: a pair of them is most of a larger L1, */                   \
  ROW(GEMM_WIDE, 1, 160, 128, 16, 64, 512)                                                         \
  /* and where rows have one stride: 14 of them hide that a pair is in L2 */                       \
  ROW(GEMM_EVEN, 2, 20, 128, 16, 64, 1024)                                                         \
  /* rows of a block, of 256 floats each */                                                        \
  ROW(GEMM_ROWS, 2, 32, 1024, 14, 28, 196)                                                         \
  /* panels of a block of the result of so many rows */                                            \
  ROW(GEMM_PANELS, 2, 64, 12544, 2, 2, 32)                                                         \
  /* bytes of codes that each panel meets */                                                       \
  ROW(INT8_BYTES, 2, 80, 1, 64, 4096, 524288)                                                      \
  /* bytes of windows that are gathered for all panels, and of few windows, which weights come far \
   * for */                                                                                        \
  ROW(GATHERED_BYTES, 2, 20, 1, 64, 4096, 131072)                                                  \
  ROW(GATHERED_FEW, 2, 80, 1, 64, 4096, 524288)                                                    \
  /* bytes of panels that rows take turns at */                                                    \
  ROW(INT8_TURN, 2, 40, 1, 64, 4096, 262144)                                                       \
  /* floats of transformed pixels and sums, more than L2: a product reads a 36th of each */        \
  ROW(WINOGRAD_FLOATS, 2, 120, 4, 16, 4096, 196608)                                                \
  /* elements of a band of pixels */                                                               \
  ROW(DEPTHWISE_BAND, 2, 20, 4, 16, 1024, 32768)                                                   \
  /* pixels of y that go through three operators together, of 1024 floats each */                  \
  ROW(CONV_PIXELS, 2, 40, 4096, 14, 14, 56)                                                        \
  /* floats of packed columns */                                                                   \
  ROW(PACKED_FLOATS, 2, 40, 4, 16, 4096, 65536)                                                    \
  /* columns of a transposed tile, each in a line of its own */                                    \
  ROW(COPY_COLUMNS, 1, 10, 64, 8, 8, 64)

typedef enum pte_block {
#define PTE_BLOCK_NAME(name, level, share, bytes, multiple, least, most) PTE_BLOCK_##name,
  PTE_BLOCKS(PTE_BLOCK_NAME)
#undef PTE_BLOCK_NAME
      PTE_BLOCK_COUNT
} pte_block;

#ifdef PTE_SMALL_BUFFERS
static inline size_t pte_block_of(const pte_machine *machine, pte_block block) {
#define PTE_BLOCK_MOST(name, level, share, bytes, multiple, least, most) most,
  static const uint32_t most[PTE_BLOCK_COUNT] = {PTE_BLOCKS(PTE_BLOCK_MOST)};
#undef PTE_BLOCK_MOST
  (void)machine;
  return most[block];
}
#else
size_t pte_block_of(const pte_machine *machine, pte_block block);
#endif

#endif
