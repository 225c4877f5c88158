/* f32 rows as a panel. */
#ifndef PTE_PANEL_PACK_H
#define PTE_PANEL_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/watch.h"

/* Writes panel[k][16] from `rows` <= 16 rows of w, whose element [i][j] lies at w + i * row_step +
 * j * step; zeros in the columns of rows that do not exist. Looks at the run's watch; false: the
 * run is to end. */
bool pte_panel_pack(pte_pace *pace, size_t rows, size_t k, const float *w, int64_t row_step,
                    int64_t step, float *panel);

#endif
