/* Weighted sums of rows in plain C: this file defines the bits. */
#define VARIANT pte_blend_f32__portable
#include "kernels/images/blend.inc"
