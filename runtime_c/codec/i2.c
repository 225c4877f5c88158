/* i2: integers -2 .. 1, signed. */
#include "codec/integers.h"

PTE_SIGNED_CODEC(i2, 2)
