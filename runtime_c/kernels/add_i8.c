/* add_i8: y = rescale(scaled(a - a_zero) + scaled(b - b_zero)), int8 in and out, without b: of a
 * alone. a, b and y dense and of one shape; y may be a. schema/integer.py has scaled and rescale.
 *
 * A code has 256 values, so what becomes of it before the sum is looked up; without b, all of it.
 */
#include "gen/ops.h"
#include "kernels/rescale.h"
#include "kernels/rows.h"

enum { CODES = 256, LEAST_ADDEND_SHIFT = 10 /* 2^38 / 2^10: both addends and their sum fit */ };

typedef struct add_i8 {
  const pte_call *call;
  const pte_add_i8_attrs *attrs;
  int32_t a[CODES], b[CODES]; /* by the code's bits */
  int8_t y[CODES];
} add_i8;

static void table_fill(int32_t *table, int64_t zero, int64_t multiplier, int64_t shift) {
  for (int32_t code = INT8_MIN; code <= INT8_MAX; code++)
    table[(uint8_t)code] =
        (int32_t)pte_scaled(code - (int32_t)zero, (int32_t)multiplier, (int32_t)shift);
}

static int8_t finish(const pte_add_i8_attrs *s, int32_t v) {
  return pte_rescale(v, (int32_t)s->multiplier, (int32_t)s->shift, (int32_t)s->y_zero,
                     (int32_t)s->low, (int32_t)s->high);
}

static void add_i8_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const add_i8 *s = context;
  const pte_tensor *b = s->call->in[1];
  const uint8_t *left = s->call->in[0]->data, *right = b == NULL ? NULL : b->data;
  const pte_add_i8_attrs attrs = *s->attrs;
  int8_t *y = s->call->out[0]->data;
  (void)thread;
  for (size_t i = begin; right == NULL && i < end; i++) y[i] = s->y[left[i]];
  for (size_t i = begin; right != NULL && i < end; i++)
    y[i] = finish(&attrs, s->a[left[i]] + s->b[right[i]]);
}

static pte_status check_in(const pte_call *call, int64_t value, int64_t least, int64_t most,
                           const char *name) {
  if (value >= least && value <= most) return PTE_OK;
  return pte_kernel_fail(call, PTE_BAD_PROGRAM, name, 255, -1, value, value < least ? least : most);
}

static pte_status add_i8_check(const pte_call *call) {
  const pte_add_i8_attrs *s = call->attrs;
  const int64_t codes[] = {s->a_zero, s->b_zero, s->y_zero, s->low, s->high};
  const int64_t factors[] = {s->a_multiplier, s->b_multiplier, s->multiplier};
  for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
    PTE_TRY(check_in(call, codes[i], INT8_MIN, INT8_MAX, "zero point or limit out of range"));
  for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
    PTE_TRY(check_in(call, factors[i], 0, INT32_MAX, "multiplier out of range"));
  PTE_TRY(check_in(call, s->a_shift, LEAST_ADDEND_SHIFT, PTE_SHIFT_MOST, "a_shift out of range"));
  PTE_TRY(check_in(call, s->b_shift, LEAST_ADDEND_SHIFT, PTE_SHIFT_MOST, "b_shift out of range"));
  PTE_TRY(check_in(call, s->shift, PTE_SHIFT_LEAST, PTE_SHIFT_MOST, "shift out of range"));
  return check_in(call, s->low, INT8_MIN, s->high, "low above high");
}

static pte_status add_i8_run(const pte_call *call) {
  const pte_add_i8_attrs *attrs = call->attrs;
  add_i8 s = {.call = call, .attrs = attrs};
  table_fill(s.a, attrs->a_zero, attrs->a_multiplier, attrs->a_shift);
  table_fill(s.b, attrs->b_zero, attrs->b_multiplier, attrs->b_shift);
  for (unsigned code = 0; code < CODES; code++) s.y[code] = finish(attrs, s.a[code]);
  pte_parallel(call, (size_t)pte_tensor_count(call->in[0]), 32768, add_i8_task, &s);
  return PTE_OK;
}

const pte_kernel pte_add_i8_kernel = {.check = add_i8_check, .run = add_i8_run};
