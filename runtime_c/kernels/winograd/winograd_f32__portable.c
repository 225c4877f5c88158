/* Winograd's transforms in plain C: this file defines the bits. */
#define VARIANT pte_winograd_f32__portable
#include "kernels/winograd/winograd.inc"
