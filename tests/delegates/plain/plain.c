/* The plain delegate: the integer contract in loops that anybody can read. It exists for the tests,
 * which build it as a shared library and hand it payloads of plain.py, sound and corrupted.
 *
 *   section 1  i32: counts of values, inputs, outputs, ops; the inputs' and outputs' values;
 *              values: rank and 8 extents; ops: see `op`
 *   section 2  constants; an op has byte offsets into it */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "delegates/payload.h"

enum { KIND = 999, MAX_COUNT = 4096, MAX_ELEMENTS = 1 << 22 };
enum { COPY, CONV, LINEAR, ADD, AVERAGE_POOL, RESCALE, MAX_POOL, TRANSPOSE };

typedef struct value {
  int32_t rank, shape[8];
} value;

typedef struct op {
  int32_t kind, a, b, y;                                    /* values */
  int32_t w, bias, multipliers, shifts;                     /* constants */
  int32_t kernel[2], stride[2], pad[2], dilation[2], group; /* of a transpose: perm, 8 words */
  int32_t x_zero, y_zero, low, high, multiplier, shift;
  int32_t b_zero, a_multiplier, a_shift, b_multiplier, b_shift;
} op;

typedef struct tape {
  int32_t value_count, input_count, output_count, op_count;
  const int32_t *inputs, *outputs;
  const value *values;
  const op *ops;
  const unsigned char *constants;
  uint64_t constant_bytes;
  const pte_delegate_until *until; /* of the run that is going on */
} tape;

static int runs_left = -1; /* -1: never fails */

/* `run` fails when it has been called so many more times; -1: never. */
void plain_fail_after(int runs);
void plain_fail_after(int runs) { runs_left = runs; }

/* --- checking ------------------------------------------------------------------------------- */

static int64_t count_of(const value *v) {
  int64_t count = 1;
  for (int32_t i = 0; i < v->rank; i++) count *= v->shape[i];
  return count;
}

static int value_is_sound(const value *v) {
  int64_t count = 1;
  if (v->rank < 0 || v->rank > 8) return 0;
  for (int32_t i = 0; i < v->rank; i++) {
    if (v->shape[i] < 1 || v->shape[i] > MAX_ELEMENTS) return 0;
    count *= v->shape[i];
    if (count > MAX_ELEMENTS) return 0;
  }
  return 1;
}

/* `count` constants of `size` bytes at `at`, aligned. */
static int holds(const tape *t, int32_t at, int64_t count, int64_t size) {
  return at >= 0 && at % size == 0 && (uint64_t)at + (uint64_t)(count * size) <= t->constant_bytes;
}

static int shift_is_sound(int32_t shift) { return shift >= 2 && shift <= 62; }

static int channels_are_sound(const tape *t, const op *o, int64_t n, int64_t terms) {
  if (!holds(t, o->w, n * terms, 1) || !holds(t, o->bias, n, 4) ||
      !holds(t, o->multipliers, n, 4) || !holds(t, o->shifts, n, 1))
    return 0;
  for (int64_t i = 0; i < n; i++)
    if (!shift_is_sound((int8_t)t->constants[o->shifts + i])) return 0;
  return 1;
}

static int window_is_sound(const op *o, const value *a, const value *y) {
  if (a->rank != 4 || y->rank != 4 || a->shape[0] != y->shape[0]) return 0;
  for (int i = 0; i < 2; i++)
    if (o->kernel[i] < 1 || o->kernel[i] > 4096 || o->stride[i] < 1 || o->stride[i] > 4096 ||
        o->dilation[i] < 1 || o->dilation[i] > 4096 || o->pad[i] < 0 || o->pad[i] > 4096)
      return 0;
  return count_of(y) * o->kernel[0] * o->kernel[1] <= 1 << 28;
}

static int conv_is_sound(const tape *t, const op *o, const value *a, const value *y) {
  if (!window_is_sound(o, a, y) || o->group < 1) return 0;
  int64_t c = a->shape[1], n = y->shape[1];
  if (c % o->group != 0 || n % o->group != 0) return 0;
  int64_t terms = c / o->group * o->kernel[0] * o->kernel[1];
  return count_of(y) * terms <= 1 << 28 && channels_are_sound(t, o, n, terms);
}

static int linear_is_sound(const tape *t, const op *o, const value *a, const value *y) {
  if (a->rank < 1 || y->rank < 1) return 0;
  int64_t k = a->shape[a->rank - 1], n = y->shape[y->rank - 1];
  return count_of(a) / k == count_of(y) / n && count_of(y) * k <= 1 << 28 &&
         channels_are_sound(t, o, n, k);
}

/* A transpose's axes fill the eight words of the window. */
static int32_t axis_of(const op *o, int32_t i) {
  int32_t perm[8];
  memcpy(perm, (const unsigned char *)o + offsetof(op, kernel), sizeof perm);
  return perm[i];
}

static int transpose_is_sound(const op *o, const value *a, const value *y) {
  unsigned seen = 0;
  if (a->rank != y->rank) return 0;
  for (int32_t i = 0; i < a->rank; i++) {
    int32_t axis = axis_of(o, i);
    if (axis < 0 || axis >= a->rank || a->shape[axis] != y->shape[i]) return 0;
    seen |= 1u << axis;
  }
  return seen == (1u << a->rank) - 1;
}

static int op_is_sound(const tape *t, const op *o) {
  int32_t n = t->value_count;
  if (o->a < 0 || o->a >= n || o->b < 0 || o->b >= n || o->y < 0 || o->y >= n) return 0;
  const value *a = &t->values[o->a], *b = &t->values[o->b], *y = &t->values[o->y];
  for (int32_t i = 0; i < t->input_count; i++)
    if (t->inputs[i] == o->y) return 0; /* inputs are not written */
  switch (o->kind) {
  case COPY: return count_of(a) == count_of(y);
  case CONV: return conv_is_sound(t, o, a, y);
  case LINEAR: return linear_is_sound(t, o, a, y);
  case ADD:
    return count_of(a) == count_of(y) && count_of(b) == count_of(y) && shift_is_sound(o->shift) &&
           shift_is_sound(o->a_shift) && shift_is_sound(o->b_shift);
  case RESCALE: return count_of(a) == count_of(y) && shift_is_sound(o->shift);
  case AVERAGE_POOL:
    return window_is_sound(o, a, y) && a->shape[1] == y->shape[1] && shift_is_sound(o->shift);
  case MAX_POOL: return window_is_sound(o, a, y) && a->shape[1] == y->shape[1];
  case TRANSPOSE: return transpose_is_sound(o, a, y);
  default: return 0;
  }
}

static pte_status read_counts(const pte_payload_section *section, tape *t, pte_error *error) {
  int32_t head[4];
  if (section->size < sizeof head) return pte_delegate_fail(error, "the tape ends early");
  memcpy(head, section->data, sizeof head);
  for (int i = 0; i < 4; i++)
    if (head[i] < 0 || head[i] > MAX_COUNT)
      return pte_delegate_fail(error, "count %d is %d, at most %d", i, head[i], MAX_COUNT);
  t->value_count = head[0], t->input_count = head[1];
  t->output_count = head[2], t->op_count = head[3];
  uint64_t bytes = sizeof head + 4 * ((uint64_t)head[1] + (uint64_t)head[2]) +
                   sizeof(value) * (uint64_t)head[0] + sizeof(op) * (uint64_t)head[3];
  if (section->size != bytes) return pte_delegate_fail(error, "the tape has another length");
  t->inputs = (const int32_t *)(const void *)(section->data + sizeof head);
  t->outputs = t->inputs + head[1];
  t->values = (const value *)(const void *)(t->outputs + head[2]);
  t->ops = (const op *)(const void *)(t->values + head[0]);
  return PTE_OK;
}

static pte_status read_tape(const char *target, const void *blob, size_t bytes, tape *t,
                            pte_error *error) {
  pte_payload payload;
  pte_payload_section words, constants;
  pte_status status = pte_payload_read(blob, bytes, KIND, target, &payload, error);
  if (status == PTE_OK) status = pte_payload_find(&payload, 1, &words, error);
  if (status == PTE_OK) status = pte_payload_find(&payload, 2, &constants, error);
  if (status == PTE_OK) status = read_counts(&words, t, error);
  if (status != PTE_OK) return status;
  t->constants = constants.data;
  t->constant_bytes = constants.size;
  for (int32_t i = 0; i < t->input_count + t->output_count; i++)
    if (t->inputs[i] < 0 || t->inputs[i] >= t->value_count)
      return pte_delegate_fail(error, "port %d is value %d", i, t->inputs[i]);
  for (int32_t i = 0; i < t->value_count; i++)
    if (!value_is_sound(&t->values[i])) return pte_delegate_fail(error, "value %d is unsound", i);
  for (int32_t i = 0; i < t->op_count; i++)
    if (!op_is_sound(t, &t->ops[i])) return pte_delegate_fail(error, "op %d is unsound", i);
  return PTE_OK;
}

/* --- arithmetic ----------------------------------------------------------------------------- */

static int64_t scaled(int64_t v, int64_t multiplier, int64_t shift) {
  return ((int32_t)v * multiplier + ((int64_t)1 << (shift - 1))) >> shift;
}

static int8_t clamped(const op *o, int64_t v) {
  v += o->y_zero;
  v = v < o->low ? o->low : v;
  return (int8_t)(v > o->high ? o->high : v);
}

static int32_t word(const unsigned char *at) {
  int32_t w;
  memcpy(&w, at, 4);
  return w;
}

static int8_t channel(const tape *t, const op *o, int64_t n, int64_t sum) {
  sum += word(t->constants + o->bias + 4 * n);
  return clamped(o, scaled(sum, word(t->constants + o->multipliers + 4 * n),
                           (int8_t)t->constants[o->shifts + n]));
}

/* Element (b, c, row, column) of an image; `outside` beyond its edges. */
static int64_t pixel(const value *v, const int8_t *x, int64_t b, int64_t c, int64_t row,
                     int64_t column, int64_t outside) {
  if (row < 0 || row >= v->shape[2] || column < 0 || column >= v->shape[3]) return outside;
  return x[((b * v->shape[1] + c) * v->shape[2] + row) * v->shape[3] + column];
}

/* The result at `at` of the four axes of y, which `i` counts through. */
static void place(const value *y, int64_t i, int64_t at[4]) {
  for (int axis = 3; axis >= 0; axis--) {
    at[axis] = i % y->shape[axis];
    i /= y->shape[axis];
  }
}

/* Whether the loop over `count` elements of y ends here: it looks once in 1024. */
static int is_over(const tape *t, int64_t i, int64_t count) {
  return i >= count || (i % 1024 == 0 && pte_delegate_left_ns(t->until) == 0);
}

static void conv(const tape *t, const op *o, const int8_t *x, int8_t *y) {
  const value *xs = &t->values[o->a], *ys = &t->values[o->y];
  int64_t own = xs->shape[1] / o->group, made = ys->shape[1] / o->group, at[4];
  for (int64_t i = 0; !is_over(t, i, count_of(ys)); i++) {
    place(ys, i, at);
    int64_t sum = 0, first = at[1] / made * own;
    const int8_t *w =
        (const int8_t *)t->constants + o->w + at[1] * own * o->kernel[0] * o->kernel[1];
    for (int64_t c = 0; c < own; c++)
      for (int64_t r = 0; r < o->kernel[0]; r++)
        for (int64_t k = 0; k < o->kernel[1]; k++)
          sum += *w++ * (pixel(xs, x, at[0], first + c,
                               at[2] * o->stride[0] - o->pad[0] + r * o->dilation[0],
                               at[3] * o->stride[1] - o->pad[1] + k * o->dilation[1], o->x_zero) -
                         o->x_zero);
    y[i] = channel(t, o, at[1], sum);
  }
}

static void pool(const tape *t, const op *o, const int8_t *x, int8_t *y) {
  const value *xs = &t->values[o->a], *ys = &t->values[o->y];
  int64_t at[4];
  for (int64_t i = 0; !is_over(t, i, count_of(ys)); i++) {
    place(ys, i, at);
    int64_t sum = 0, most = -128;
    for (int64_t r = 0; r < o->kernel[0]; r++)
      for (int64_t k = 0; k < o->kernel[1]; k++) {
        int64_t v =
            pixel(xs, x, at[0], at[1], at[2] * o->stride[0] - o->pad[0] + r * o->dilation[0],
                  at[3] * o->stride[1] - o->pad[1] + k * o->dilation[1],
                  o->kind == MAX_POOL ? -128 : o->x_zero);
        sum += v - o->x_zero;
        most = v > most ? v : most;
      }
    y[i] = o->kind == MAX_POOL ? (int8_t)most : clamped(o, scaled(sum, o->multiplier, o->shift));
  }
}

static void linear(const tape *t, const op *o, const int8_t *x, int8_t *y) {
  const value *xs = &t->values[o->a], *ys = &t->values[o->y];
  int64_t k = xs->shape[xs->rank - 1], n = ys->shape[ys->rank - 1];
  for (int64_t at = 0; !is_over(t, at, count_of(ys)); at++) {
    int64_t sum = 0, row = at / n, j = at % n;
    for (int64_t i = 0; i < k; i++)
      sum += (x[row * k + i] - o->x_zero) * (int64_t)(int8_t)t->constants[o->w + j * k + i];
    y[at] = channel(t, o, j, sum);
  }
}

static void transpose(const tape *t, const op *o, const int8_t *x, int8_t *y) {
  const value *xs = &t->values[o->a], *ys = &t->values[o->y];
  int64_t stride[8] = {0}, step = 1;
  for (int32_t i = xs->rank; i-- > 0; step *= xs->shape[i]) stride[i] = step;
  for (int64_t i = 0; i < count_of(ys); i++) {
    int64_t rest = i, from = 0;
    for (int32_t axis = ys->rank; axis-- > 0; rest /= ys->shape[axis])
      from += rest % ys->shape[axis] * stride[axis_of(o, axis)];
    y[i] = x[from];
  }
}

static void compute(const tape *t, const op *o, const int8_t *a, const int8_t *b, int8_t *y) {
  int64_t count = count_of(&t->values[o->y]);
  switch (o->kind) {
  case CONV: conv(t, o, a, y); break;
  case LINEAR: linear(t, o, a, y); break;
  case AVERAGE_POOL:
  case MAX_POOL: pool(t, o, a, y); break;
  case TRANSPOSE: transpose(t, o, a, y); break;
  case ADD:
    for (int64_t i = 0; i < count; i++)
      y[i] = clamped(o, scaled(scaled(a[i] - o->x_zero, o->a_multiplier, o->a_shift) +
                                   scaled(b[i] - o->b_zero, o->b_multiplier, o->b_shift),
                               o->multiplier, o->shift));
    break;
  case RESCALE:
    for (int64_t i = 0; i < count; i++)
      y[i] = clamped(o, scaled(a[i] - o->x_zero, o->multiplier, o->shift));
    break;
  default: memmove(y, a, (size_t)count);
  }
}

/* --- the table ------------------------------------------------------------------------------ */

static int accepts(void *self, const char *target, pte_error *error) {
  (void)self;
  if (strcmp(target, "plain-1") == 0) return 1;
  (void)pte_delegate_fail(error, "it runs plain-1 alone");
  return 0;
}

static pte_status instance_size(void *self, const char *target, const void *blob, size_t bytes,
                                size_t *out_bytes, pte_error *error) {
  tape t;
  (void)self;
  *out_bytes = sizeof t;
  return read_tape(target, blob, bytes, &t, error);
}

static pte_status open_instance(void *self, const char *target, const void *blob, size_t bytes,
                                pte_memory memory, void **out, pte_error *error) {
  (void)self;
  *out = memory.data;
  return read_tape(target, blob, bytes, memory.data, error);
}

static int fits(const tape *t, const int32_t *ports, int32_t count, uint32_t given,
                const pte_delegate_tensor *tensors) {
  if (given != (uint32_t)count) return 0;
  for (int32_t i = 0; i < count; i++)
    if (tensors[i].size_bytes != (uint64_t)count_of(&t->values[ports[i]])) return 0;
  return 1;
}

static uint64_t room(const value *v) { return ((uint64_t)count_of(v) + 63) / 64 * 64; }

static pte_status prepare(void *instance, const pte_delegate_io *io, uint64_t *out_scratch_bytes,
                          pte_error *error) {
  const tape *t = instance;
  *out_scratch_bytes = 0;
  for (int32_t i = 0; i < t->value_count; i++) *out_scratch_bytes += room(&t->values[i]);
  if (fits(t, t->inputs, t->input_count, io->input_count, io->inputs) &&
      fits(t, t->outputs, t->output_count, io->output_count, io->outputs))
    return PTE_OK;
  return pte_delegate_fail(error, "other inputs or outputs than it was compiled for");
}

/* Where a value lies: an input with the caller, all others in the scratch. */
static int8_t *address(const tape *t, const pte_delegate_io *io, void *scratch, int32_t v) {
  for (int32_t i = 0; i < t->input_count; i++)
    if (t->inputs[i] == v) return io->inputs[i].data;
  uint64_t offset = 0;
  for (int32_t i = 0; i < v; i++) offset += room(&t->values[i]);
  return (int8_t *)scratch + offset;
}

static pte_status run(void *instance, const pte_delegate_io *io, void *scratch,
                      const pte_delegate_until *until, pte_error *error) {
  tape *t = instance;
  t->until = until;
  if (runs_left == 0) {
    for (uint32_t i = 0; i < io->output_count; i++)
      memset(io->outputs[i].data, 0x55, (size_t)io->outputs[i].size_bytes / 2);
    return pte_delegate_fail(error, "it was told to fail");
  }
  if (runs_left > 0) runs_left--;
  for (int32_t i = 0; i < t->op_count; i++) {
    const op *o = &t->ops[i];
    compute(t, o, address(t, io, scratch, o->a), address(t, io, scratch, o->b),
            address(t, io, scratch, o->y));
    if (pte_delegate_left_ns(until) == 0) return pte_delegate_fail(error, "it was told to end");
  }
  for (int32_t i = 0; i < t->output_count; i++)
    memcpy(io->outputs[i].data, address(t, io, scratch, t->outputs[i]),
           (size_t)io->outputs[i].size_bytes);
  return PTE_OK;
}

static void close_instance(void *instance) { (void)instance; }

const pte_delegate_api *pte_delegate_plain(void);
const pte_delegate_api *pte_delegate_plain(void) {
  static const pte_delegate_api api = {.size = sizeof(pte_delegate_api),
                                       .version = PTE_DELEGATE_VERSION,
                                       .name = "plain",
                                       .accepts = accepts,
                                       .instance_size = instance_size,
                                       .open = open_instance,
                                       .prepare = prepare,
                                       .run = run,
                                       .close = close_instance};
  return &api;
}
