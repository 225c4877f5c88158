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

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void table_fill(int32_t *table, int64_t zero, int64_t multiplier, int64_t shift) {
  for (int32_t code = INT8_MIN; code <= INT8_MAX; code++)
    table[(uint8_t)code] =
        (int32_t)pte_scaled(code - (int32_t)zero, (int32_t)multiplier, (int32_t)shift);
}

/* Every column is alike. */
static pte_rescale_columns columns_of(const pte_add_i8_attrs *attrs) {
  pte_rescale_columns c = {
      .zero = (int32_t)attrs->y_zero, .low = (int32_t)attrs->low, .high = (int32_t)attrs->high};
  int8_t shifts[PTE_PANEL];
  for (unsigned n = 0; n < PTE_PANEL; n++)
    c.multiplier[n] = (int32_t)attrs->multiplier, shifts[n] = (int8_t)attrs->shift;
  pte_rescale_complete(&c, shifts);
  return c;
}

/* False: the shift is none for lanes. */
static bool addend_of(int64_t zero, int64_t multiplier, int64_t shift, pte_addend_i8 *out) {
  if (shift < PTE_ADDEND_LEAST || shift > PTE_ADDEND_MOST) return false;
  *out = (pte_addend_i8){(int32_t)zero, (int32_t)multiplier, 1 << (shift - PTE_ADDEND_LEAST),
                         (int32_t)shift - (PTE_ADDEND_LEAST - 1)};
  return true;
}

/* Of a line that stands for exact sums. */
typedef struct near_line {
  int64_t below, above; /* 256 times how far the line may be from them, at most */
  bool exact;           /* nothing is rounded */
} near_line;

/* A factor of both rescalings in units of 2^-down, rounded; false: it is none of 23 bits. The line
 * is apart from the sum by what rounding adds to the factor, a code's distance from zero times. */
static bool factor_of(int64_t zero, int64_t multiplier, int64_t shift, const pte_add_i8_attrs *t,
                      int32_t down, int64_t *out, near_line *line) {
  const int64_t product = multiplier * t->multiplier, by = shift + t->shift - down;
  if (by < 1 || by > 62) return false;
  *out = (product + ((int64_t)1 << (by - 1))) >> by;
  if (*out > PTE_NEAR_FACTOR) return false;
  const int64_t added = (*out << by) - product;
  const int64_t part =
      by > 8 ? added >> (by - 8) : added * (1 << (8 - by)); /* or one more, of 256 */
  const int64_t least = INT8_MIN - zero, most = INT8_MAX - zero;
  line->above += larger(least * part, most * (part + 1));
  line->below += larger(-most * part, -least * (part + 1));
  line->exact = line->exact && added == 0 &&
                (shift < 31 && multiplier % ((int64_t)1 << shift) == 0); /* nor is the addend */
  return true;
}

/* codes_i8.h says what for. Rounding the addends does no more to the sum than half a unit of 2^down
 * * multiplier / 2^shift each. */
static pte_add_near near_of(const pte_add_i8_attrs *t, int32_t down) {
  int64_t a, b;
  near_line line = {.exact = true};
  if (t->shift < down || !factor_of(t->a_zero, t->a_multiplier, t->a_shift, t, down, &a, &line) ||
      !factor_of(t->b_zero, t->b_multiplier, t->b_shift, t, down, &b, &line))
    return (pte_add_near){.usable = false};
  const int64_t rounded = (t->multiplier >> (t->shift - down)) + 1;
  const int64_t below = line.exact ? 0 : line.below / 256 + 1 + rounded;
  const int64_t apart = line.exact ? 0 : below + line.above / 256 + 1 + rounded;
  const int64_t start = (2 * t->y_zero + 1) * ((int64_t)1 << (down - 1)) + below -
                        (t->a_zero - INT8_MIN) * a - (t->b_zero - INT8_MIN) * b;
  int32_t margin = 0;
  while (margin < down && apart > (int64_t)1 << margin) margin++;
  return (pte_add_near){
      .high = (int32_t)((a >> 8) | (b >> 8) << 16),
      .low = (int32_t)((a & 255) | (b & 255) << 16),
      .start = (int32_t)start,
      .down = down,
      .decides = line.exact ? 0 : (1 << down) - (1 << margin),
      .usable = margin <= PTE_NEAR_MARGIN && start >= INT32_MIN &&
                start + UINT8_MAX * (a + b) <= INT32_MAX, /* t, of all codes */
  };
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
  for (int32_t down = PTE_NEAR_MOST; s.lanes && down >= PTE_NEAR_LEAST && !s.narrow.near.usable;)
    s.narrow.near = near_of(t, down--);
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
