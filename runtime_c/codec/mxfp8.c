/* mxfp8: OCP MX, elements E4M3; nothing is clipped, which the floor rule would cost 1 dB. */
#include "codec/mx.h"

PTE_MX_CODEC(mxfp8, pte_mx_rceil(bits, 448.0), 448.0, 4, 3)
