/* add_i8: y = rescale(scaled(a - a_zero) + scaled(b - b_zero)), int8 in and out, without b: of a
 * alone. a, b and y dense and of one shape; y may be a. schema/integer.py has scaled and rescale.
 *
 * A code has 256 values, so what becomes of it before the sum is looked up; without b, all of it.
 */
#include "gen/ops.h"
#include "kernels/rescale.h"
#include "kernels/rows.h"
#include "kernels/variants.h"

enum {
  CODES = 256,
  CHUNK = PTE_STRIP * PTE_PANEL,
  LEAST_ADDEND_SHIFT = 10 /* 2^38 / 2^10: both addends and their sum fit */
};

typedef struct add_i8 {
  const pte_call *call;
  const pte_gemm_i32 *kernel; /* for its rescale */
  pte_rescale_columns columns;
  int32_t a[CODES], b[CODES]; /* by the code's bits */
  int8_t y[CODES];
} add_i8;

static void table_fill(int32_t *table, int64_t zero, int64_t multiplier, int64_t shift) {
  for (int32_t code = INT8_MIN; code <= INT8_MAX; code++)
    table[(uint8_t)code] =
        (int32_t)pte_scaled(code - (int32_t)zero, (int32_t)multiplier, (int32_t)shift);
}

/* Every column is alike. */
static pte_rescale_columns columns_of(const pte_add_i8_attrs *attrs) {
  pte_rescale_columns c = {
      .zero = (int32_t)attrs->y_zero, .low = (int32_t)attrs->low, .high = (int32_t)attrs->high};
  for (unsigned n = 0; n < PTE_PANEL; n++)
    c.multiplier[n] = (int32_t)attrs->multiplier, c.shift[n] = attrs->shift;
  return c;
}

static void add_i8_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const add_i8 *s = context;
  const pte_tensor *b = s->call->in[1];
  const uint8_t *left = s->call->in[0]->data, *right = b == NULL ? NULL : b->data;
  int8_t *y = s->call->out[0]->data, tile[CHUNK];
  int32_t sum[PTE_STRIP][PTE_PANEL] = {{0}};
  (void)thread;
  for (size_t i = begin; right == NULL && i < end; i++) y[i] = s->y[left[i]];
  for (size_t i = begin; right != NULL && i < end; i += CHUNK) {
    size_t count = end - i < CHUNK ? end - i : CHUNK;
    for (size_t n = 0; n < count; n++)
      sum[n / PTE_PANEL][n % PTE_PANEL] = s->a[left[i + n]] + s->b[right[i + n]];
    s->kernel->rescale(PTE_STRIP, sum, &s->columns, count < CHUNK ? tile : y + i, PTE_PANEL);
    if (count < CHUNK) memcpy(y + i, tile, count);
  }
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
  add_i8 s = {.call = call, .kernel = pte_gemm_i32_pick(call->cpu), .columns = columns_of(attrs)};
  table_fill(s.a, attrs->a_zero, attrs->a_multiplier, attrs->a_shift);
  table_fill(s.b, attrs->b_zero, attrs->b_multiplier, attrs->b_shift);
  for (unsigned code = 0; code < CODES; code++)
    s.y[code] = pte_rescale(s.a[code], s.columns.multiplier[0], (int32_t)s.columns.shift[0],
                            s.columns.zero, s.columns.low, s.columns.high);
  pte_parallel(call, (size_t)pte_tensor_count(call->in[0]), 32768, add_i8_task, &s);
  return PTE_OK;
}

const pte_kernel pte_add_i8_kernel = {.check = add_i8_check, .run = add_i8_run};
