/* Integer products on NEON with SDOT: the same source, the same bits. */
#if PTE_HAVE_NEON
#define VARIANT pte_gemm_i8__dotprod
#include "kernels/matrix/gemm_i8_neon.inc"
#else
typedef int pte_gemm_i8__dotprod_is_absent;
#endif
