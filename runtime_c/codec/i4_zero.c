/* i4_zero: integers -8 .. 7 less a zero point. */
#include "codec/integers.h"

PTE_ZERO_CODEC(i4_zero, 4)
