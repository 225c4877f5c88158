/* What variants of gemm_static share: windows as rows of bytes, sums and taps in plain C. */
#ifndef PTE_GEMM_STATIC_LINES_H
#define PTE_GEMM_STATIC_LINES_H

#include <string.h>

#include "kernels/gemm_int8/gemm_static.h"

typedef uint64_t pte_bytes8 __attribute__((vector_size(8)));
typedef uint64_t pte_bytes16 __attribute__((vector_size(16)));
typedef uint64_t pte_bytes64 __attribute__((vector_size(64)));

/* At least as many bytes as the type has, each ^ flip; the last piece may do some of them again. */
#define PTE_LINE_BY(type)                                                                          \
  INLINE void type##_line(size_t bytes, const int8_t *from, char *to, uint8_t flip) {              \
    for (size_t at = 0; at < bytes; at += sizeof(type)) {                                          \
      const size_t place = at + sizeof(type) <= bytes ? at : bytes - sizeof(type);                 \
      type piece;                                                                                  \
      memcpy(&piece, from + place, sizeof piece);                                                  \
      piece ^= flip * (UINT64_MAX / 255);                                                          \
      memcpy(to + place, &piece, sizeof piece);                                                    \
    }                                                                                              \
  }
PTE_LINE_BY(pte_bytes8)
PTE_LINE_BY(pte_bytes16)
PTE_LINE_BY(pte_bytes64)

INLINE void pte_i8_line(size_t bytes, const int8_t *from, char *to, uint8_t flip) {
  if (bytes >= 64) pte_bytes64_line(bytes, from, to, flip);
  else if (bytes >= 16) pte_bytes16_line(bytes, from, to, flip);
  else if (bytes >= 8) pte_bytes8_line(bytes, from, to, flip);
  else
    for (size_t i = 0; i < bytes; i++) to[i] = (char)((uint8_t)from[i] ^ flip);
}

/* Windows of lines of one to two pieces: an image of few channels has many, and short ones. */
#define PTE_LINES_BY(type)                                                                         \
  INLINE void type##_lines(const pte_gather_i8 *g, uint8_t flip) {                                 \
    const size_t last = g->bytes - sizeof(type), pad = -(g->lines * g->bytes) % 4;                 \
    const int8_t *x = g->x;                                                                        \
    char *row = g->to;                                                                             \
    for (size_t i = 0; i < g->windows; i++, x += g->step, row += g->row_bytes) {                   \
      const int8_t *from = x;                                                                      \
      char *to = row;                                                                              \
      for (size_t l = 0; l < g->lines; l++, from += g->pitch, to += g->bytes) {                    \
        type first, second;                                                                        \
        memcpy(&first, from, sizeof first), memcpy(&second, from + last, sizeof second);           \
        first ^= flip * (UINT64_MAX / 255), second ^= flip * (UINT64_MAX / 255);                   \
        memcpy(to, &first, sizeof first), memcpy(to + last, &second, sizeof second);               \
      }                                                                                            \
      memset(to, flip, pad);                                                                       \
    }                                                                                              \
  }
PTE_LINES_BY(pte_bytes8)
PTE_LINES_BY(pte_bytes16)

/* pte_gather_i8 as bytes ^ flip, for long lines. */
INLINE void pte_i8_gather_long(const pte_gather_i8 *g, uint8_t flip) {
  const int8_t *x = g->x;
  char *to = g->to;
  for (size_t i = 0; i < g->windows; i++, x += g->step, to += g->row_bytes) {
    char *end = to;
    for (size_t l = 0; l < g->lines; l++, end += g->bytes)
      pte_i8_line(g->bytes, x + l * g->pitch, end, flip);
    for (; (end - to) % 4 != 0; end++) *end = (char)flip;
  }
}

/* For any. */
INLINE void pte_i8_gather(const pte_gather_i8 *g, uint8_t flip) {
  if (g->bytes >= 8 && g->bytes <= 16) pte_bytes8_lines(g, flip);
  else if (g->bytes > 16 && g->bytes <= 32) pte_bytes16_lines(g, flip);
  else pte_i8_gather_long(g, flip);
}

/* What a tile does with sum[m][p][n] in the end. */
INLINE void pte_i8_put(const pte_tile_i8 *t, size_t rows, size_t panels,
                       int32_t (*sum)[PTE_PANEL]) {
  for (size_t i = 0; i < rows * panels; i++) {
    const size_t m = i / panels, p = i % panels;
    if (t->columns == NULL) memcpy(t->sum[i], sum[i], sizeof sum[i]); /* and there is no y */
    else
      pte_rescale_row(sum[i], t->columns + p, p + 1 < panels ? PTE_PANEL : t->lanes,
                      t->y + m * t->y_stride + p * PTE_PANEL);
  }
}

/* `settle` of pte_gemm_static. */
INLINE void pte_i8_settle(size_t rows, size_t panels, int32_t *start, size_t start_panel,
                          int32_t (*sum)[PTE_PANEL]) {
  typedef uint32_t sixteen __attribute__((vector_size(64)));
  for (size_t p = 0; p < panels; p++) {
    sixteen begin, some;
    memcpy(&begin, start + p * start_panel, sizeof begin), memcpy(&some, sum[p], sizeof some);
    begin -= some;
    memcpy(start + p * start_panel, &begin, sizeof begin);
    for (size_t i = p + panels; i < rows * panels; i += panels) {
      memcpy(&some, sum[i], sizeof some);
      some += begin;
      memcpy(sum[i], &some, sizeof some);
    }
  }
}

/* Of channel c of the panels at `codes`, four codes in a row, the next four 64 bytes further. */
INLINE const int8_t *pte_tap_codes(const pte_taps_i8 *t, const int8_t *codes, size_t c) {
  return codes + (c / PTE_PANEL * ((t->taps + 3) / 4) * PTE_PANEL + c % PTE_PANEL) * 4;
}

/* Of three lines by three columns (`walk`), pairs 2 j and 2 j + 1 are those of column j: of lines 0
 * and 1, and of line 2 alone. */
INLINE size_t pte_tap_slot(const pte_taps_i8 *t, size_t k) {
  return t->walk ? k % 3 * 4 + k / 3 : k;
}
INLINE size_t pte_tap_pairs(const pte_taps_i8 *t) { return t->walk ? 6 : (t->taps + 1) / 2; }

/* `lay` as 16-bit pairs of taps, [channels / 16][pairs][16][2], 0 where a pair has no second. */
INLINE void pte_i8_lay(const pte_taps_i8 *t, size_t first, size_t count, const int8_t *codes) {
  const size_t pairs = pte_tap_pairs(t);
  int16_t *weight = (int16_t *)(void *)t->weight + 2 * first * pairs;
  memset(weight, 0, pairs * (count + PTE_PANEL - 1) / PTE_PANEL * PTE_PANEL * 2 * sizeof *weight);
  for (size_t c = 0; c < count; c += PTE_PANEL, weight += 2 * PTE_PANEL * pairs)
    for (size_t k = 0; k < t->taps; k++) {
      const size_t slot = pte_tap_slot(t, k), lanes = count - c < PTE_PANEL ? count - c : PTE_PANEL;
      const int8_t *from = pte_tap_codes(t, codes, c) + k / 4 * 64 + k % 4;
      int16_t *to = weight + slot / 2 * (2 * PTE_PANEL) + slot % 2;
      for (size_t n = 0; n < lanes; n++) to[2 * n] = from[4 * n];
    }
}

/* Where a line of a walk has a column. */
INLINE const int8_t *pte_walk_at(const pte_walk_i8 *w, size_t l, int64_t column) {
  bool real = column >= w->from && column < w->to;
  return real ? w->line[l] + (column - w->from) * (int64_t)w->step[l] : w->zeros;
}

/* `taps`, with `sixteen` for one pixel and panel, which stores `lanes` codes. */
typedef void pte_i8_sixteen(const pte_rescale_columns *columns, size_t pairs, const int16_t *weight,
                            const int8_t *const *tap, size_t at, size_t lanes, int8_t *y);
INLINE void pte_i8_taps(pte_i8_sixteen *sixteen, const pte_taps_i8 *t, size_t first, size_t end,
                        const int8_t *const *tap, size_t pixels, size_t step, int8_t *y) {
  const size_t pairs = (t->taps + 1) / 2;
  for (size_t i = 0; i < pixels; i++)
    for (size_t c = first; c < end; c += PTE_PANEL)
      sixteen(t->columns + c / PTE_PANEL, pairs,
              (const int16_t *)(const void *)t->weight + 2 * c * pairs, tap, i * step + c,
              end - c < PTE_PANEL ? end - c : PTE_PANEL, y + i * t->channels + c);
}

INLINE void pte_i8_sixteen_plain(const pte_rescale_columns *columns, size_t pairs,
                                 const int16_t *weight, const int8_t *const *tap, size_t at,
                                 size_t lanes, int8_t *y) {
  int32_t sum[PTE_PANEL];
  memcpy(sum, columns->bias, sizeof sum);
  for (size_t p = 0; p < pairs; p++, weight += 2 * PTE_PANEL) {
    const int8_t *a = tap[2 * p] + at, *b = tap[2 * p + 1] + at;
    for (size_t n = 0; n < lanes; n++)
      sum[n] = pte_wrapping_add(sum[n], a[n] * weight[2 * n] + b[n] * weight[2 * n + 1]);
  }
  pte_rescale_row(sum, columns, lanes, y);
}

/* The two functions above as those of a variant. */
#define PTE_TAPS_I8(sixteen)                                                                       \
  static void lay(const pte_taps_i8 *t, size_t first, size_t count, const int8_t *codes) {         \
    pte_i8_lay(t, first, count, codes);                                                            \
  }                                                                                                \
  static void taps(const pte_taps_i8 *t, size_t first, size_t end, const int8_t *const *tap,       \
                   size_t pixels, size_t step, int8_t *y) {                                        \
    pte_i8_taps(sixteen, t, first, end, tap, pixels, step, y);                                     \
  }

#endif
