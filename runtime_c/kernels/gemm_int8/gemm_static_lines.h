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
  INLINE void type##_lines(const pte_gather *g, uint8_t flip) {                                    \
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

/* pte_gather as bytes ^ flip, for long lines. */
INLINE void pte_i8_gather_long(const pte_gather *g, uint8_t flip) {
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
INLINE void pte_i8_gather(const pte_gather *g, uint8_t flip) {
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

#endif
