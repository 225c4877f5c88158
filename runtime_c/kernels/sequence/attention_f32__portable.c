/* attention in plain C: this file defines the bits. */
#define VARIANT pte_attention_f32__portable
#include "kernels/sequence/attention.inc"
