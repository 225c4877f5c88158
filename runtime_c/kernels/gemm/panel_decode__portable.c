/* Decoding of stored weights in plain C. */
#define CODES_HERE(codes) true
#include "kernels/gemm/panel_decode.inc"

const pte_panel_decode pte_panel_decode__portable = {panel_read, NULL};
