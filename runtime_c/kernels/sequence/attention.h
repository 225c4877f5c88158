/* What attention.c fixes once a run and every variant of the inner loops reads. */
#ifndef PTE_ATTENTION_H
#define PTE_ATTENTION_H

#include "gen/ops.h"

enum {
  PTE_ATTENTION_TILE = 64,  /* keys; a part of the meaning: the tiles lie at absolute positions */
  PTE_ATTENTION_STRIP = 6,  /* query rows of one register tile */
  PTE_ATTENTION_ROWS = 198, /* query rows of one item at most; a multiple of the strip */
  PTE_ATTENTION_LANES = 16, /* columns of a register tile */
  PTE_ATTENTION_WAVE = 32,  /* tiles of an item that threads share, until they are merged */
  PTE_ATTENTION_PART = 4    /* of them, one thread's at a time */
};

/* Of one query row. Its keys are low .. high - 1, apart from the mask, which lies at element
 * `mask`.
 */
typedef struct pte_attention_row {
  int64_t low, high, mask, position, head;
  float *y;
} pte_attention_row;

/* Rows of queries that share a key head: row r is query r % queries of head group * per_group + r /
 * queries. */
typedef struct pte_attention {
  const pte_call *call;
  const pte_attention_attrs *attrs;
  const pte_tensor *q, *k, *v, *mask;
  const pte_tensor *k_scale, *v_scale; /* a number a key each; NULL: none */
  const float *slope, *sink;           /* a number a head each; NULL: neither */
  int64_t rows, queries, keys, d, e, e_padded, per_group, groups;
  int64_t most; /* keys that may count: those there is room for, in a ring as many as it says */
  int64_t items_per_group, rows_per_item; /* items: (batch, group, rows) */
  int64_t staged;         /* elements of a tile's keys that are widened before they are laid out */
  bool panels;            /* keys lie as [keys / 16][d][16], not as [keys][d] */
  uint64_t scratch_bytes; /* of one thread */
  bool shared;            /* an item's tiles are shared by threads, and merged in order when all are
                             done: the same sums. A wave begins at tile `wave`, */
  int64_t wave, strips;   /* a tile has `strips` of `slot` floats: (m, l, o) of up to six rows */
  int64_t slot;
  float *tiles, *kept; /* [items][WAVE][strips][slot], and (m, l) of each item's rows */
} pte_attention;

#endif
