/* e4m3_channel: FP8 E4M3FN. */
#include "codec/fp8.h"

PTE_FP8_CODEC(e4m3_channel, 448.0f, 4, 3)
