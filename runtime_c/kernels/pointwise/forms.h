/* Runs of steps that are computed at once, by one compiled loop: the operations and their order are
 * those of the steps, so the bits are too. */
#ifndef PTE_FORMS_H
#define PTE_FORMS_H

#include "gen/steps.h"
#include "kernels/pointwise/walk.h"

typedef enum pte_form_kind {
  PTE_FORM_STEP,       /* the step as it stands */
  PTE_FORM_PART,       /* nothing: what it computes is computed with a later step */
  PTE_FORM_DEQUANTIZE, /* dst = (operand x - zero) * scale, of 8-bit codes; 1: as they are */
  PTE_FORM_QUANTIZE,   /* output arg = clamp(nearest(x / scale) + zero) in 8 bits */
  PTE_FORM_GELU,       /* dst = x * half * (erf(x * inner) + one) */
  PTE_FORM_SILU        /* dst = x * (one / (exp(-x) + one)) */
} pte_form_kind;

/* Of one step; `x` is a register or an operand. */
typedef struct pte_form {
  uint8_t kind, x;
  float scale, far; /* QUANTIZE: the quotient is kept in -far .. far */
  float inner, half, one;
  int32_t zero, least, most;
} pte_form;

/* A program and its operands. */
typedef struct pte_forms_source {
  const pte_step *steps;
  const uint64_t *literals;
  const pte_walk *xs, *outs;
  uint32_t step_count;
} pte_forms_source;

/* Fills forms[step_count], which say how to run the steps. */
void pte_forms_find(const pte_forms_source *source, pte_form *forms);

#endif
