/* Integer products on AMX: tdpbssd multiplies a block of 32 of sixteen rows by that of a panel, the
 * sums are finished by AVX-512. Codes become bytes once for all rows of a call. Fewer than sixteen
 * rows are the work of the variant for AVX-512 with VNNI.
 *
 * While tiles are multiplied, a core has one unit for 512-bit floats in place of two: so blocks are
 * first multiplied, then finished, not both at once (Xeon, a block of a strip and a panel: 16
 * cycles of tdpbssd, 24 of floats, 48 together). */
#if PTE_HAVE_AMX
#include "kernels/gemm_int8/gemm_blocks__avx512vnni.h"
#include "kernels/gemm_int8/tiles__amx.h"

extern const pte_gemm_blocks pte_gemm_blocks__avx512vnni;

#define INLINE static inline __attribute__((always_inline))

enum {
  MOST = PTE_I8_TALL / EDGE * EDGE, /* rows together */
  UNIT_BYTES = PTE_I8_BLOCK * PTE_PANEL,
  BESIDE = 2,              /* panels that share what is read of x */
  PART = 8,                /* blocks that are read, multiplied and finished at a time */
  THREES = (EDGE + 2) / 3, /* rows whose addresses are one and a multiple of what lies between */
  LINES = PART * PTE_I8_BLOCK / 64 /* of a row of x */
};

typedef int32_t sums[EDGE][PTE_PANEL];
typedef float out_row[BESIDE][PTE_PANEL];

/* Panels that meet all rows of a call, a part of K at a time. */
typedef struct pair {
  _Alignas(64) int8_t codes[BESIDE][PART][UNIT_BYTES];
  sums sum[BESIDE][PART]; /* of a strip of rows */
  float scales[BESIDE][PART * PTE_PANEL];
  out_row out[MOST]; /* so far; where out is, rows would meet in one set of L1 */
  size_t blocks;
  /* asked for while a strip is finished: codes of the next one, and lines of the panels to come */
  const int8_t *next;
  const uint8_t *ask[BESIDE];
  size_t lines;
} pair;

#define MULTIPLY(at, beside, x, b)                                                                 \
  _tile_loadd(x, codes + (b) * PTE_I8_BLOCK, row_bytes);                                           \
  _tile_loadd(6, p->codes[0][b], STEP);                                                            \
  _tile_zero(at);                                                                                  \
  _tile_dpbssd(at, x, 6);                                                                          \
  _tile_loadd(7, p->codes[1][b], STEP);                                                            \
  _tile_zero(beside);                                                                              \
  _tile_dpbssd(beside, x, 7)
#define STORE(at, beside, b)                                                                       \
  _tile_stored(at, p->sum[0][b], STEP);                                                            \
  _tile_stored(beside, p->sum[1][b], STEP)

/* The sums of a block are stored when the next one's products are under way: tiles wait long for
 * theirs. */
static void sums_multiply(pair *p, const int8_t *codes, size_t row_bytes) {
  size_t b = 0;
  SEEN;
  MULTIPLY(0, 1, 4, 0);
  for (; b + 2 < p->blocks; b += 2) {
    MULTIPLY(2, 3, 5, b + 1);
    STORE(0, 1, b);
    MULTIPLY(0, 1, 4, b + 2);
    STORE(2, 3, b + 1);
  }
  if (b + 1 < p->blocks) {
    MULTIPLY(2, 3, 5, b + 1);
    STORE(2, 3, b + 1);
  }
  STORE(0, 1, b);
  SEEN;
}

/* to[16][16] = from[16][16] + the blocks of a strip and panel `i`; NULL: + 0. */
static __attribute__((noinline)) void sums_finish(const pair *p, size_t i, const float *steps,
                                                  size_t stride, const float *from, float *to,
                                                  size_t to_stride) {
  const int8_t *next = p->next + i * (LINES / BESIDE * 64);
  const float *scales = p->scales[i], *step[THREES];
  const sums *sum = p->sum[i];
  __m512 acc[EDGE];
  for (size_t r = 0; r < THREES; r++) step[r] = steps + 3 * r * stride;
#pragma GCC unroll 16
  for (size_t r = 0; r < EDGE; r++)
    acc[r] = from == NULL ? _mm512_setzero_ps() : _mm512_load_ps(from + r * BESIDE * PTE_PANEL);
  for (size_t b = 0; b < p->blocks; b++, sum++, scales += PTE_PANEL) {
    const __m512 scale = _mm512_load_ps(scales);
    for (size_t line = p->lines * b / PART; line < p->lines * (b + 1) / PART; line++)
      _mm_prefetch((const char *)p->ask[i] + line * 64, _MM_HINT_T1);
#pragma GCC unroll 4
    for (size_t r = 0; r < EDGE / 4; r++)
      _mm_prefetch((const char *)(next + (b % 4 * 4 + r) * stride * PTE_I8_BLOCK + b / 4 * 64),
                   _MM_HINT_T0);
#pragma GCC unroll 16
    for (size_t r = 0; r < EDGE; r++)
      acc[r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512((*sum)[r])),
                               _mm512_mul_ps(_mm512_set1_ps(step[r / 3][r % 3 * stride]), scale),
                               acc[r]);
#pragma GCC unroll 6
    for (size_t r = 0; r < THREES; r++) {
      step[r]++;
      __asm__("" : "+r"(step[r])); /* addresses that an instruction takes, not one a row */
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < EDGE; r++) _mm512_storeu_ps(to + r * to_stride, acc[r]);
}

INLINE pte_rows_i8 rows_from(const pte_rows_i8 *x, size_t row, size_t block) {
  const size_t at = row * x->blocks + block;
  return (pte_rows_i8){x->blocks, x->codes + at * PTE_I8_BLOCK, x->steps + at, x->starts + at};
}

/* The codes of the strip that is multiplied after that of row `row` and block `block`. */
INLINE const int8_t *codes_after(const pte_rows_i8 *x, size_t rows, size_t row, size_t block) {
  if (row + EDGE < rows) return rows_from(x, row + EDGE, block).codes;
  return rows_from(x, 0, block + PART < x->blocks ? block + PART : 0).codes;
}

/* Whole strips of rows times panel `panel` and that `apart` further, one twice where that is 0. */
static void pair_run(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                     size_t apart, float *out, size_t out_stride) {
  const size_t beside = apart * w->steps * 64, bytes = w->steps * 64 * PART / x->blocks;
  const uint8_t *ask = w->codes + panel * w->steps * 64 + PTE_PREFETCH_TALL;
  pair p;
  p.lines = (bytes * EDGE / rows + 63) / 64;
  for (size_t b = 0; b < x->blocks; b += PART, ask += bytes) {
    const bool begins = b == 0, ends = b + PART >= x->blocks;
    p.blocks = ends ? x->blocks - b : PART;
    for (size_t i = 0; i < BESIDE; i++)
      pte_blocks_read__avx512vnni(w, panel + i * apart, b, p.blocks, p.codes[i][0], p.scales[i]);
    for (size_t row = 0; row < rows; row += EDGE) {
      const pte_rows_i8 some = rows_from(x, row, b);
      float *const to = out + row * out_stride;
      for (size_t r = 0; ends && r < EDGE; r++)
        for (size_t i = 0; i < BESIDE; i++)
          __builtin_prefetch(to + r * out_stride + i * apart * PTE_PANEL, 1, 2);
      p.ask[0] = ask + bytes * row / rows, p.ask[1] = p.ask[0] + beside;
      p.next = codes_after(x, rows, row, b);
      sums_multiply(&p, some.codes, x->blocks * PTE_I8_BLOCK);
      for (size_t i = 0; i < BESIDE; i++)
        sums_finish(&p, i, some.steps, x->blocks, begins ? NULL : p.out[row][i],
                    ends ? to + i * apart * PTE_PANEL : p.out[row][i],
                    ends ? out_stride : BESIDE * PTE_PANEL);
    }
  }
}

static void panels_amx(const pte_stored *w, const pte_rows_i8 *x, size_t rows, size_t panel,
                       size_t count, float *out, size_t out_stride) {
  const size_t strips = rows / EDGE * EDGE, apart = count / BESIDE;
  if (strips > 0 && x->blocks > 0) {
    tiles_shape(EDGE, PTE_I8_BLOCK);
    for (size_t p = 0; p < count; p = p + 1 == apart ? BESIDE * apart : p + 1)
      pair_run(w, x, strips, panel + p, p < apart ? apart : 0, out + p * PTE_PANEL, out_stride);
    _tile_release();
  }
  const pte_rows_i8 rest = rows_from(x, strips, 0);
  if (strips < rows)
    pte_gemm_blocks__avx512vnni.panels(w, &rest, rows - strips, panel, count,
                                       out + strips * out_stride, out_stride);
}

const pte_gemm_blocks pte_gemm_blocks__amx = {panels_amx, pte_i8_quantize__avx512vnni,
                                              pte_i8_bias__avx512vnni, MOST};
#endif
