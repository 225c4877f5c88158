/* Rows of matmul_turned for Cortex-M with vectors. */
#if PTE_HAVE_MVE
#include "kernels/rotate/rotate_rows.h"

PTE_ROTATE_I8(pte_rotate_i8__mve)
#else
typedef int pte_rotate_i8__mve_is_absent;
#endif
