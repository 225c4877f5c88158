/* Decoding of stored weights in plain C. */
#define VARIANT pte_panel_decode__portable
#include "kernels/panel_decode.inc"
