/* What variants of depthwise_i8 share: where weights lie, sums of taps in plain C. */
#ifndef PTE_DEPTHWISE_I8_TAPS_H
#define PTE_DEPTHWISE_I8_TAPS_H

#include "kernels/depthwise/depthwise_i8.h"

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
