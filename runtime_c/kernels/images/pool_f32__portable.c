/* Sums and maxima of rows in plain C: this file defines the bits. */
#define VARIANT pte_pool_f32__portable
#include "kernels/images/pool.inc"
