/* int8 products in int32 on NEON with SDOT: the same source, the same bits. */
#if PTE_HAVE_NEON
#define VARIANT pte_gemm_static__dotprod
#include "kernels/gemm_int8/gemm_static_neon.inc"
#else
typedef int pte_gemm_static__dotprod_is_absent;
#endif
