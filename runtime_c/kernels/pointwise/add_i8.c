/* add_i8: y = rescale(scaled(a - a_zero) + scaled(b - b_zero)), int8 in and out, without b: of a
 * alone. a, b and y dense and of one shape; y may be a. schema/meaning/int8.py has scaled and
 * rescale.
 *
 * A code has 256 values, so what becomes of it before the sum may be looked up; without b, all of
 * it. Where shifts allow, sums are made in 32-bit lanes instead (codes_i8.h). */
#include "gen/ops.h"
#include "kernels/pointwise/codes_i8.h"
#include "kernels/rows/rows.h"

enum { CODES = 256 };

typedef struct add_i8 {
  const pte_call *call;
  const pte_codes_i8 *kernel;
  pte_add_codes narrow;
  bool lanes;
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
    c.multiplier[n] = (int32_t)attrs->multiplier, c.down[n] = (int32_t)attrs->shift;
  pte_rescale_complete(&c);
  return c;
}

/* False: the shift is none for lanes. */
static bool addend_of(int64_t zero, int64_t multiplier, int64_t shift, pte_addend_i8 *out) {
  if (shift < PTE_ADDEND_LEAST || shift > PTE_ADDEND_MOST) return false;
  *out = (pte_addend_i8){(int32_t)zero, (int32_t)multiplier, 1 << (shift - PTE_ADDEND_LEAST),
                         (int32_t)shift - (PTE_ADDEND_LEAST - 1)};
  return true;
}

static void add_i8_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const add_i8 *s = context;
  const pte_tensor *b = s->call->in[1];
  const uint8_t *left = s->call->in[0]->data, *right = b == NULL ? NULL : b->data;
  int8_t *y = s->call->out[0]->data;
  (void)thread;
  if (right == NULL) {
    for (size_t i = begin; i < end; i++) y[i] = s->y[left[i]];
  } else if (s->lanes) {
    s->kernel->add(end - begin, (const int8_t *)left + begin, (const int8_t *)right + begin,
                   &s->narrow, y + begin);
  } else {
    for (size_t i = begin; i < end; i++) {
      int32_t sum = s->a[left[i]] + s->b[right[i]];
      pte_rescale_row(&sum, &s->narrow.columns, 1, y + i);
    }
  }
}

static pte_status add_i8_run(const pte_call *call) {
  const pte_add_i8_attrs *t = call->attrs;
  add_i8 s = {.call = call, .kernel = pte_codes_i8_pick(call->cpu)};
  s.narrow.columns = columns_of(t);
  s.lanes = s.narrow.columns.narrow && call->in[1] != NULL &&
            addend_of(t->a_zero, t->a_multiplier, t->a_shift, &s.narrow.a) &&
            addend_of(t->b_zero, t->b_multiplier, t->b_shift, &s.narrow.b);
  if (!s.lanes) {
    table_fill(s.a, t->a_zero, t->a_multiplier, t->a_shift);
    table_fill(s.b, t->b_zero, t->b_multiplier, t->b_shift);
  }
  for (unsigned code = 0; call->in[1] == NULL && code < CODES; code++)
    pte_rescale_row(s.a + code, &s.narrow.columns, 1, s.y + code);
  pte_parallel(call, (size_t)pte_tensor_count(call->in[0]), 32768, add_i8_task, &s);
  return PTE_OK;
}

const pte_kernel pte_add_i8_kernel = {.run = add_i8_run};
