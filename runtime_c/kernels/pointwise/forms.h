/* Runs of steps that are computed at once, by one compiled loop: the operations and their order are
 * those of the steps, so the bits are too. */
#ifndef PTE_FORMS_H
#define PTE_FORMS_H

#include "core/kept.h"
#include "gen/steps.h"
#include "kernels/pointwise/walk.h"

typedef enum pte_form_kind {
  PTE_FORM_STEP,       /* the step as it stands */
  PTE_FORM_PART,       /* nothing: what it computes is computed with a later step */
  PTE_FORM_DEQUANTIZE, /* dst = (operand x - zero) * scale, of codes; 1: as they are */
  PTE_FORM_QUANTIZE,   /* output arg = clamp(nearest(x / scale) + zero), codes */
  PTE_FORM_GELU,       /* dst = x * half * (erf(x * inner) + one) */
  PTE_FORM_SILU,       /* dst = x * (one / (exp(-x) + one)) */
  PTE_FORM_GATE,       /* dst = x * max(min(x * inner + one, far), scale): hard swish */
  PTE_FORM_PRODUCT     /* output arg = rescaled (operand x - zero) * (operand other - other_zero) */
} pte_form_kind;

/* Forms whose steps the build has (gen/steps.h). */
#define PTE_DEQUANTIZE_KEPT                                                                        \
  (PTE_STEP_KEPT(PTE_STEP_LOAD, PTE_STEP_I64) && PTE_STEP_KEPT(PTE_STEP_CAST, PTE_STEP_F32))
#define PTE_QUANTIZE_KEPT                                                                          \
  (PTE_STEP_KEPT(PTE_STEP_NEAREST, PTE_STEP_F32) && PTE_STEP_KEPT(PTE_STEP_STORE, PTE_STEP_I64))
#define PTE_GELU_KEPT PTE_STEP_KEPT(PTE_STEP_ERF, PTE_STEP_F32)
#define PTE_SILU_KEPT                                                                              \
  (PTE_STEP_KEPT(PTE_STEP_EXP, PTE_STEP_F32) && PTE_STEP_KEPT(PTE_STEP_NEG, PTE_STEP_F32))
#ifdef PTE_SMALL_BUFFERS /* code is dear: steps will do */
#define PTE_GATE_KEPT    0
#define PTE_PRODUCT_KEPT 0
#else
#define PTE_GATE_KEPT                                                                              \
  (PTE_STEP_KEPT(PTE_STEP_MIN, PTE_STEP_F32) && PTE_STEP_KEPT(PTE_STEP_MAX, PTE_STEP_F32) &&       \
   PTE_STEP_KEPT(PTE_STEP_ADD, PTE_STEP_F32) && PTE_STEP_KEPT(PTE_STEP_MUL, PTE_STEP_F32))
#define PTE_PRODUCT_KEPT                                                                           \
  (PTE_STEP_KEPT(PTE_STEP_SHR, PTE_STEP_I64) && PTE_STEP_KEPT(PTE_STEP_MUL, PTE_STEP_I64) &&       \
   PTE_STEP_KEPT(PTE_STEP_LOAD, PTE_STEP_I64) && PTE_STEP_KEPT(PTE_STEP_STORE, PTE_STEP_I64))
#endif
#define PTE_WHOLE_KEPT                                                                             \
  (PTE_GELU_KEPT || PTE_SILU_KEPT || PTE_GATE_KEPT) /* what may be all of a program */
#define PTE_FORMS_KEPT                                                                             \
  (PTE_DEQUANTIZE_KEPT || PTE_QUANTIZE_KEPT || PTE_PRODUCT_KEPT || PTE_WHOLE_KEPT)

#ifdef PTE_SMALL_BUFFERS /* no variant there asks for `by` */
#define PTE_RECIPROCAL_KEPT 0
#else
#define PTE_RECIPROCAL_KEPT PTE_QUANTIZE_KEPT
#endif

enum { PTE_PLANES = 4 };

/* Of one step; `x` is a register or an operand. Codes have 8 or 16 bits, those of PRODUCT 8.
 *
 * PRODUCT is what kernels/requantize/rescale.h says of narrow columns: with v the product of both
 * differences, code = (floor(v * multiplier / 2^32) + add) >> down, its zero point in `add`.
 *
 * QUANTIZE keeps the quotient in -far .. far. Where `by` is not 0, its code is that of
 *
 *     v = fma(x, by, x * rest)
 *
 * and far says nothing, unless |x * rest| >= 2, so v may pass 2^23, or x is a NaN: by + rest is 1 /
 * scale within 1.5 * 2^-47 of it, and `rest` one half to one and a half units of by's last place.
 * Why: v before it is rounded is q = x / scale within 3.1 * 2^-47 of it. Both become a float and
 * then a whole number, steps that never fall, so codes differ only where one of the places at which
 * these two rise, a float's half unit beside n / 2, n odd, lies between v and q. In units of such
 * places the latter is M = n 2^t +- 1 of 25 bits, t = 24 - floor(log2 n), scale is S of 24 bits,
 * and x is a multiple of 2^24 within 16 of S M. Modulo 2^t this says that S is within 16 of a
 * multiple of 2^t, of the least t for the n that codes have: then there is no `by`, unless S is
 * 2^23, whose quotients are exact both ways. */
typedef struct pte_form {
  uint8_t kind, x, dtype; /* of codes */
  uint8_t other;          /* PRODUCT: an operand, of the same dtype */
  union {
    struct {
      float scale, far;
    };
    struct {
      int32_t other_zero, down;
    };
  };
  union {
    struct {
      float inner, half, one;
    };
    struct {
      float by, rest;
    };
    struct {
      int32_t multiplier, add;
    };
  };
  int32_t zero, least, most;
} pte_form;

/* Whether its codes have 16 bits. */
static inline bool pte_form_has_words(const pte_form *f) {
  return (PTE_DTYPE_KEPT(PTE_I16) && f->dtype == PTE_I16) ||
         (PTE_DTYPE_KEPT(PTE_U16) && f->dtype == PTE_U16);
}

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
