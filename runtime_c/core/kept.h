/* A build for known programs (PTE_KERNEL_LIST) holds their element types and storage formats alone;
 * a program with another is refused when it is opened. Constants: what is not kept, the compiler
 * drops. */
#ifndef PTE_KEPT_H
#define PTE_KEPT_H

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
#else
#define PTE_FORMAT_KEPT(format) 1
#define PTE_CODES_KEPT(codes)                                                                      \
  1 /* of gen/layout.h, pte_format_codes: several formats may share them */
#endif

#endif
