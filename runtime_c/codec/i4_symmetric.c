/* i4_symmetric: integers -7 .. 7. */
#include "codec/integers.h"

PTE_SYMMETRIC_CODEC(i4_symmetric, 4)
