/* int8 products in int32 on NEON. */
#if PTE_HAVE_NEON
#define VARIANT pte_gemm_static__neon
#include "kernels/gemm_int8/gemm_static_neon.inc"
#else
typedef int pte_gemm_static__neon_is_absent;
#endif
