/* int8 products in int32 on NEON. */
#if PTE_HAVE_NEON
#define VARIANT pte_gemm_i32__neon
#include "kernels/matrix/gemm_i32_neon.inc"
#else
typedef int pte_gemm_i32__neon_is_absent;
#endif
