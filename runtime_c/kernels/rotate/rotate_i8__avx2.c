/* Rows of matmul_turned on AVX2. */
#if PTE_HAVE_AVX2
#include "kernels/rotate/rotate_rows.h"

PTE_ROTATE_I8(pte_rotate_i8__avx2)
#endif
