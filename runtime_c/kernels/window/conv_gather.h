/* Windows of an image of integers as rows of a matrix, of K elements each. */
#ifndef PTE_CONV_GATHER_H
#define PTE_CONV_GATHER_H

#include "kernels/window/conv_window.h"

typedef struct pte_conv_gather {
  const pte_conv_window *w; /* borrowed until the last call */
  size_t channels;          /* of the group whose windows they are */
  size_t bytes;             /* of an element: 1 or 2 */
  int64_t padding;          /* an element of it, and of what lies between spread ones */
} pte_conv_gather;

/* The window of `pixel` to `to`: taps, then channels of the group whose first one of the image is
 * at `image`. */
void pte_conv_gather_window(const pte_conv_gather *g, const char *image,
                            const pte_conv_pixel *pixel, char *to);

/* `count` elements of padding to `to`; the address behind them. */
char *pte_conv_gather_padding(const pte_conv_gather *g, size_t count, char *to);

/* How many windows from `pixel` on, along a line of y, lie wholly in x. */
size_t pte_conv_windows_inside(const pte_conv_window *w, const pte_conv_pixel *pixel);

#endif
