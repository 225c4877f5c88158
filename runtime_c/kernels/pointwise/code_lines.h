/* Pointwise programs that do nothing but turn floats into codes or codes into floats. */
#ifndef PTE_CODE_LINES_H
#define PTE_CODE_LINES_H

#include "kernels/pointwise/engine.h"

/* Whether the engine's program is one form between f32 and codes. */
bool pte_code_lines_are(const pte_engine *engine);

/* Runs the engine's program, if it is one form between f32 and codes and both tensors are dense, in
 * one order or with axis 1 innermost in one of them. false: it is not, and nothing was done. */
bool pte_code_lines_run(const pte_call *call, const pte_engine *engine);

#endif
