/* Integer products on NEON. */
#if PTE_HAVE_NEON
#define VARIANT pte_gemm_i8__neon
#include "kernels/matrix/gemm_i8_neon.inc"
#else
typedef int pte_gemm_i8__neon_is_absent;
#endif
