/* Bounds of operations: compiled for the host, which refuses a bad payload when it is opened, and
 * for the DSP, which trusts no host. Sizes are 64-bit; nothing divides. */
#include "delegates/hexagon/protocol.h"

/* The product of extents, each in 1 .. HEXAGON_MAX_EXTENT; 0: one is not, or it is beyond a region.
 */
static uint64_t product(const uint32_t *extents, int count) {
  uint64_t size = 1;
  for (int i = 0; i < count; i++) {
    if (extents[i] == 0 || extents[i] > HEXAGON_MAX_EXTENT) return 0;
    size *= extents[i];
    if (size > HEXAGON_MAX_REGION) return 0;
  }
  return size;
}

static uint64_t rounded(uint64_t size, uint32_t step) {
  return (size + step - 1) & ~(uint64_t)(step - 1);
}

static int fits(uint32_t offset, uint64_t size, uint32_t limit) {
  return offset % HEXAGON_ALIGN == 0 && size <= limit && offset <= limit - size;
}

/* A tensor of the arena owns whole vectors. */
static hexagon_status tensor(uint32_t offset, uint64_t size, uint32_t arena_bytes) {
  if (size == 0) return HEXAGON_BAD_EXTENT;
  if (offset % HEXAGON_ALIGN != 0) return HEXAGON_BAD_ALIGNMENT;
  return fits(offset, rounded(size, HEXAGON_ALIGN), arena_bytes) ? HEXAGON_DONE
                                                                 : HEXAGON_OUT_OF_ARENA;
}

static int in_kernel(uint32_t value, uint32_t least) {
  return value >= least && value <= HEXAGON_MAX_KERNEL;
}

static int kernel_is_sane(const hexagon_window *w) {
  return in_kernel(w->kernel_h, 1) && in_kernel(w->kernel_w, 1) && in_kernel(w->stride_h, 1) &&
         in_kernel(w->stride_w, 1) && in_kernel(w->dilation_h, 1) && in_kernel(w->dilation_w, 1) &&
         in_kernel(w->pad_h, 0) && in_kernel(w->pad_w, 0);
}

static hexagon_status tables(const hexagon_op *op, uint64_t weights, uint64_t channels,
                             uint32_t weights_bytes) {
  uint64_t words = channels * 4;
  int fine = fits(op->weights, weights, weights_bytes) && fits(op->bias, words, weights_bytes) &&
             fits(op->multiplier, words, weights_bytes) && fits(op->shift, words, weights_bytes);
  return fine ? HEXAGON_DONE : HEXAGON_OUT_OF_WEIGHTS;
}

static hexagon_status conv(const hexagon_op *op, const hexagon_window *w, uint32_t weights_bytes,
                           uint32_t arena_bytes) {
  uint64_t terms = hexagon_terms(w), channels = rounded(w->out_c, HEXAGON_LANES) * w->groups;
  uint64_t needed = HEXAGON_CHUNK * terms + HEXAGON_ALIGN;
  if (!hexagon_is_direct(w)) {
    hexagon_status status = tensor(op->scratch, op->scratch_bytes, arena_bytes);
    if (status != HEXAGON_DONE) return status;
    if (op->scratch_bytes < needed) return HEXAGON_OUT_OF_ARENA;
  }
  return tables(op, channels * terms, channels, weights_bytes);
}

static hexagon_status depthwise(const hexagon_op *op, const hexagon_window *w,
                                uint32_t weights_bytes) {
  uint64_t channels = rounded(w->in_c, HEXAGON_ALIGN);
  return tables(op, channels * rounded((uint64_t)w->kernel_h * w->kernel_w, 4), channels,
                weights_bytes);
}

static hexagon_status window(const hexagon_op *op, uint32_t weights_bytes, uint32_t arena_bytes) {
  const hexagon_window *w = &op->of.window;
  const uint32_t in[] = {w->batch, w->in_h, w->in_w, w->in_c, w->groups};
  const uint32_t out[] = {w->batch, w->out_h, w->out_w, w->out_c, w->groups};
  const uint32_t kernel[] = {w->kernel_h, w->kernel_w, w->in_c};
  if (!kernel_is_sane(w)) return HEXAGON_BAD_EXTENT;
  uint64_t terms = product(kernel, op->kind == HEXAGON_CONV ? 3 : 2);
  if (terms == 0 || terms > HEXAGON_MAX_TERMS) return HEXAGON_BAD_EXTENT;
  hexagon_status status = tensor(op->x, product(in, 5), arena_bytes);
  if (status == HEXAGON_DONE) status = tensor(op->y, product(out, 5), arena_bytes);
  if (status != HEXAGON_DONE) return status;
  if (op->kind == HEXAGON_CONV) return conv(op, w, weights_bytes, arena_bytes);
  if (w->groups != 1 || w->in_c != w->out_c) return HEXAGON_BAD_EXTENT;
  return op->kind == HEXAGON_DEPTHWISE ? depthwise(op, w, weights_bytes) : HEXAGON_DONE;
}

static hexagon_status move(const hexagon_op *op, uint32_t arena_bytes) {
  const hexagon_move *m = &op->of.move;
  uint64_t last = 0;
  hexagon_status status = tensor(op->y, product(m->extents, HEXAGON_MOVE_AXES), arena_bytes);
  if (status != HEXAGON_DONE) return status;
  for (int i = 0; i < HEXAGON_MOVE_AXES; i++) last += (uint64_t)(m->extents[i] - 1) * m->strides[i];
  return tensor(op->x, last + 1, arena_bytes);
}

static hexagon_status pointwise(const hexagon_op *op, uint32_t weights_bytes,
                                uint32_t arena_bytes) {
  uint32_t factors = op->kind == HEXAGON_RESCALE ? 1 : op->kind == HEXAGON_ADD ? 3 : 0;
  hexagon_status status = tensor(op->x, op->of.count, arena_bytes);
  if (status == HEXAGON_DONE) status = tensor(op->y, op->of.count, arena_bytes);
  if (status == HEXAGON_DONE && op->kind == HEXAGON_ADD)
    status = tensor(op->x2, op->of.count, arena_bytes);
  if (status != HEXAGON_DONE || factors == 0) return status;
  int fine = fits(op->multiplier, (uint64_t)factors * 4, weights_bytes) &&
             fits(op->shift, (uint64_t)factors * 4, weights_bytes);
  return fine ? HEXAGON_DONE : HEXAGON_OUT_OF_WEIGHTS;
}

static int is_code(int32_t value) { return value >= -128 && value <= 127; }

hexagon_status hexagon_check_op(const hexagon_op *op, uint32_t weights_bytes,
                                uint32_t arena_bytes) {
  if (!is_code(op->x_zero) || !is_code(op->x2_zero) || !is_code(op->y_zero) || !is_code(op->low) ||
      !is_code(op->high) || op->low > op->high)
    return HEXAGON_BAD_CODE;
  switch (op->kind) {
  case HEXAGON_CONV:
  case HEXAGON_DEPTHWISE:
  case HEXAGON_MAX_POOL: return window(op, weights_bytes, arena_bytes);
  case HEXAGON_RESCALE:
  case HEXAGON_ADD:
  case HEXAGON_CLAMP: return pointwise(op, weights_bytes, arena_bytes);
  case HEXAGON_MOVE: return move(op, arena_bytes);
  default: return HEXAGON_BAD_KIND;
  }
}

hexagon_status hexagon_check_layout(const hexagon_layout *l) {
  uint64_t ops_end = (uint64_t)l->ops_at + (uint64_t)l->op_count * sizeof(hexagon_op);
  uint64_t weights_end = (uint64_t)l->weights_at + l->weights_bytes;
  uint64_t arena_end = (uint64_t)l->arena_at + l->arena_bytes;
  int aligned = (l->ops_at | l->weights_at | l->arena_at) % HEXAGON_ALIGN == 0;
  int ordered = ops_end <= l->weights_at && weights_end <= l->arena_at &&
                arena_end + HEXAGON_SLACK <= l->region_bytes;
  return aligned && ordered && l->op_count <= HEXAGON_MAX_OPS &&
                 l->region_bytes <= HEXAGON_MAX_REGION
             ? HEXAGON_DONE
             : HEXAGON_BAD_LAYOUT;
}
