/* i2_zero: integers -2 .. 1 less a zero point. */
#include "codec/integers.h"

PTE_ZERO_CODEC(i2_zero, 2)
