/* Rows of matmul_turned in plain C. */
#include "kernels/rotate/rotate_rows.h"

PTE_ROTATE_I8(pte_rotate_i8__portable)
