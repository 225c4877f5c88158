/* A pointwise program at work on tensors. */
#ifndef PTE_ENGINE_H
#define PTE_ENGINE_H

#include <stdbool.h>

#include "kernels/pointwise/forms.h"
#include "kernels/variants.h"

#ifdef PTE_SMALL_BUFFERS /* a machine with some tens of KB of memory, and of code */
enum { PTE_TILE = 32 };
#define PTE_LINES_KEPT 0
#else
enum { PTE_TILE = 256 };
#define PTE_LINES_KEPT (PTE_QUANTIZE_KEPT || PTE_DEQUANTIZE_KEPT)
#endif

typedef struct pte_engine pte_engine;

struct pte_engine {
  const pte_pointwise *variant;
  pte_watch *watch;
  const pte_step *steps;
  const pte_form *forms; /* by step */
  const pte_form *whole; /* the form of y, or of y + `other`, or that of y times `other` (`times`),
                            that is all the program; NULL: none is */
  const float *other;    /* rows (all axes but the last) `other_stride` apart; NULL: nothing */
  size_t other_stride;
  const uint64_t *literals;
  const pte_walk *xs, *outs; /* by operand and by output */
  unsigned char *threads; /* [thread_count][thread_bytes]: the fault's position (64 bytes), then the
                             registers */
  uint64_t thread_bytes;
  int64_t shape[PTE_MAX_RANK];
  int64_t count;
  uint32_t step_count, register_bytes, thread_count;
  uint16_t kept; /* registers that hold one literal throughout: filled once a run */
  uint8_t rank, slots;
  bool times;
};

#endif
