/* Rows of matmul_turned on NEON. */
#if PTE_HAVE_NEON
#include "kernels/rotate/rotate_rows.h"

PTE_ROTATE_I8(pte_rotate_i8__neon)
#endif
