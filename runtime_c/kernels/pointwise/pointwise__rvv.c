/* The pointwise engine for RISC-V's vectors, of whatever length: the same source, vectorised by the
 * compiler, the same bits. */
#if PTE_HAVE_RVV
#define VARIANT pte_pointwise__rvv
#include "kernels/pointwise/pointwise_steps.inc"
#endif
