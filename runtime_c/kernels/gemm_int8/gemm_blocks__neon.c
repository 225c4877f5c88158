/* Integer products on NEON. */
#if PTE_HAVE_NEON
#define VARIANT pte_gemm_blocks__neon
#include "kernels/gemm_int8/gemm_blocks_neon.inc"
#else
typedef int pte_gemm_blocks__neon_is_absent;
#endif
