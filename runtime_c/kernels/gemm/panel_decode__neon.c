/* Decoding of FP8 for NEON: sixteen rows of a panel are four registers. The portable variant
 * decodes all else. */
#if PTE_HAVE_NEON
#include "kernels/gemm/panel_decode.h"

extern const pte_panel_decode pte_panel_decode__portable;

#define VARIANT     pte_panel_decode__neon
#define OTHERS_READ pte_panel_decode__portable.read
#include "kernels/gemm/panel_floats.inc"
#else
typedef int pte_panel_decode__neon_is_absent;
#endif
