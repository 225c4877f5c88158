/* What variants of codes_i8 share: ends that are no whole vector, maxima of windows. */
#ifndef PTE_CODES_I8_H
#define PTE_CODES_I8_H

#include <string.h>

#include "core/kept.h"
#include "kernels/requantize/rescale.h"
#include "kernels/variant.h"

enum { PTE_CODES = 64 }; /* of a vector, at most */

/* An addend of add_i8 whose shift lanes allow. */
typedef struct pte_addend_i8 {
  int32_t zero, multiplier, add, down; /* down: shift - 10 */
} pte_addend_i8;

/* Both addends and the sum's factor as one line of products. */
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

PTE_FAMILY(codes_i8)

/* Shifts of addends for which 32-bit lanes are enough. With d = a - zero, of 9 bits, the high half
 * of (d << 22) * multiplier is h = floor(d * multiplier / 2^10), and for 11 <= shift <= 40
 *
 *     (d * multiplier + 2^(shift - 1)) >> shift = (h + 2^(shift - 11)) >> (shift - 10)
 *
 * as in rescale.h; |h| and what is added are at most 2^29. */
enum { PTE_ADDEND_LEFT = 22, PTE_ADDEND_LEAST = 33 - PTE_ADDEND_LEFT, PTE_ADDEND_MOST = 40 };

INLINE int32_t pte_addend(int8_t code, const pte_addend_i8 *s) {
  int64_t h = ((int64_t)(code - s->zero) * s->multiplier) >> (32 - PTE_ADDEND_LEFT);
  return (int32_t)(h + s->add) >> s->down;
}

/* With S = `down` bits of a fraction and codes a' = a + 128, b' = b + 128
 *
 *     t = a' A + b' B + C
 *
 * where A and B are the factors of both rescalings in one, in units of 2^-S, and C has the zero
 * points, the half that rounds, and what makes t no less than the exact sum (add_i8.c has by how
 * much it is more). So where a bit of the fraction is set that this does not reach, one of
 * `decides`, t and the sum have one integer part; where none is, once in some ten thousand, the
 * exact way is asked. Factors that are powers of two leave no doubt. A = 256 high + low makes
 * products of 16 bits. */
enum {
  PTE_NEAR_MOST = 22, /* S */
  PTE_NEAR_LEAST = 19,
  PTE_NEAR_MARGIN = 10,           /* bits of the fraction that may not decide, at most */
  PTE_NEAR_FACTOR = (1 << 23) - 1 /* A and B, at most: `high` is 15 bits */
};

INLINE void pte_codes_add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k,
                          int8_t *y) {
  for (size_t i = 0; i < count; i++) {
    int32_t sum = pte_addend(a[i], &k->a) + pte_addend(b[i], &k->b);
    pte_rescale_row(&sum, &k->columns, 1, y + i);
  }
}

/* The function of a variant: as many channels as `type` holds stay in a register over all taps,
 * those of some windows at a time, the last of a line again; columns of taps that windows share
 * have one maximum. */
#if defined(PTE_SMALL_BUFFERS) || !(defined(__AVX2__) || defined(__ARM_NEON)) /* bytes alone */
enum { PTE_LARGER_BESIDE = 1 };
#else
enum { PTE_LARGER_BESIDE = 4 };
#endif
#define PTE_CODES_LARGER(name, type, load, store, max)                                             \
  INLINE void name##_of(const pte_larger_i8 *l, const size_t n, const int8_t *x, int8_t *y) {      \
    type best[PTE_LARGER_BESIDE];                                                                  \
    _Pragma("GCC unroll 4") for (size_t i = 0; i < n; i++) best[i] =                               \
        load((const void *)(l->first ? x + i * l->x_step + l->offset[0] : y + i * l->y_step));     \
    for (int64_t t = l->first; t < l->taps; t++)                                                   \
      _Pragma("GCC unroll 4") for (size_t i = 0; i < n; i++) best[i] =                             \
          max(best[i], load((const void *)(x + i * l->x_step + l->offset[t])));                    \
    _Pragma("GCC unroll 4") for (size_t i = 0; i < n; i++)                                         \
        store((void *)(y + i * l->y_step), best[i]);                                               \
  }                                                                                                \
  INLINE void name##_columns(const pte_larger_i8 *l, const size_t taps, const size_t apart,        \
                             const int8_t *x, int8_t *y) {                                         \
    enum { MOST = 9 };                                                                             \
    const size_t count = taps + (PTE_LARGER_BESIDE - 1) * apart, step = l->x_step / apart;         \
    type best[MOST];                                                                               \
    _Pragma("GCC unroll 9") for (size_t j = 0; j < count; j++) best[j] =                           \
        load((const void *)(x + l->offset[0] + j * step));                                         \
    for (size_t t = taps; t < (size_t)l->taps; t += taps)                                          \
      _Pragma("GCC unroll 9") for (size_t j = 0; j < count; j++) best[j] =                         \
          max(best[j], load((const void *)(x + l->offset[t] + j * step)));                         \
    _Pragma("GCC unroll 4") for (size_t i = 0; i < PTE_LARGER_BESIDE; i++) {                       \
      type most = best[i * apart];                                                                 \
      _Pragma("GCC unroll 3") for (size_t j = 1; j < taps; j++) most =                             \
          max(most, best[i * apart + j]);                                                          \
      store((void *)(y + i * l->y_step), most);                                                    \
    }                                                                                              \
  }                                                                                                \
  INLINE void name##_rest(const pte_larger_i8 *l, size_t c, const int8_t *x, int8_t *y) {          \
    for (; c < l->channels; c++)                                                                   \
      for (int64_t t = 0; t < l->taps; t++) {                                                      \
        int8_t other = x[l->offset[t] + (int64_t)c];                                               \
        y[c] = (l->first && t == 0) || other > y[c] ? other : y[c];                                \
      }                                                                                            \
  }                                                                                                \
  static void name(const pte_larger_i8 *l) {                                                       \
    const int8_t *x = l->x;                                                                        \
    int8_t *y = l->y;                                                                              \
    for (size_t left = l->windows, n; left > 0; left -= n) {                                       \
      n = l->windows < PTE_LARGER_BESIDE ? 1 : PTE_LARGER_BESIDE;                                  \
      for (; left < n; left++) x -= l->x_step, y -= l->y_step;                                     \
      size_t c = 0;                                                                                \
      for (; c + sizeof(type) <= l->channels; c += sizeof(type)) switch (n > 1 ? l->shared : 0) {  \
        case PTE_SHARED_3_2: name##_columns(l, 3, 2, x + c, y + c); break;                         \
        case PTE_SHARED_3_1: name##_columns(l, 3, 1, x + c, y + c); break;                         \
        default:                                                                                   \
          if (n > 1) name##_of(l, PTE_LARGER_BESIDE, x + c, y + c);                                \
          else name##_of(l, 1, x + c, y + c);                                                      \
        }                                                                                          \
      for (size_t i = 0; i < n; i++, x += l->x_step, y += l->y_step) name##_rest(l, c, x, y);      \
    }                                                                                              \
  }

/* The end of an addition: `add` on whole vectors of `lanes`, at most PTE_CODES. */
INLINE void pte_codes_end(void (*add)(size_t, const int8_t *, const int8_t *, const pte_add_codes *,
                                      int8_t *),
                          size_t lanes, size_t count, const int8_t *a, const int8_t *b,
                          const pte_add_codes *k, int8_t *y) {
  int8_t left[PTE_CODES] = {0}, right[PTE_CODES] = {0}, sum[PTE_CODES];
  if (count == 0) return;
  memcpy(left, a, count), memcpy(right, b, count);
  add(lanes, left, right, k, sum);
  memcpy(y, sum, count);
}

#endif
