/* A build for known programs (PTE_KERNEL_LIST) holds their operators, element types and storage
 * formats alone; a program with another is refused when it is opened. Constants: what is not kept,
 * the compiler drops. gen/steps.h has the same of steps, gen/ops.h of kinds of operators. */
#ifndef PTE_KEPT_H
#define PTE_KEPT_H

/* Whether the build has operator OP: PTE_WITHOUT_<OP> is not defined. Defined, it is nothing or a
 * digit. */
#define PTE_OP_KEPT(OP)        PTE_KEPT_WORD(PTE_WITHOUT_##OP)
#define PTE_KEPT_WORD(word)    PTE_KEPT_LETTERS(word)
#define PTE_KEPT_LETTERS(word) (sizeof #word > sizeof "1")

/* Values that stay from run to run, and with them what generates text (text/). */
#define PTE_STATES_KEPT PTE_OP_KEPT(STATES)
#define PTE_NEEDS_STATES(err)                                                                      \
  do {                                                                                             \
    if (!PTE_STATES_KEPT) return pte_fail(err, PTE_UNSUPPORTED, "states are not in this build");   \
  } while (0)

/* Dimensions that are set while running. */
#define PTE_COUNTED_KEPT PTE_OP_KEPT(COUNTED)

/* A function that operator OP alone calls. */
#define PTE_WITH(OP, function) (PTE_OP_KEPT(OP) ? (function) : NULL)

#ifdef PTE_KEPT_DTYPES
#define PTE_KEPT_IS_DTYPE(name, dtype) || (dtype) == PTE_##name
#define PTE_DTYPE_KEPT(dtype)          (0 PTE_KEPT_DTYPES(PTE_KEPT_IS_DTYPE, dtype))
#else
#define PTE_DTYPE_KEPT(dtype) 1
#endif

#ifdef PTE_KEPT_FORMATS
#define PTE_KEPT_IS_FORMAT(name, format) || (format) == PTE_FORMAT_##name
#define PTE_KEPT_HAS_CODES(name, codes)  || pte_format_codes(PTE_FORMAT_##name) == (codes)
#define PTE_FORMAT_KEPT(format)          (0 PTE_KEPT_FORMATS(PTE_KEPT_IS_FORMAT, format))
#define PTE_CODES_KEPT(codes)            (0 PTE_KEPT_FORMATS(PTE_KEPT_HAS_CODES, codes))
#define PTE_KEPT_IS_STORED(name, x)      || PTE_FORMAT_##name != PTE_FORMAT_PLAIN
#define PTE_STORED_KEPT                  (0 PTE_KEPT_FORMATS(PTE_KEPT_IS_STORED, 0))
#else
#define PTE_FORMAT_KEPT(format) 1
#define PTE_CODES_KEPT(codes)                                                                      \
  1                       /* of gen/layout.h, pte_format_codes: several formats may share them */
#define PTE_STORED_KEPT 1 /* any but PLAIN */
#endif

#endif
