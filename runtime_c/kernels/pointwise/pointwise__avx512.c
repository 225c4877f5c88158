/* The pointwise engine for AVX-512: the same source, vectorised by the compiler, the
 * same bits. Rare steps are those of AVX2, which would take 35 KB more here, products of codes and
 * what transposes.
 */
#define VARIANT pte_pointwise__avx512
#if PTE_HAVE_AVX2
#define PTE_RARE_STEPS pte_pointwise_rare__avx2
#define PTE_TURN       pte_pointwise_turn__avx2
#define PTE_PRODUCT    pte_pointwise_product__avx2
#endif
#include "kernels/pointwise/pointwise_steps.inc"
