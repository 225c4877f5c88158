/* i8_symmetric: signed bytes -127 .. 127 in blocks. */
#include "codec/integers.h"

PTE_SYMMETRIC_CODEC(i8_symmetric, 8)
