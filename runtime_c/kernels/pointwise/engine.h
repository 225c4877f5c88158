/* A pointwise program at work on tensors. */
#ifndef PTE_ENGINE_H
#define PTE_ENGINE_H

#include <stdbool.h>

#include "kernels/pointwise/forms.h"
#include "kernels/variant.h"

#ifdef PTE_SMALL_BUFFERS /* a machine with some tens of KB of memory, and of code */
enum { PTE_TILE = 32 };
#define PTE_LINES_KEPT 0
#else
enum { PTE_TILE = 256 };
#define PTE_LINES_KEPT (PTE_QUANTIZE_KEPT || PTE_DEQUANTIZE_KEPT)
#endif

typedef struct pte_engine pte_engine;

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

PTE_FAMILY(pointwise)

struct pte_engine {
  const pte_pointwise *variant;
  pte_watch *watch;
  const pte_step *steps;
  const pte_form *forms; /* by step */
  const pte_form *whole; /* the form of y, or of y + `other`, or that of y times `other` (`times`),
                            that is all the program; NULL: none is */
  const float *other;    /* rows (all axes but the last) `other_stride` apart; NULL: nothing */
  size_t other_stride;
  uint16_t other_operand; /* which it is; 0: there is none */
  const uint64_t *literals;
  pte_walk *xs, *outs;    /* by operand and by output */
  unsigned char *threads; /* [thread_count][thread_bytes]: the fault's position (64 bytes), then the
                             registers */
  uint64_t thread_bytes;
  int64_t shape[PTE_MAX_RANK];
  int64_t count;
  uint32_t step_count, register_bytes, thread_count;
  uint16_t kept; /* registers that hold one literal throughout: filled once a run */
  uint8_t rank, slots;
  bool times, one_last_store;
};

#endif
