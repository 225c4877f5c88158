/* The pointwise engine in portable C: defines the bits. */
#define VARIANT pte_pointwise__portable
#include "kernels/pointwise/pointwise_steps.inc"
