/* What the host and the DSP say to each other: a region of shared memory, the operations in it, and
 * messages of 64 bytes. Both are little-endian; both compile this file; export/delegates/hexagon.py
 * packs the same structs.
 *
 *   region:  operations | weights | arena | HEXAGON_SLACK bytes that vectors may read beyond the
 * arena
 *
 * Each part starts on a multiple of HEXAGON_ALIGN. Offsets in an operation count from the start of
 * the weights or of the arena; tensors start on multiples of HEXAGON_ALIGN and own their bytes up
 * to the next one. The DSP writes nothing but the arena. Activations are int8, dense, channels
 * last. */
#ifndef PTE_HEXAGON_PROTOCOL_H
#define PTE_HEXAGON_PROTOCOL_H

#include <stdint.h>

#define HEXAGON_PROTOCOL 1u
#define HEXAGON_TARGET   "hexagon-v67-hvx128"
#define HEXAGON_MAGIC    0x58454850u /* "PHEX" */

enum {
  HEXAGON_ALIGN = 128,          /* bytes of a vector */
  HEXAGON_LANES = 32,           /* words of a vector */
  HEXAGON_SLACK = 256,          /* behind the arena */
  HEXAGON_CHUNK = 32,           /* pixels whose windows are gathered at a time */
  HEXAGON_MAX_EXTENT = 1 << 16, /* of a tensor's axis */
  HEXAGON_MAX_KERNEL = 1 << 12, /* of a kernel, stride, dilation, padding */
  HEXAGON_MAX_TERMS = 1 << 20,  /* products of one sum */
  HEXAGON_MAX_OPS = 1 << 14,
  HEXAGON_MAX_REGION = 1 << 28,
  HEXAGON_MOVE_AXES = 6
};

/* --- operations ----------------------------------------------------------------------------- */

enum {
  HEXAGON_CONV = 1,      /* y = rescale(bias + sum x w): any window and groups; linear is 1 x 1 */
  HEXAGON_DEPTHWISE = 2, /* the same, one channel a group; averages have weights of 1 */
  HEXAGON_MAX_POOL = 3,
  HEXAGON_RESCALE = 4,
  HEXAGON_ADD = 5,
  HEXAGON_CLAMP = 6,
  HEXAGON_MOVE = 7 /* transposes */
};

/* Windows of [batch, in_h, in_w, groups * in_c] -> [batch, out_h, out_w, groups * out_c]. Weights
 * of CONV: [group][out_c / 32][terms / 4][32][4], terms = kernel_h * kernel_w * in_c, padded with
 * zeros; bias, multiplier and shift: i32 [group][out_c, padded to 32]. DEPTHWISE and MAX_POOL have
 * their channels in in_c = out_c, groups = 1; weights [c / 128][taps / 4][4][32][4], bias and the
 * others i32 [c, padded to 128]. The bias holds -x_zero * sum w, modulo 2^32. */
typedef struct hexagon_window {
  uint32_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
  uint32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  uint32_t groups;
} hexagon_window;

/* y[i0, .., i5] = x[sum i * stride] */
typedef struct hexagon_move {
  uint32_t extents[HEXAGON_MOVE_AXES], strides[HEXAGON_MOVE_AXES];
} hexagon_move;

typedef struct hexagon_op {
  uint32_t kind;
  uint32_t x, x2, y, scratch; /* in the arena */
  uint32_t scratch_bytes;
  uint32_t weights, bias, multiplier, shift; /* in the weights; of RESCALE 1, of ADD 3 words */
  int32_t x_zero, x2_zero, y_zero, low, high;
  uint32_t zero;
  union {
    hexagon_window window;
    hexagon_move move;
    uint32_t count; /* elements of RESCALE, ADD, CLAMP */
  } of;
} hexagon_op;

_Static_assert(sizeof(hexagon_op) == 128, "as export/delegates/hexagon.py packs it");

/* --- messages ------------------------------------------------------------------------------- */

typedef struct hexagon_layout {
  uint32_t region_bytes, ops_at, op_count, weights_at, weights_bytes, arena_at, arena_bytes;
} hexagon_layout;

enum { HEXAGON_HELLO = 1, HEXAGON_LOAD = 2, HEXAGON_RUN = 3 };

/* HELLO: nothing. LOAD: maps the region and checks every operation. RUN: runs them all. */
typedef struct hexagon_message {
  uint32_t magic, protocol, command, sequence;
  uint32_t status, op; /* of the answer: HEXAGON_DONE, or what is wrong with which operation */
  hexagon_layout layout;
  uint32_t zero[3];
} hexagon_message;

_Static_assert(sizeof(hexagon_message) == 64, "one message");

typedef enum hexagon_status {
  HEXAGON_DONE = 0,
  HEXAGON_BAD_MESSAGE = 1,
  HEXAGON_BAD_LAYOUT = 2,
  HEXAGON_NO_REGION = 3,
  HEXAGON_BAD_KIND = 4,
  HEXAGON_BAD_EXTENT = 5,
  HEXAGON_BAD_ALIGNMENT = 6,
  HEXAGON_OUT_OF_ARENA = 7,
  HEXAGON_OUT_OF_WEIGHTS = 8,
  HEXAGON_BAD_CODE = 9,
  HEXAGON_STATUS_COUNT
} hexagon_status;

/* --- checks, the same on both sides ---------------------------------------------------------- */

/* Whether the parts lie in order inside the region, aligned. */
hexagon_status hexagon_check_layout(const hexagon_layout *layout);

/* Whether everything that `op` reads and writes lies inside weights and arena, whatever its fields
 * say. An operation that passes cannot touch other memory; it may still be slow or meaningless. */
hexagon_status hexagon_check_op(const hexagon_op *op, uint32_t weights_bytes, uint32_t arena_bytes);

/* Bytes of a window's terms, padded to a word. */
static inline uint32_t hexagon_terms(const hexagon_window *w) {
  return (w->kernel_h * w->kernel_w * w->in_c + 3) & ~3u;
}

/* Whether the pixels of x are the rows of the product: nothing to gather. */
static inline int hexagon_is_direct(const hexagon_window *w) {
  return w->kernel_h == 1 && w->kernel_w == 1 && w->stride_h == 1 && w->stride_w == 1 &&
         w->pad_h == 0 && w->pad_w == 0 && w->groups == 1 && w->in_c % 4 == 0 &&
         w->in_h == w->out_h && w->in_w == w->out_w;
}

#endif
