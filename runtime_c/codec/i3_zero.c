/* i3_zero: integers -4 .. 3 less a zero point. */
#include "codec/integers.h"

PTE_ZERO_CODEC(i3_zero, 3)
