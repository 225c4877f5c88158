/* A pointwise program behind matmul and conv: it turns elements of out[0] that were just computed
 * into the final ones, in place. Operand 0 of the program is that element, operand 1 + j is
 * call->in[first_x + j] at the same place.
 *
 *     needs: PTE_TRY(pte_epilogue_needs(call, attrs->steps, 3, &needs));
 *     keep:  pte_epilogue_keep(call, attrs->steps, 3, kept);
 *     run:   pte_engine *e = pte_epilogue_open(call, attrs->steps, 3, kept, scratch, &finish);
 *            for each block, on any thread: if (e) pte_epilogue_run(e, thread, row, column, count,
 * y); return pte_epilogue_close(e, call);
 *
 * Long spans are cheaper: a span of 16 costs about as much as one of 64. */
#ifndef PTE_EPILOGUE_H
#define PTE_EPILOGUE_H

#include "kernels/gemm/finish.h"
#include "kernels/pointwise/pointwise.h"

/* first_x: index in call->in of the first epilogue operand, which is the row's `xs`.
 * Bytes, multiples of 64, of what pte_epilogue_keep fills and of scratch; 0 where a finish
 * (kernels/gemm/finish.h) says all of the program. */
pte_status pte_epilogue_needs(const pte_call *call, pte_steps steps, uint32_t first_x,
                              pte_needs *out);
void pte_epilogue_keep(const pte_call *call, pte_steps steps, uint32_t first_x, void *kept);

/* What follows the sums: `*out_finish`, then the engine. NULL: the finish is all. */
pte_engine *pte_epilogue_open(const pte_call *call, pte_steps steps, uint32_t first_x, void *kept,
                              void *scratch, pte_finish_f32 *out_finish);

/* Applies the program to `count` elements at y, which are row `row` (flat over all axes but the
 * last), columns `column` on, of out[0]. y may be the output itself or a buffer. Rows follow each
 * other: count may run over the end of a row. */
static inline void pte_epilogue_run(const pte_engine *engine, uint32_t thread, int64_t row,
                                    int64_t column, int64_t count, float *y) {
  int64_t begin = row * engine->shape[engine->rank - 1] + column;
  pte_engine_run(engine, thread, y, begin, begin + count);
}

/* PTE_BAD_DATA: an integer division by zero, at the lowest position. `engine` may be NULL. */
pte_status pte_epilogue_close(const pte_engine *engine, const pte_call *call);

#endif
