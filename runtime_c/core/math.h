/* All arithmetic that gives the same bits on every target: operations, then elementary functions.
 */
#ifndef PTE_MATH_H
#define PTE_MATH_H

#include "core/math_f32.h"
#include "core/math_f64.h"
#include "core/scalar.h"

#endif
