/* mxfp6: OCP MX, elements E2M3. */
#include "codec/mx.h"

PTE_MX_CODEC(mxfp6, pte_mx_floor(bits, 2), 7.5, 2, 3)
