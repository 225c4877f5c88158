/* Convolutions of quantized values: what those of int8 and int16 share.
 *
 *     y[b, o, n] = rescale(bias[n] + sum over taps t, then channels c of the group, of
 *                          x[b, o * stride + t * dilation - begin, c] * w[n, t, c])
 *
 * x and y dense, channels last; w int8 in panels [n/16][k/4][16][4] of each group, of all of them
 * together where each is a channel; no aliasing. Padding, and what spreads x, is x_zero.
 *
 * A block of windows is gathered into rows of K elements (im2col, a block at a time), unless they
 * are such rows in x, and each panel then passes over them while they are in the cache. Depthwise,
 * channels are multiplied as they lie in a pixel. */
#ifndef PTE_CONV_QUANTIZED_PLAN_H
#define PTE_CONV_QUANTIZED_PLAN_H

#include "core/watch.h"
#include "gen/ops.h"
#include "kernels/gemm_int8/gather.h"
#include "kernels/requantize/rescale.h"
#include "kernels/window/conv_gather.h"

/* A machine with some tens of KB of memory, where code is dear. Its variants want no rows of zeros
 * and nothing around a task's products. */
#ifdef PTE_SMALL_BUFFERS
enum { PTE_CONV_SMALL = 1 };
#else
enum { PTE_CONV_SMALL = 0 };
#endif

typedef struct pte_conv_element pte_conv_element;

/* Attributes that all have. */
typedef struct pte_conv_numbers {
  int64_t groups;
  int32_t x_zero, y_zero, low, high;
} pte_conv_numbers;

#define PTE_CONV_NUMBERS(a)                                                                        \
  ((pte_conv_numbers){(a)->groups, (int32_t)(a)->x_zero, (int32_t)(a)->y_zero, (int32_t)(a)->low,  \
                      (int32_t)(a)->high})

/* How a convolution is divided: what its kernel keeps, as the beginning of the element type's own
 * plan. Behind that are the columns of all panels, and depthwise weights as variants take them. */
typedef struct pte_conv_plan {
  const pte_call *call;
  const pte_conv_element *element;
  pte_conv_numbers numbers;
  pte_conv_window w;
  size_t groups, rows, columns, channels, depth, quads, panels; /* but for rows, of one group */
  size_t block_rows, row_blocks, column_blocks;
  size_t row_bytes;
  uint64_t line_bytes, share_bytes; /* depthwise: a line is in front of the shares */
  uint64_t settled_bytes; /* of a share, its end: columns, and of which panels they are there */
  uint64_t weight_bytes, column_bytes;
  bool odd_sets; /* column blocks are of whole panels, not of sets of them */
  bool matrix;   /* rows of x are rows of a matrix, */
  bool in_place; /* which are read there */
  bool depthwise;

  /* What `open` of the element type says; 0 before. */
  bool as_is;          /* rows that need no filling up may be read in x */
  bool settles;        /* a thread has columns of its own from its first block on */
  uint8_t most_panels; /* that pass over a block together */
  uint8_t widened;     /* bytes of an element of a row */
  uint8_t unit_rows;   /* of which each block but the last has a multiple */
  uint8_t zeros;       /* 1: a row of zeros stands before each block */
  uint8_t more_rows;   /* bytes of so many are in a block for that, and for what follows its rows */
  uint16_t plan_bytes; /* of its plan */
  size_t set_bytes;    /* depthwise: of a set's weights */
  void (*enter)(void); /* around the products of a task; NULL: nothing */
  void (*leave)(void);
} pte_conv_plan;

/* Rows of a group that all panels pass over. */
typedef struct pte_conv_block {
  size_t group, first, rows; /* first: row of y */
  bool fresh;                /* no panel has passed over them */
  char *share;               /* the thread's */
  char *x;                   /* `rows` of them, row_bytes apart; those of zeros stand before */
} pte_conv_block;

/* Convolutions of groups of one channel and one column each, which variants take a set of channels
 * at a time. */
typedef struct pte_conv_taps {
  size_t set;  /* channels */
  size_t more; /* pointers that follow those of the taps, to where the last one reads */
  /* Lays out weights of channels first .. first + count, of one set. */
  void (*lay)(const pte_conv_plan *p, size_t first, size_t count);
  /* Channels first .. end of pixels side by side, whose taps lie `step` elements further each; y is
   * the first pixel. */
  void (*run)(const pte_conv_plan *p, size_t first, size_t end, const void *const *tap,
              size_t pixels, size_t step, char *y);
  /* All of y where these windows have a way of their own, else false; `zeros`: a pixel of x_zero.
   * NULL: none have. */
  bool (*lines)(const pte_conv_plan *p, const void *zeros);
} pte_conv_taps;

/* What differs between element types. */
struct pte_conv_element {
  size_t bytes; /* of an element of x and y */
  /* Picks variants, for shapes that are in the plan. */
  void (*open)(pte_conv_plan *p);
  /* Rows in the variant's form, filled up with zeros to a multiple of 4 elements. */
  void (*gather)(const pte_conv_plan *p, const pte_gather *gather);
  /* Completes columns of which bias, multiplier, zero, low and high are there. */
  void (*complete)(const pte_conv_plan *p, pte_rescale_columns *columns, const int8_t *shifts);
  /* y of a block and `count` panels from `panel` on; false: the run is to end. */
  bool (*panels)(const pte_conv_plan *p, pte_pace *pace, const pte_conv_block *b, size_t panel,
                 size_t count);
  const pte_conv_taps *taps;
};

/* Of conv_quantized.c: columns of `count` panels of a group, from `panel` on: those that are kept,
 * or `own`, filled. */
const pte_rescale_columns *pte_conv_columns(const pte_conv_plan *p, size_t group, size_t panel,
                                            size_t count, pte_rescale_columns *own);

/* Columns `column` .. + `count` of all groups, of one panel. */
void pte_conv_columns_read(const pte_conv_plan *p, size_t column, size_t count,
                           pte_rescale_columns *c);

static inline size_t pte_conv_zeros(const pte_conv_plan *p) {
  return PTE_CONV_SMALL ? 0 : p->zeros;
}

static inline pte_conv_gather pte_conv_gather_of(const pte_conv_plan *p) {
  return (pte_conv_gather){&p->w, p->channels, p->element->bytes, p->numbers.x_zero};
}

static inline pte_rescale_columns *pte_conv_kept_columns(const pte_conv_plan *p) {
  return pte_call_behind(p->call, p->plan_bytes);
}
static inline void *pte_conv_kept_weights(const pte_conv_plan *p) {
  return (char *)pte_conv_kept_columns(p) + p->column_bytes;
}

static inline pte_rescale_columns *pte_conv_settled(const pte_conv_plan *p, char *share) {
  return (void *)(share + p->share_bytes - p->settled_bytes);
}
static inline char *pte_conv_there(const pte_conv_plan *p, char *share) {
  return (char *)(pte_conv_settled(p, share) + p->panels);
}

#endif
