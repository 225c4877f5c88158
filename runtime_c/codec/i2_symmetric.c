/* i2_symmetric: integers -1 .. 1. */
#include "codec/integers.h"

PTE_SYMMETRIC_CODEC(i2_symmetric, 2)
