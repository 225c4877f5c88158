/* add_i8: y = rescale(scaled(a - a_zero) + scaled(b - b_zero)), int8 in and out, without b: of a
 * alone. a, b and y dense and of one shape; y may be a. schema/meaning/int8.py has scaled and
 * rescale.
 *
 * A code has 256 values, so what becomes of it before the sum is looked up; without b, all of it.
 */
#include "gen/ops.h"
#include "kernels/matrix/rescale.h"
#include "kernels/rows/rows.h"
#include "kernels/variants.h"

enum { CODES = 256, CHUNK = PTE_STRIP * PTE_PANEL };

typedef struct add_i8 {
  const pte_call *call;
  const pte_gemm_static *kernel; /* for its rescale */
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

static pte_status add_i8_run(const pte_call *call) {
  const pte_add_i8_attrs *attrs = call->attrs;
  add_i8 s = {
      .call = call, .kernel = pte_gemm_static_pick(call->cpu), .columns = columns_of(attrs)};
  table_fill(s.a, attrs->a_zero, attrs->a_multiplier, attrs->a_shift);
  table_fill(s.b, attrs->b_zero, attrs->b_multiplier, attrs->b_shift);
  for (unsigned code = 0; code < CODES; code++)
    s.y[code] = pte_rescale(s.a[code], s.columns.multiplier[0], (int32_t)s.columns.shift[0],
                            s.columns.zero, s.columns.low, s.columns.high);
  pte_parallel(call, (size_t)pte_tensor_count(call->in[0]), 32768, add_i8_task, &s);
  return PTE_OK;
}

const pte_kernel pte_add_i8_kernel = {.run = add_i8_run};
