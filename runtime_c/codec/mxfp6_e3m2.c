/* mxfp6_e3m2: OCP MX, elements E3M2. */
#include "codec/mx.h"

PTE_MX_CODEC(mxfp6_e3m2, pte_mx_floor(bits, 4), 28.0, 3, 2)
