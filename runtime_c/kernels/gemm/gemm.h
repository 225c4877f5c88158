/* f32 matrix product over weights in panels of 16 output columns: the blocking shared by matmul,
 * conv and batch_matmul.
 *
 * out[m][n] = sum over k of a[m][k] * w[n][k], finished (kernels/gemm/finish.h), each a
 * sequential chain of pte_fma over k from +0. K is `taps` times `run`: a row of `a` is given by one
 * address a tap, each good for `run` elements; a plain matrix has one tap. Groups are independent
 * products side by side: group g owns columns g * columns .. and its own panels. Blocks, variants
 * and threads choose only the order of tiles and where a partial sum rests, so they cannot change a
 * bit. */
#ifndef PTE_GEMM_H
#define PTE_GEMM_H

#include "core/kept.h"
#include "kernels/gemm/epilogue.h"
#include "kernels/gemm/finish.h"
#include "kernels/gemm/gemm_cut.h"
#include "kernels/gemm/gemm_f32.h"

/* Rows first .. first + count of a group, asked for by the driver. The address of tap t of row r
 * goes to pte_gemm_slot(rows, r)[t * PTE_STRIP]. */
typedef struct pte_gemm_rows {
  size_t group, first, count, taps;
  const float **table;
  float *copy; /* count * copy_floats floats of scratch, to hold rows that lie nowhere in memory */
  pte_pace *pace;
} pte_gemm_rows;

/* Rows first .. first + count of a group, all in one line, asked for by the driver. */
typedef struct pte_gemm_piece {
  size_t group, first, count;
  bool follows; /* the rows before were the piece before, and lie where room ends */
  float *room;  /* for rows that lie nowhere; moves behind what is laid out there */
  pte_pace *pace;
} pte_gemm_piece;

/* Rows that lie evenly, `width` of them in a line: row m of a line begins m * row_stride behind its
 * first, and has `taps` runs of `run`, tap_stride apart, in the order of K. `piece` says where the
 * first of a piece begins. NULL: the run is to end. width 0: rows do not lie so. */
typedef struct pte_gemm_lines {
  size_t width, taps, run, row_stride, tap_stride;
  size_t
      piece_floats; /* of `room`, at most, for a piece of up to GEMM_ROWS rows (kernels/blocks.h) */
  const float *(*piece)(const void *source, pte_gemm_piece *piece);
} pte_gemm_lines;

/* false: the run is to end. */
typedef bool pte_gemm_fill(const void *source, const pte_gemm_rows *rows);

/* Where weights come from: the address of rows k .. k + count of a panel (panels are numbered
 * through all groups), in place or decoded into `block`, which has room for `count` <=
 * GEMM_DEPTH rows (kernels/blocks.h). */
typedef const float *pte_panel_read(const void *self, size_t panel, size_t k, size_t count,
                                    float *block);

/* few->out[m][16 count] = `few->rows` <= PTE_FEW_STORED rows times `count` panels from `panel` on,
 * before they are finished. false: there are weights that it does not take; `out` is undefined. */
typedef bool pte_panels_few(const void *self, size_t panel, size_t count, const pte_few_f32 *few);

#if PTE_HAVE_AVX2 || PTE_HAVE_NEON
#define PTE_FLOATS PTE_STORED_KEPT /* a variant of panel_decode has `few` */
#else
#define PTE_FLOATS false
#endif

typedef struct pte_panels {
  pte_panel_read *read;
  pte_panels_few *few; /* NULL: the variant has none, or not of this format */
  const void *self;
  bool decoded; /* read writes `block`; else panels lie in place one behind the other */
  bool floats;  /* of a format that some variant has `few` of */
} pte_panels;

typedef struct pte_gemm {
  size_t groups, rows, columns, taps, run; /* columns, taps and run of one group */
  pte_gemm_fill *fill;
  const void *source;
  size_t copy_floats; /* of one row */
  pte_gemm_lines lines;
  pte_panels panels;
  pte_gemm_cut cut;
  pte_finish_f32 finish; /* columns count through all groups */
  float *out;            /* rows out_stride apart; aliases nothing else */
  size_t out_stride;
  const pte_tensor
      *place; /* NULL, or where blocks are put instead: a tensor whose rows are not even */
  const pte_engine *epilogue; /* NULL: none; runs over each block when it is complete */
  pte_watch *watch;           /* the call's */
} pte_gemm;

/* Constant in builds that keep no stored format. */
static inline bool pte_gemm_decodes(const pte_gemm *g) {
  return PTE_STORED_KEPT && g->panels.decoded;
}

enum { PTE_GEMM_LONG = 2048 }; /* K of a tile, at most: 6 * 64 * 2048 steps are under PTE_CHUNK */

/* Sets out, out_stride and place for rows x columns of `y`, dense or not. */
void pte_gemm_put(pte_gemm *g, const pte_tensor *y);

/* Bytes of scratch that pte_gemm_run needs; reads groups, rows, taps, copy_floats, place,
 * panels.decoded, panels.floats and cut. false: they do not fit in 64 bits. */
bool pte_gemm_scratch(const pte_gemm *g, uint32_t threads, uint64_t *out_bytes);

/* Computes all, on the call's pool, in the call's scratch from `scratch` on (64-byte aligned). */
void pte_gemm_run(const pte_call *call, const pte_gemm *g, void *scratch);

/* Computes a part of one group in the calling thread, into `out`, without the epilogue; `scratch`
 * is one thread's share, `cpu` that of the call. */
void pte_gemm_part(const pte_gemm *g, uint32_t cpu, void *scratch, size_t group,
                   const size_t rows[2], const size_t panels[2]);

/* Walks the places of rows in the pointer table, in order. */
typedef struct pte_gemm_walk {
  const float **slot;
  size_t step, rows, longer, row; /* rows of a strip, or one more where it is one of the longer */
} pte_gemm_walk;

static inline pte_gemm_walk pte_gemm_walk_begin(const pte_gemm_rows *rows) {
  const size_t strips = rows->count > 0 ? pte_strips(rows->count) : 1;
  return (pte_gemm_walk){rows->table, PTE_STRIP * rows->taps, rows->count / strips,
                         rows->count % strips, 0};
}
static inline const float **pte_gemm_walk_next(pte_gemm_walk *walk) {
  if (walk->row == walk->rows + (walk->longer > 0)) {
    walk->slot += walk->step, walk->row = 0;
    walk->longer -= walk->longer > 0;
  }
  return walk->slot + walk->row++;
}

#endif
