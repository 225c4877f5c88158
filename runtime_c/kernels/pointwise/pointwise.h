/* The engine that runs pointwise programs (schema/steps.py) tile by tile. Used by the operator
 * `pointwise`, and through kernels/gemm/epilogue.h by matmul and conv.
 *
 * A program works on elements in the row-major order of one shape: element `flat` of every operand
 * and output belongs together. A tile is PTE_TILE such elements; a register is one tile: f32 and
 * bool (0 or 1) take 4 bytes an element, f64 and i64 take 8. Operands that lie as their registers
 * do are read in place, without a copy. */
#ifndef PTE_POINTWISE_H
#define PTE_POINTWISE_H

#include "kernels/pointwise/engine.h"

/* What a program works on. With `y`, operand 0 and output 0 are y. */
typedef struct pte_operands {
  const pte_tensor *y;
  const pte_tensor *const *xs;
  pte_tensor *const *outs; /* not read where y is given */
  uint32_t x_count, out_count;
} pte_operands;

/* Bytes of an engine, whole lines of 64: what pte_engine_keep fills, and scratch of runs; 0 where
 * there is no work. PTE_NO_MEMORY: more than 64 bits. */
pte_status pte_engine_needs(const pte_call *call, pte_steps program, const pte_operands *operands,
                            pte_needs *out);

/* Makes an engine in `kept` from shapes and types: operands need no address. */
void pte_engine_keep(const pte_call *call, pte_steps program, const pte_operands *operands,
                     void *kept);

/* Readies it for a run with these operands. */
pte_engine *pte_engine_open(const pte_call *call, const pte_operands *operands, void *kept,
                            void *scratch);

/* Runs elements begin .. end on thread `thread`, or fewer where the run is to end; a fault is kept
 * in the engine. It looks at the watch once in PTE_CHUNK steps of its own: callers count many small
 * spans. */
void pte_engine_run(const pte_engine *engine, uint32_t thread, float *y, int64_t begin,
                    int64_t end);

/* PTE_BAD_DATA where any run met an integer division by zero, at the lowest position. */
pte_status pte_engine_close(const pte_engine *engine, const pte_call *call);

/* A step of pointwise_rare.inc, of the variant for AVX2. */
int64_t pte_pointwise_rare__avx2(const pte_step *s, const void *a, const void *b, void *y,
                                 size_t n);

/* The form PRODUCT of elements flat .. flat + n, in the variant for AVX2; `w`: the output. */
void pte_pointwise_product__avx2(const pte_form *f, const pte_engine *e, const pte_walk *w,
                                 int64_t flat, size_t n);

/* `turn` of the variant for AVX2. */
void pte_pointwise_turn__avx2(bool words, size_t rows, size_t columns, const void *x, size_t x_row,
                              void *y, size_t y_row);

#endif
