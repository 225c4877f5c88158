/* What attention.c fixes once a run and every variant of the inner loops reads. */
#ifndef PTE_ATTENTION_H
#define PTE_ATTENTION_H

#include "gen/ops.h"

enum {
  PTE_ATTENTION_TILE = 64,  /* keys; a part of the meaning: the tiles lie at absolute positions */
  PTE_ATTENTION_TALL = 6,   /* query rows of one register tile */
  PTE_ATTENTION_STRIP = 24, /* those whose softmax is computed side by side */
  PTE_ATTENTION_SIDE = 32,  /* in whole blocks of lanes */
  PTE_ATTENTION_ROWS = 198, /* query rows of one item at most; a multiple of the register tile */
  PTE_ATTENTION_LANES = 16, /* columns of a register tile */
  PTE_ATTENTION_WAVE = 32,  /* tiles of an item that threads share, until they are merged */
  PTE_ATTENTION_PART = 4    /* of them, one thread's at a time */
};

/* Of one query row. Its keys are low .. high - 1, apart from the mask; it lies at element `q`, its
 * mask at `mask`. */
typedef struct pte_attention_row {
  int64_t low, high, q, mask, position, head;
  float *y;
} pte_attention_row;

/* Query heads of a block share a key head: row r of block b is query r % queries of head b *
 * block_heads + r / queries. A block has all heads of a key head, or where queries are many one. */
typedef struct pte_attention {
  const pte_call *call;
  const pte_attention_attrs *attrs;
  const pte_tensor *q, *k, *v, *mask;
  const pte_tensor *k_scale, *v_scale; /* a number a key each; NULL: none */
  const float *slope, *sink;           /* a number a head each; NULL: neither */
  int64_t rows, queries, keys, d, e, e_padded, heads, groups;
  int64_t block_heads, blocks; /* and blocks of a batch */
  int64_t most; /* keys that may count: those there is room for, in a ring as many as it says */
  int64_t items_per_block, rows_per_item; /* items: (batch, block, rows) */
  int64_t strip;          /* rows of a strip: PTE_ATTENTION_STRIP or all of an item */
  int64_t side;           /* in whole blocks of lanes */
  int64_t staged;         /* elements of a tile's keys that are widened before they are laid out */
  bool queries_meet;      /* rows of queries, or every second one, in one set of the first cache */
  bool panels;            /* keys lie as [keys / 16][d][16], not as [keys][d] */
  uint64_t scratch_bytes; /* of one thread */
  bool shared;            /* an item's tiles are shared by threads, and merged in order when all are
                             done: the same sums. A wave begins at tile `wave`, */
  int64_t wave, strips;   /* a tile has `strips` of `slot` floats: (m, l, o) */
  int64_t slot;
  float *tiles, *kept; /* [items][WAVE][strips][slot], and (m, l) of each item's rows */
} pte_attention;

/* What is to be known of rows first .. first + count of a block, with so many keys in its batch:
 * the keys that each sees, and where its query, mask and result lie. */
void pte_attention_find(const pte_attention *a, int64_t batch, int64_t block, int64_t keys,
                        int64_t first, int64_t count, pte_attention_row *row);

/* The keys of a tile that a row sees: low .. high - 1. */
typedef struct pte_attention_sight {
  int64_t low, high;
} pte_attention_sight;

/* Of several rows: what any sees is within low .. high - 1, what all see is begin .. end - 1;
 * nothing: the tile's end twice. high is 0 where no row sees a key. */
typedef struct pte_attention_shared {
  int64_t low, begin, end, high;
} pte_attention_shared;
pte_attention_shared pte_attention_meet(const pte_attention_sight *see, int64_t rows);

#endif
