#include "kernels/requantize/shifts.h"

#include "kernels/requantize/rescale.h"

enum { SHIFTS = 4 }; /* the input */

pte_status pte_shifts_check(const pte_call *call, pte_pace *pace) {
  const int8_t *shift = call->in[SHIFTS]->data;
  for (int64_t n = 0, end = 0, all = call->in[SHIFTS]->shape[0]; n < all; n++) {
    if (n == end && (end += pte_pace_take(pace, all - n, 1, 1)) == n) return PTE_CANCELLED;
    if (shift[n] < PTE_SHIFT_LEAST || shift[n] > PTE_SHIFT_MOST)
      return pte_kernel_fail(call, PTE_BAD_DATA, "shift out of range", SHIFTS, n, shift[n],
                             PTE_SHIFT_MOST);
  }
  return PTE_OK;
}
