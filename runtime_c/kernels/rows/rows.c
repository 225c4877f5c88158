#include "kernels/rows/rows.h"

bool pte_row_move(pte_pace *pace, void *to, int64_t to_step, const void *from, int64_t from_step,
                  int64_t count, unsigned bytes) {
  char *y = to;
  const char *x = from;
  if (!pte_pace_go(pace, 8)) return false; /* for the row itself, which may be empty */
  for (int64_t piece; count > 0; count -= piece) {
    if ((piece = pte_pace_take(pace, count, 1, 1)) == 0) return false;
    pte_row_copy(y, to_step, x, from_step, piece, bytes);
    y += piece * to_step * bytes;
    x += piece * from_step * bytes;
  }
  return true;
}
