/* kernels/gemm/finish.h for NEON. */
#ifndef PTE_FINISH_NEON_H
#define PTE_FINISH_NEON_H

#include <arm_neon.h>

#include "kernels/gemm/finish.h"

#define FINISH_VECTOR         float32x4_t
#define FINISH_LANES          4
#define FINISH_PART           bool /* always */
#define FINISH_WHOLE          true
#define FINISH_LOAD(part, p)  ((void)(part), vld1q_f32(p))
#define FINISH_ALL            vdupq_n_f32
#define FINISH_ADD            vaddq_f32
#define FINISH_MOST(low, x)   vbslq_f32(vcleq_f32(x, low), low, x)
#define FINISH_LEAST(high, x) vbslq_f32(vcgeq_f32(x, high), high, x)
#include "kernels/gemm/finish_tile.inc"

#endif
