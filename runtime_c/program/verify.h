/* What is proved of a program's bytes before anybody reads them, and what is left to prepare.
 *
 * Proved here (nothing of it depends on the sizes of dimensions):
 *   - header, segment table, digests of both and of MANIFEST and PROGRAM; segments in order,
 * aligned, apart; every FlatBuffer offset, vtable, vector, string.
 *   - every index and range names something that exists: strings, refs, ints, literals, steps,
 * attrs, exprs, dims, constants, states, values, instrs, blocks, ports, methods, delegates,
 * segments, externals.
 *   - enums are defined, ranks at most 8, reserved bytes zero. Expressions refer to lower ones; a
 * counted dimension's capacity is a lower expression than those that use the dimension.
 *   - values: a base is of the right kind, of equal dtype (layout, format, block, groups, and
 * static shape for a constant); views lie in a lower value of the same method that is no view;
 * `above` names lower PLANNED values of the same method; INPUT and OUTPUT values are their port's
 * value; a method has each state once, ascending.
 *   - constants lie in a CONSTANTS segment and have exactly the bytes that dtype, layout, format,
 * block, groups, shape need.
 *   - instructions: operator known and in this build; number, rank (the row's shape line on ranks),
 * dtype, layout of inputs and outputs as the row says; outputs are never CONSTANT or INPUT, nor
 * views of them; attribute struct in bounds, enums defined, lists in bounds (Dims: existing
 * expressions), Steps a valid program for these operands (steps defined, registers written before
 * read, of the right types, every output stored once).
 *   - blocks: nesting ends, at most 8 deep, within one method; params and results agree in number,
 * rank, dtype with the instruction that names the block.
 *   - the work of all this is linear in the bytes: lists may share refs only up to a budget, and
 * inputs and outputs of an instruction with several outputs are compared up to another.
 *
 * Left to prepare, with sizes known: expressions that overflow or divide by zero; extents (shape
 * line), sizes, checks of dimensions; that every view lies inside its base and written ones touch
 * no element twice; that tensors whose port is not `strided` are dense; that outputs do not overlap
 * inputs other than as `inplace` allows; kernels' own checks; the planned offsets; memory caps.
 * Left to run: that a PARAM is bound when it is used (a file may use it outside its block) and,
 * where it is written, not to an INPUT or CONSTANT; that bindings end with the instruction that
 * made them; and what data decides. */
#ifndef PTE_VERIFY_H
#define PTE_VERIFY_H

#include "program/program.h"

#define PTE_MAX_SEGMENTS    4096
#define PTE_MAX_BLOCK_DEPTH 8

#endif
