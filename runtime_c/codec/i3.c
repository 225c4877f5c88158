/* i3: integers -4 .. 3, signed. */
#include "codec/integers.h"

PTE_SIGNED_CODEC(i3, 3)
