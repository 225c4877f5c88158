/* Kernel variants: the same function for different processors, with the same bits. A family is a
 * struct of functions; kernels/<folder>/<family>__<isa>.c defines one variant, gen/variants.inc
 * lists them, best first. */
#ifndef PTE_VARIANTS_H
#define PTE_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cpu.h"

#define PTE_CPU_ANY 0u /* in a row of gen/variants.inc: needs no feature (PTE_CPU_*) */

#if PTE_HAVE_AVX512
#define PTE_PARTS true /* a variant of gemm_f32 has `parts` */
#else
#define PTE_PARTS false
#endif
#if PTE_HAVE_AVX2 || PTE_HAVE_NEON
#define PTE_FLOATS PTE_STORED_KEPT /* a variant of panel_decode has `few` */
#else
#define PTE_FLOATS false
#endif

/* Every family, once. */
#define PTE_FAMILIES(FAMILY)                                                                       \
  FAMILY(pointwise)                                                                                \
  FAMILY(code_table)                                                                               \
  FAMILY(rows_f32)                                                                                 \
  FAMILY(gemm_f32)                                                                                 \
  FAMILY(depthwise_f32)                                                                            \
  FAMILY(winograd_f32)                                                                             \
  FAMILY(attention_f32)                                                                            \
  FAMILY(blend_f32)                                                                                \
  FAMILY(recurrent_f32)                                                                            \
  FAMILY(pool_f32)                                                                                 \
  FAMILY(panel_decode)                                                                             \
  FAMILY(gemm_blocks)                                                                              \
  FAMILY(gemm_static)                                                                              \
  FAMILY(codes_i8)                                                                                 \
  FAMILY(gemm_i16)

enum {
  PTE_ROW_BLOCK = 64,    /* columns that are reduced side by side */
  PTE_PANEL = 16,        /* output columns of a weight panel */
  PTE_STRIP = 6,         /* rows of a register tile, and the row stride of a pointer table */
  PTE_SPAN = 7,          /* rows of a part of a tile, at most */
  PTE_FEW = 14,          /* rows that read each weight once, at most, */
  PTE_FEW_STORED = 8,    /* and of weights that are decoded on the way */
  PTE_ADDENDS = 2,       /* of a finish */
  PTE_ABREAST = 4,       /* panels of a register tile, at most */
  PTE_TALL = 12,         /* rows of a tile of int8 in vector registers, at most, */
  PTE_BESIDE = 2,        /* and panels of any */
  PTE_TILE_QUADS = 2048, /* of four products, of a tile of int8 */
#if PTE_HAVE_AMX
  PTE_SUMS = 64 /* rows times panels of a tile of int8, at most */
#elif PTE_HAVE_NEON
  PTE_SUMS = 2 * PTE_TALL * PTE_BESIDE
#else
  PTE_SUMS = PTE_TALL * PTE_BESIDE
#endif
};

/* Members of a pte_gemm_static that only matmul_turned calls. */
#ifdef PTE_WITHOUT_MATMUL_TURNED
#define PTE_TURNED_MEMBERS(turn_name, codes_name, scaled_name) .turn = NULL, .scaled = NULL
#else
#define PTE_TURNED_MEMBERS(turn_name, codes_name, scaled_name)                                     \
  .turn = turn_name, .codes = codes_name, .scaled = scaled_name
#endif

struct pte_engine; /* kernels/pointwise/pointwise.h */
struct pte_form;   /* kernels/pointwise/forms.h */
struct pte_pace;   /* core/watch.h */

typedef struct pte_pointwise {
  /* Runs elements begin .. end (flat) with the registers at `registers`. `y`, if not NULL, is where
   * operand 0 and output 0 have element `begin`. Returns the position of the first integer division
   * by zero, or -1. */
  int64_t (*run)(const struct pte_engine *engine, void *registers, float *y, int64_t begin,
                 int64_t end);
  /* These four are NULL where they are not in this build. A form says what codes are: QUANTIZE of
   * kernels/pointwise/forms.h, and DEQUANTIZE; they have 1 or 2 bytes. */
  void (*to_codes)(const struct pte_form *form, size_t n, const float *x, void *y);
  void (*from_codes)(const struct pte_form *form, size_t n, const void *x, float *y);
  /* y[i * planes + p] = code of x[p * apart + i], of one byte, i < n <= PTE_TILE, in
   * 2 .. PTE_PLANES planes */
  void (*side_by_side)(const struct pte_form *form, size_t planes, size_t n, const float *x,
                       size_t apart, uint8_t *y);
  /* y[c * y_row + r] = x[r * x_row + c] of codes */
  void (*turn)(bool words, size_t rows, size_t columns, const void *x, size_t x_row, void *y,
               size_t y_row);
} pte_pointwise;

typedef struct pte_code_table {
  /* y[i] = table[x[i]], i < n; y may be x */
  void (*recode)(const uint8_t *table, size_t n, const uint8_t *x, uint8_t *y);
} pte_code_table;

/* Rows of `n` elements, dense: y = (x - mean) / sqrt(mean of its squares + epsilon) * gain + bias;
 * not `centred`: the mean is 0. gain, bias, y, and mean and scale, of a row each, may be NULL. */
typedef struct pte_norm {
  int64_t rows, n;
  const float *x, *gain, *bias;
  float epsilon, *y, *mean, *scale; /* scale: 1 / sqrt(variance + epsilon) */
  bool centred;
} pte_norm;

/* Sums in 16 lanes: element i belongs to lane i mod 16. `kind`: PTE_REDUCE_KIND_... (mean sums). */
typedef struct pte_rows_f32 {
  /* These three look at the run's watch; false: the run is to end. y[n] dense; x may be y where
   * step is 1 */
  bool (*softmax)(struct pte_pace *pace, int64_t n, const float *x, int64_t step, float *y,
                  bool log);
  bool (*layer_norm)(struct pte_pace *pace, const pte_norm *norm);
  bool (*rms_norm)(struct pte_pace *pace, const pte_norm *norm);
  /* Joins x[n] into lanes[16], x[0] into lane `phase`; `tree` joins the lanes. */
  void (*fold)(uint32_t kind, int64_t n, const float *x, int64_t phase, float *lanes);
  float (*tree)(uint32_t kind, float *lanes);
  /* The same for up to PTE_ROW_BLOCK columns side by side, rows `step` apart:
   * lanes[16][PTE_ROW_BLOCK]. */
  void (*fold_columns)(uint32_t kind, int64_t n, const float *x, int64_t step, int64_t columns,
                       int64_t phase, float *lanes);
  void (*tree_columns)(uint32_t kind, float *lanes); /* all PTE_ROW_BLOCK of them */
} pte_rows_f32;

/* What happens to a finished sum, in this order; kernels/gemm/finish.h says more. */
typedef struct pte_finish_f32 {
  const float *add[PTE_ADDENDS];  /* NULL: none; else the element for row 0, column 0 */
  size_t add_stride[PTE_ADDENDS]; /* between rows; 0: one row for all */
  float low, high;
  bool at_least, at_most; /* low, high count */
} pte_finish_f32;

/* Register tiles one below the other: out[rows][16 * panels] (+)= sum over taps t, then i < run, of
 * row[t * PTE_STRIP + m][offset + i] * panel[p][(t * tap_stride + i) * 16 + n], sequential and
 * fused. The next strip's addresses are strip_step behind those of this one, its rows in out and
 * finish follow. */
typedef struct pte_tile_f32 {
  const float *const *row; /* [taps][PTE_STRIP] */
  size_t strips, strip_step;
  size_t taps, tap_stride, offset, run;
  const float *panel[PTE_ABREAST]; /* 64-byte aligned */
  float *out;                      /* 16 columns a panel are read and written; aliases nothing */
  size_t out_stride;
  const float *ask; /* NULL, or weights to come: each strip asks for `share` lines of them */
  size_t share;
  const pte_finish_f32 *finish; /* NULL: the sum goes on */
  unsigned missing;             /* columns of the last panel that do not exist; see `unit` */
  bool first;                   /* the sum starts at +0 and not at the partial sum in out */
} pte_tile_f32;

/* Rows of a tile that lie evenly, in two parts: row m of part i begins at x[i] + m * row_stride and
 * is row row[i] + m of out and finish. The first part has half of the rows, rounded up. */
typedef struct pte_pair_f32 {
  const float *x[2];
  size_t row[2], rows;
} pte_pair_f32;

/* Whether a tile of two panels has time to ask for weights to come. */
static inline bool pte_pair_asks(const pte_pair_f32 *t) { return t->rows >= 4; }

/* Tiles of such rows, the weights of all taps one behind the other. */
typedef struct pte_parts_f32 {
  size_t offset, row_stride, taps, tap_stride, run; /* offset: of the first tap in a row */
  const float *panel[2];                            /* 64-byte aligned */
  const float *ask;       /* of the first panel to come: asked for at first, */
  size_t further, beyond; /* with each step of K so many bytes further; 0: nothing is; and with each
                             tile that asks so many floats */
  float *out;
  size_t out_stride;
  const pte_finish_f32 *finish; /* NULL: the sum goes on */
  unsigned missing;
  bool first;
} pte_parts_f32;

/* Few rows times panels, whole sums. */
typedef struct pte_few_f32 {
  const float *x, *panel; /* rows row_stride apart; panels one behind the other; stored ones NULL */
  size_t rows, row_stride, depth, panels;
  float *out;
  size_t out_stride;
  const pte_finish_f32 *finish;
  unsigned missing; /* columns of the last panel that do not exist */
} pte_few_f32;

typedef struct pte_gemm_f32 {
  /* rows in 1..PTE_STRIP; panels is 1, abreast[rows] or abreast[rows + 1] */
  void (*tile)(size_t rows, size_t panels, const pte_tile_f32 *tile);
  /* `count` tiles of 1..2 * PTE_SPAN rows and one or two panels; knows `missing`. NULL: there is
   * none; builds without PTE_PARTS have none at all. */
  void (*parts)(size_t panels, const pte_parts_f32 *tiles, const pte_pair_f32 *pair, size_t count);
  /* 2 .. PTE_FEW rows times pairs begin .. end of panels: pair i is i and i + panels / 2, the last
   * panel of an odd number a pair of its own; knows `missing`. NULL: as `parts`. */
  void (*few)(const pte_few_f32 *few, size_t begin, size_t end);
  /* y[panels][16] = panels times x[k], whole sums */
  void (*vector)(size_t k, size_t panels, const float *x, const float *panel, float *y);
  uint8_t unit; /* knows a `missing` that is a multiple of this; else a strip goes through copies */
  uint8_t abreast[PTE_STRIP + 1]; /* panels side by side that keep a tile of so many rows busy */
} pte_gemm_f32;

/* Depthwise sums of pixels side by side: out[m][c] = sum over lines l, then t < taps, of
 * line[l][(m * stride + t * dilation) * step[l] + c] * weight of tap l * taps + t, for c in first
 * .. end, sequential and fused. */
typedef struct pte_depthwise_row_f32 {
  const float *const *line;
  const size_t *step; /* floats from pixel to pixel; 0: all of it is padding */
  ptrdiff_t
      column;   /* of pixel 0's first tap, for `whole`: -1 or more; `row` begins line[l] there */
  size_t width; /* columns that there are, for `whole`: no tap is more than one behind them */
  size_t lines, taps, stride, dilation; /* taps: of a line; stride, dilation: in pixels */
  size_t pixels, first, end;            /* first: a multiple of 16 */
  const float *weight;                  /* [c / 16][lines * taps][16], 64-byte aligned */
  const pte_finish_f32 *finish;         /* from channel 0 on, as out */
  float *out;                           /* aliases nothing */
  size_t out_stride;
} pte_depthwise_row_f32;

enum { PTE_WHOLE = 4 }; /* pixels of a whole line, at least */

typedef struct pte_depthwise_f32 {
  void (*row)(const pte_depthwise_row_f32 *row);
  /* The same of a line with its edges: three taps, dilation 1, stride 1 or 2, channels a multiple
   * of `unit`. NULL: there is none. */
  void (*whole)(const pte_depthwise_row_f32 *row);
  uint8_t unit;
} pte_depthwise_f32;

/* Where a tile of up to 4 x 4 pixels goes; `y`, `finish` and their rows are those of its first. */
typedef struct pte_winograd_tile {
  const float *m; /* 36 sums a channel, `step` apart */
  size_t step, rows, columns;
  float *y;
  size_t stride, width; /* floats from pixel to pixel; pixels from line to line */
  const pte_finish_f32 *finish;
} pte_winograd_tile;

/* Winograd's F(4 x 4, 3 x 3) of channels first .. end, multiples of 16. */
typedef struct pte_winograd_f32 {
  /* v[e * step + c], e < 36, of 6 x 6 pixels: their addresses, row by row */
  void (*forward)(const float *const *pixel, size_t first, size_t end, float *v, size_t step);
  void (*back)(const pte_winograd_tile *tile, size_t first, size_t end);
} pte_winograd_f32;

struct pte_attention; /* kernels/sequence/attention.h */

typedef struct pte_attention_f32 {
  /* one block of query rows that share a key head; `scratch` is the thread's */
  void (*item)(const struct pte_attention *a, int64_t item, float *scratch);
  /* the same where threads share its keys: a part of a wave's tiles, and what they gave, merged */
  void (*part)(const struct pte_attention *a, int64_t item, int64_t part, float *scratch);
  void (*merge)(const struct pte_attention *a, int64_t item, float *scratch);
} pte_attention_f32;

typedef struct pte_blend_f32 {
  /* y[j][c] = sum over t of weight[j][t] * x[offset[j][t] + c], sequential and fused from +0;
   * j < pixels, t < taps, c < count; nothing aliases y. Looks at the run's watch between taps;
   * false: the run is to end */
  bool (*line)(struct pte_pace *pace, int64_t pixels, int64_t taps, const int64_t *offset,
               const float *weight, int64_t count, const float *x, float *y);
} pte_blend_f32;

/* kind: PTE_ACTIVATION_... */
typedef struct pte_activation {
  uint32_t kind;
  float alpha, beta;
} pte_activation;

typedef struct pte_recurrent_f32 {
  /* x = activation(clipped x); clip 0: none */
  void (*activate)(const pte_activation *how, float clip, int64_t count, float *x);
  /* y = fma(a, b, c * d); y may be one of them */
  void (*mix)(int64_t count, const float *a, const float *b, const float *c, const float *d,
              float *y);
  void (*scale_add)(int64_t count, const float *a, const float *b, float *y); /* y = fma(a, b, y) */
} pte_recurrent_f32;

typedef struct pte_pool_f32 {
  /* y[c] = y[c] + x[offset[t] + c], or the larger of the two (NaN where either is), over t < taps
   * in order, c < count; nothing aliases y */
  void (*sum)(int64_t taps, const int64_t *offset, int64_t count, const float *x, float *y);
  void (*larger)(int64_t taps, const int64_t *offset, int64_t count, const float *x, float *y);
} pte_pool_f32;

typedef struct pte_panel_decode {
  /* a pte_panel_read (kernels/gemm/gemm.h) of a pte_stored (kernels/gemm/panel_decode.h) */
  const float *(*read)(const void *self, size_t panel, size_t k, size_t count, float *block);
  /* a pte_panels_few of one whose codes are `floats`; NULL: there is none */
  bool (*few)(const void *self, size_t panel, size_t count, const pte_few_f32 *few);
} pte_panel_decode;

struct pte_stored;  /* kernels/gemm/panel_decode.h */
struct pte_rows_i8; /* kernels/gemm_int8/gemm_blocks.h */

typedef struct pte_gemm_blocks {
  /* out[rows][16 count] = rows of x times panels from `panel` on; rows in 1 .. most_rows; nothing
   * aliases out */
  void (*panels)(const struct pte_stored *w, const struct pte_rows_i8 *x, size_t rows, size_t panel,
                 size_t count, float *out, size_t out_stride);
  /* pte_i8_quantize of kernels/gemm_int8/gemm_blocks.h */
  void (*quantize)(size_t depth, const float *x, float factor, int32_t bias, int8_t *code,
                   float *step, int32_t *start);
  /* what a format's integers are too large by where they are multiplied; NULL: nothing */
  int32_t (*bias)(uint32_t format);
  uint8_t most_rows;
} pte_gemm_blocks;

#if defined(__x86_64__)
#define PTE_WHOLE_LINES _Alignas(64) /* what a vector of 64 bytes reads in one piece */
#else
#define PTE_WHOLE_LINES
#endif

/* What follows the sums of 16 columns; kernels/requantize/rescale.h fills it and says what `narrow`
 * is.
 */
typedef struct pte_rescale_columns {
  PTE_WHOLE_LINES int32_t bias[PTE_PANEL];
  int32_t multiplier[PTE_PANEL];
  int32_t down[PTE_PANEL], add[PTE_PANEL]; /* shift - 32; of narrow ones, what rounds */
  int32_t zero, low, high;
  bool narrow;
} pte_rescale_columns;

/* Windows of an image as rows of a product: window i, from x + i * step on, is `lines` pieces of
 * `bytes`, `pitch` apart, and becomes one row. */
typedef struct pte_gather_i8 {
  const int8_t *x;
  size_t windows, step, lines, bytes, pitch;
  void *to; /* rows, row_bytes apart, which are a multiple of 64 */
  size_t row_bytes;
} pte_gather_i8;

/* One register tile: start + sum over q < quads, i < 4 of x[m][4q + i] * panel[p][(16q + n) * 4 +
 * i] for columns n of panels p. */
typedef struct pte_tile_i8 {
  const char *x;       /* rows as `gather` leaves them */
  const int8_t *panel; /* 64-byte aligned */
  size_t quads, row_bytes, panel_bytes;
  const int8_t *next; /* what is read later, to be asked for `next_step` bytes further each quad */
  size_t next_step, next_panel; /* 0, or the same so much further */
  const int32_t *start;
  size_t start_row, start_panel;      /* between rows and panels of `start` */
  const pte_rescale_columns *columns; /* a panel each, narrow ones; NULL: sums go to `sum` */
  int32_t (*sum)[PTE_PANEL];          /* [rows][panels][16]; may be `start` */
  int8_t *y;                          /* dense in a row, aliases nothing */
  size_t y_stride, lanes;             /* lanes in 1..16: columns of the last panel that exist */
  const uint32_t *peaks, *pairs;      /* what the functions of these names say, where there are */
} pte_tile_i8;

/* What follows the sums of a tile of matmul_turned: y = finish(f32(sum) * (x_scale * w_scale)). */
typedef struct pte_scaled_i8 {
  const int32_t (*sum)[PTE_PANEL]; /* [rows][panels][16] */
  const float *x_scale, *w_scale;  /* a row each; a column each, 16 of each panel */
  const pte_finish_f32 *finish;    /* as seen from the first element */
  float *y;
  size_t y_stride, lanes; /* lanes in 1..16: columns of the last panel that exist */
} pte_scaled_i8;

/* A depthwise convolution of int8. */
typedef struct pte_taps_i8 {
  size_t taps, channels;              /* channels: of a pixel */
  const pte_rescale_columns *columns; /* a panel each, of channels up to a multiple of 64 */
  char *weight; /* what `lay` makes: PTE_TAPS_BYTES(taps) for 64 channels, 64-byte aligned */
  bool walk;    /* for `walk`: nine taps, three lines of three */
} pte_taps_i8;

/* Outputs side by side of windows of 3 by 3: output i reads columns i * stride .. + 3 of each line.
 * Columns from .. to exist, `from` lies at line[l], others step[l] further each (0: all of it is
 * padding); the rest reads `zeros`, which are as many as channels. */
typedef struct pte_walk_i8 {
  const int8_t *line[3], *zeros;
  size_t step[3];
  int64_t from, to;
  size_t outputs, stride; /* 1 or 2 */
  int8_t *y;
} pte_walk_i8;

#define PTE_TAPS_BYTES(taps) (((taps) + 3) / 4 * 512 + 1088)

/* int8 times int8, summed in int32 that wraps: exact where the sum fits. */
typedef struct pte_gemm_static {
  /* Rows in the variant's own form, filled up with zeros to a multiple of 4 elements of at most two
   * bytes. */
  void (*gather)(const pte_gather_i8 *gather);
  /* pte_rescale_complete */
  void (*columns)(pte_rescale_columns *columns, const int8_t *shifts);
  /* Where the form of x adds to sums: row 0 of a tile is one of zeros, which sums that alone. It
   * leaves `start`, of all panels `start_panel` apart, which then joins the rows after it. NULL: it
   * adds nothing. */
  void (*settle)(size_t rows, size_t panels, int32_t *start, size_t start_panel,
                 int32_t (*sum)[PTE_PANEL]);
  void (*tile)(size_t rows, size_t panels, const pte_tile_i8 *tile); /* in 1..most */
  /* y of a row's sums of a panel, any columns (pte_rescale_lift); NULL: pte_rescale_row */
  void (*wide)(const int32_t *sum, const pte_rescale_columns *columns, size_t lanes, int8_t *y);
  /* Around the tiles of a task: registers that the thread has only between them; NULL: none */
  void (*enter)(void);
  void (*leave)(void);
  /* Weights of channels first .. first + count, of 1 to 64, first a multiple of 64, whose panels
   * are at `codes`: pte_tap_codes */
  void (*lay)(const pte_taps_i8 *t, size_t first, size_t count, const int8_t *codes);
  /* Pixels i side by side: y[i * channels + c] = rescaled bias[c] + sum over taps t of tap[t][i *
   * step + c] * weight, for c in first .. end, first as above; up to three pointers follow the
   * last, alike */
  void (*taps)(const pte_taps_i8 *t, size_t first, size_t end, const int8_t *const *tap,
               size_t pixels, size_t step, int8_t *y);
  /* The same of such windows, for channels first .. end; NULL: there is none */
  void (*walk)(const pte_taps_i8 *t, size_t first, size_t end, const pte_walk_i8 *walk);
  /* What is faster for many rows, where most elements are not far above -128, or not far from 0:
   * NULL, it is this. */
  const struct pte_gemm_static *low, *near;
  /* Where sums of products must fit 16 bits: for every eight elements along K, of the rows of a
   * tile and of a panel, factors of a bound, in the low half of four products, above it of two.
   * Peaks begin with what a tile takes off each of most_rows rows; up to a multiple of eight there
   * is room for factors. NULL: they need not. */
  void (*peaks)(size_t rows, size_t quads, const char *x, size_t row_bytes, uint32_t *peaks);
  void (*pairs)(size_t quads, const int8_t *panel, uint32_t *pairs);
  /* pte_turned_row, pte_row_codes and pte_scaled_tile of kernels/rotate/rotate_rows.h */
  uint32_t (*turn)(size_t depth, const float *x, float *to);
  void (*codes)(size_t count, const float *x, uint32_t largest, int8_t *code, float *scale);
  void (*scaled)(const pte_scaled_i8 *scaled, size_t rows, size_t panels);
  /* tile and scaled at once, of most_rows by most_panels panels whose columns all exist, from one
   * start for all rows, with a finish without limits, and the same of strips that follow, `strips`
   * together; settle, too, of a single strip, where it is not NULL: where that leaves `start`.
   * NULL: there is none */
  void (*turned)(const pte_tile_i8 *tile, const pte_scaled_i8 *scaled, size_t strips,
                 int32_t (*settle)[PTE_PANEL]);
  uint8_t most_rows, most_panels; /* at most PTE_BESIDE panels, PTE_SUMS together */
  uint8_t widened;                /* bytes of an element of a row */
} pte_gemm_static;

/* Of a tile's rows. */
static inline size_t pte_peaks_count(const pte_gemm_static *kernel, size_t quads) {
  return kernel->peaks == NULL ? 0 : kernel->most_rows + (quads + 15) / 16 * 8;
}

/* An addend of add_i8 whose shift lanes allow (kernels/pointwise/codes_i8.h). */
typedef struct pte_addend_i8 {
  int32_t zero, multiplier, add, down; /* down: shift - 10 */
} pte_addend_i8;

/* Both addends and the sum's factor as one line of products (the same file). */
typedef struct pte_add_near {
  int32_t high, low; /* factors / 256 and what is left: a's in the low half, b's above */
  int32_t start, down;
  int32_t decides; /* bits of the fraction; 0: every sum is exact */
  bool usable;
} pte_add_near;

typedef struct pte_add_codes {
  pte_addend_i8 a, b;
  pte_rescale_columns columns; /* narrow, all alike */
  pte_add_near near;
} pte_add_codes;

/* How windows side by side share columns of taps: so many in a line, so many apart. */
enum { PTE_SHARED_3_1 = 1, PTE_SHARED_3_2 };

/* Windows side by side: y[i * y_step + c] = the largest of x[i * x_step + offset[t] + c] over t <
 * taps, of which there are some, and of what y has there, unless they are the `first`. */
typedef struct pte_larger_i8 {
  size_t windows, channels, x_step, y_step;
  int64_t taps;
  const int64_t *offset;
  const int8_t *x;
  int8_t *y; /* aliases nothing */
  bool first;
  uint8_t shared; /* PTE_SHARED_..., where these are all taps; 0: in another way, or not */
} pte_larger_i8;

typedef struct pte_codes_i8 {
  /* y[i] = rescaled sum of both addends, i < count; y may be a */
  void (*add)(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *factors,
              int8_t *y);
  void (*larger)(const pte_larger_i8 *larger);
} pte_codes_i8;

/* Rows of int16 times panels of int8: start + sum over q < quads, i < 4 of x[m][4q + i] *
 * panel[p][(16q + n) * 4 + i] for columns n of panels p, in int32 that wraps. */
typedef struct pte_tile_i16 {
  const int16_t *x;    /* rows of whole quads, `row` elements apart */
  const int8_t *panel; /* 64-byte aligned; the next one, most_panels of them, panel_bytes further */
  size_t row, panel_bytes, quads;
  const int32_t (
      *start)[PTE_PANEL]; /* [rows][most_panels][16], rows start_row apart, in sixteens */
  size_t start_row;
  int32_t (*sum)[PTE_PANEL];          /* [rows][most_panels][16]; may be `start` */
  const pte_rescale_columns *columns; /* a panel each, narrow ones; NULL: sums are all */
  int16_t *y;                         /* dense in a row, aliases nothing */
  size_t y_stride, lanes;             /* lanes: columns of all panels that exist */
} pte_tile_i16;

/* A depthwise convolution of int16. */
typedef struct pte_taps_i16 {
  const pte_rescale_columns *columns; /* a panel each, narrow, of channels up to whole blocks */
  const int16_t *weight;              /* [channels / block][taps up to an even number][block] */
  size_t taps, channels;              /* channels: of a pixel */
} pte_taps_i16;

typedef struct pte_gemm_i16 {
  void (*tile)(size_t rows, const pte_tile_i16 *tile); /* rows: most_rows, half of them, or one */
  /* Pixels i side by side: y[i * channels + c] = rescaled bias[c] + sum over taps k of tap[k][i *
   * step + c] * weight, c in first .. end, first a multiple of PTE_BLOCK_I16, end even; a pointer
   * follows the last, alike */
  void (*taps)(const pte_taps_i16 *t, size_t first, size_t end, const int16_t *const *tap,
               size_t pixels, size_t step, int16_t *y);
  /* y[i] = rescaled sum of a[i] 2^16 and b[i] 2^16, rescaled each, i < count, a multiple of 16;
   * factors of the three, narrow, the columns of each alike; y may be a */
  void (*add)(size_t count, const int16_t *a, const int16_t *b, const pte_rescale_columns *factors,
              int16_t *y);
  uint8_t most_rows, most_panels; /* at most PTE_STRIP, PTE_BESIDE */
  uint8_t block;                  /* channels of a step of `taps`: divides PTE_BLOCK_I16 */
  bool pairs;                     /* of taps: pte_tap_word */
} pte_gemm_i16;

enum { PTE_BLOCK_I16 = 32 };

/* A row of gen/variants.inc; a family's rows are a table of their own, so that a linker leaves out
 * the families that no operator of the build asks for. */
typedef struct pte_variant {
  uint32_t features;
  const void *functions;
} pte_variant;

/* The functions of the first row whose features are all in `cpu`. There is one: the last row needs
 * none, or what every processor has that the build is for (PTE_LEAST; prepare looks). */
static inline const void *pte_variant_pick(const pte_variant *row, uint32_t cpu) {
  while ((row->features & cpu) != row->features) row++;
  return row->functions;
}

/* pte_<family>_pick(cpu), typed. */
#define PTE_FAMILY(name)                                                                           \
  extern const pte_variant pte_##name##_variants[];                                                \
  static inline const pte_##name *pte_##name##_pick(uint32_t cpu) {                                \
    return pte_variant_pick(pte_##name##_variants, cpu);                                           \
  }
PTE_FAMILIES(PTE_FAMILY)
#undef PTE_FAMILY

#define PTE_VARIANTS(family)
#define PTE_VARIANTS_END
#define PTE_VARIANT(family, isa, features) extern const pte_##family pte_##family##__##isa;
#include "gen/variants.inc"
#undef PTE_VARIANT
#undef PTE_VARIANTS_END
#undef PTE_VARIANTS

#endif
