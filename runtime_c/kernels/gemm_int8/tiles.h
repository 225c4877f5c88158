/* Limits of the register tiles of integer products. */
#ifndef PTE_TILES_H
#define PTE_TILES_H

enum {
  PTE_TALL = 12,         /* rows of a tile of int8 in vector registers, at most, */
  PTE_BESIDE = 2,        /* and panels of any */
  PTE_TILE_QUADS = 2048, /* of four products, of a tile */
#if PTE_HAVE_AMX
  PTE_SUMS = 64 /* rows times panels of a tile of int8, at most */
#elif PTE_HAVE_NEON
  PTE_SUMS = 2 * PTE_TALL * PTE_BESIDE
#else
  PTE_SUMS = PTE_TALL * PTE_BESIDE
#endif
};

#endif
