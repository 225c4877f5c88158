/* nf4_e4m3: NF4's levels in blocks of 32 whose scales are E4M3 times an f32 of the row. */
#include "codec/levels.h"
#include "codec/nested.h"

PTE_NESTED_CODEC(nf4_e4m3, 32, 1.0f, pte_nearest_level)
