/* i3_symmetric: integers -3 .. 3. */
#include "codec/integers.h"

PTE_SYMMETRIC_CODEC(i3_symmetric, 3)
