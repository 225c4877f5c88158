/* e5m2_channel: FP8 E5M2. */
#include "codec/fp8.h"

PTE_FP8_CODEC(e5m2_channel, 57344.0f, 5, 2)
