/* Integer products on NEON with SDOT: the same source, the same bits. */
#if PTE_HAVE_NEON
#define VARIANT pte_gemm_blocks__dotprod
#include "kernels/gemm_int8/gemm_blocks_neon.inc"
#else
typedef int pte_gemm_blocks__dotprod_is_absent;
#endif
