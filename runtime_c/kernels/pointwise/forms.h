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

/* Forms whose steps the build has (gen/steps.h). */
#define PTE_DEQUANTIZE_KEPT                                                                        \
  (PTE_STEP_KEPT(PTE_STEP_LOAD, PTE_STEP_I64) && PTE_STEP_KEPT(PTE_STEP_CAST, PTE_STEP_F32))
#define PTE_QUANTIZE_KEPT                                                                          \
  (PTE_STEP_KEPT(PTE_STEP_NEAREST, PTE_STEP_F32) && PTE_STEP_KEPT(PTE_STEP_STORE, PTE_STEP_I64))
#define PTE_GELU_KEPT PTE_STEP_KEPT(PTE_STEP_ERF, PTE_STEP_F32)
#define PTE_SILU_KEPT                                                                              \
  (PTE_STEP_KEPT(PTE_STEP_EXP, PTE_STEP_F32) && PTE_STEP_KEPT(PTE_STEP_NEG, PTE_STEP_F32))
#define PTE_FORMS_KEPT (PTE_DEQUANTIZE_KEPT || PTE_QUANTIZE_KEPT || PTE_GELU_KEPT || PTE_SILU_KEPT)

enum { PTE_PLANES = 4 };

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
