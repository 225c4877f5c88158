/* i4: integers -8 .. 7, signed. */
#include "codec/integers.h"

PTE_SIGNED_CODEC(i4, 4)
