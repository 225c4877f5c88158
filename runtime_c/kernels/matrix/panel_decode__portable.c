/* Decoding of stored weights in plain C. */
#define VARIANT pte_panel_decode__portable
#include "kernels/matrix/panel_decode.inc"
