/* Rows of matmul_turned on AVX-512. */
#if PTE_HAVE_AVX512VNNI
#include "kernels/rotate/rotate_rows.h"

PTE_ROTATE_I8(pte_rotate_i8__avx512vnni)
#endif
