/* mxfp8_e5m2: OCP MX, elements E5M2; nothing is clipped. */
#include "codec/mx.h"

PTE_MX_CODEC(mxfp8_e5m2, pte_mx_rceil(bits, 57344.0), 57344.0, 5, 2)
