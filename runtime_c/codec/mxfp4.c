/* mxfp4: OCP MX, elements E2M1. */
#include "codec/mx.h"

PTE_MX_CODEC(mxfp4, pte_mx_floor(bits, 2), 6.0, 2, 1)
